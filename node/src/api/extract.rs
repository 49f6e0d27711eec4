//! Request parts whose refusals have the API's shape and name the parts sent.

use super::intake::whole;
use super::page::Page;
use super::{ApiError, ErrorCode, words};
use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A JSON answer or a failure.
pub(crate) type Reply<T> = Result<Json<T>, ApiError>;

/// Lines of a list that can grow, or a failure.
pub(crate) type Listed<T> = Result<Page<T>, ApiError>;

/// All lines of a list or a failure.
pub(crate) type Whole<T> = Result<Lines<T>, ApiError>;

/// All lines of a list.
pub(crate) struct Lines<T>(pub(crate) Vec<T>);

impl<T: Serialize> IntoResponse for Lines<T> {
    fn into_response(self) -> Response {
        Json(self.0).into_response()
    }
}

/// Lines of a list at the most.
pub(super) const LIST: usize = 1_000;

/// How many lines a request gets of a list without end, if it does not say.
pub(crate) const FEW: u32 = 20;

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned + Serialize, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;
    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let bytes = whole(request.into_body()).await?;
        let value = serde_json::from_slice(&bytes).map_err(|error| odd(&error))?;
        let given = serde_json::from_slice(&bytes).map_err(|error| odd(&error))?;
        let understood = serde_json::to_value(&value).map_err(|error| odd(&error))?;
        match words::list_for_object(&given, &understood) {
            None => Ok(Body(value)),
            Some(place) => Err(not_taken(&format!(
                "{place}: expected an object, got a list"
            ))),
        }
    }
}

fn odd(error: &serde_json::Error) -> ApiError {
    not_taken(&words::of(&error.to_string()))
}

fn not_taken(why: &str) -> ApiError {
    let why = why.trim_start_matches(['.', ':', ' ']);
    ApiError::new(
        ErrorCode::Usage,
        format!("the body is not what this address takes: {why}"),
        "check names and kinds of the fields",
    )
}

/// Query parameters.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = Query::try_from_uri(&parts.uri);
        query.map(|Query(value)| Params(value)).map_err(|error| {
            let why = words::of(&error.body_text());
            let hint = "check the parameters after the question mark";
            ApiError::new(ErrorCode::Usage, why, hint)
        })
    }
}

/// The named pieces of an address.
pub(crate) struct Place<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Place<T> {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::from_request_parts(parts, state).await;
        path.map(|Path(value)| Place(value)).map_err(|_| {
            let why = "the address is not readable as text";
            let hint = "write other bytes than letters and digits as % and two hex digits of UTF-8";
            ApiError::new(ErrorCode::Usage, why, hint)
        })
    }
}

/// Parses a piece of a path or query.
pub(crate) fn parse<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, ApiError> {
    text.parse().map_err(|_| {
        ApiError::new(
            ErrorCode::Usage,
            format!("`{text}` is no {what}"),
            format!("give a valid {what}"),
        )
    })
}
