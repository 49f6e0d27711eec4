//! Forms: their fields, and the token that shows that a page of this session sent them.

use super::failure::Failure;
use super::session::Who;
use crate::api::{ApiError, ErrorCode};
use axum::Form;
use axum::extract::{FromRequest, Request};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The fields of a form that the session's own page sent, and the session. Fields are texts: what
/// they mean is read later, with an error that a person understands.
pub(super) struct Sent<T> {
    pub(super) who: Who,
    pub(super) fields: T,
}

/// A form that has no fields.
#[derive(Deserialize)]
pub(super) struct Nothing {}

#[derive(Deserialize)]
struct Fields<T> {
    token: Option<String>,
    #[serde(flatten)]
    own: T,
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Sent<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Sent<T>, Failure> {
        let who = session(&request)?;
        let Form(Fields { token, own }) = Form::<Fields<T>>::from_request(request, state)
            .await
            .map_err(|error| {
                let why = format!("the form cannot be read: {}", error.body_text());
                ApiError::new(ErrorCode::Usage, why, "go back and send it again")
            })?;
        of_session(&who, token.as_deref())?;
        Ok(Sent { who, fields: own })
    }
}

/// The session of a request.
pub(super) fn session(request: &Request) -> Result<Who, Failure> {
    let who = request.extensions().get::<Who>().cloned();
    who.ok_or_else(|| refused("nobody is signed in"))
}

/// Refuses a form without the token of its session.
pub(super) fn of_session(who: &Who, token: Option<&str>) -> Result<(), Failure> {
    // Hashes compare in the same time wherever a guess goes wrong.
    let hash = |token: &str| blake3::hash(token.as_bytes());
    if token.is_some_and(|token| hash(token) == hash(&who.token)) {
        return Ok(());
    }
    Err(refused(
        "the form does not come from a page of this session",
    ))
}

fn refused(why: &str) -> Failure {
    let hint = "open the page again, and send its form";
    Failure::from(ApiError::new(ErrorCode::Refused, why, hint))
}
