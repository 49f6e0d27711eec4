//! Request parts whose refusals have the API's shape.

use super::{ApiError, ErrorCode};
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

/// A JSON body.
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;
    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let bytes = Bytes::from_request(request, state).await.map_err(|e| {
            let code = match e.status().as_u16() {
                413 => ErrorCode::TooLarge,
                _ => ErrorCode::Usage,
            };
            ApiError::new(code, e.body_text(), "send a smaller body")
        })?;
        serde_json::from_slice(&bytes).map(Body).map_err(|error| {
            ApiError::new(
                ErrorCode::Usage,
                format!("the body is not what this address takes: {error}"),
                "check names and kinds of the fields",
            )
        })
    }
}

/// Query parameters.
pub(super) struct Params<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Query::try_from_uri(&parts.uri)
            .map(|Query(value)| Params(value))
            .map_err(|e| {
                ApiError::new(
                    ErrorCode::Usage,
                    e.body_text(),
                    "check the parameters after the question mark",
                )
            })
    }
}

/// Parses a piece of a path or query.
pub(super) fn parse<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, ApiError> {
    text.parse().map_err(|_| {
        ApiError::new(
            ErrorCode::Usage,
            format!("`{text}` is no {what}"),
            format!("give a valid {what}"),
        )
    })
}
