//! Failures: one shape, a closed list of codes.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

named! {
    /// The kind of failure; it decides HTTP status and exit code.
    pub enum ErrorCode {
        /// A request that cannot be understood or is out of range.
        Usage = "usage",
        /// No such thing.
        NotFound = "not_found",
        /// Not enough units that match.
        NoMatch = "no_match",
        /// Others bid more.
        Outbid = "outbid",
        /// It cannot be paid.
        InsufficientFunds = "insufficient_funds",
        /// The node, or a peer it needs, does not answer.
        Unreachable = "unreachable",
        /// It took too long.
        Timeout = "timeout",
        /// No token, or a wrong one.
        Unauthorised = "unauthorised",
        /// Not allowed, or not in this state.
        Refused = "refused",
        /// Against something that is there already.
        Conflict = "conflict",
        /// More bytes than allowed.
        TooLarge = "too_large",
        /// The node acknowledges nothing until its disk works again; nothing was done.
        Halted = "halted",
        /// A fault of the node.
        Internal = "internal",
        /// The address is there, but does not take this method.
        WrongMethod = "wrong_method",
        /// The request is addressed to another host.
        WrongHost = "wrong_host",
        /// The body stopped, or dripped.
        TooSlow = "too_slow",
        /// Too many requests at once, and nothing was done; or the same request still runs. Under a
        /// key: again under the same one.
        Busy = "busy",
        /// Too many requests in a short time; nothing was done.
        TooMany = "too_many",
    }
}

impl ErrorCode {
    /// HTTP status.
    pub fn status(self) -> StatusCode {
        match self {
            ErrorCode::Usage => StatusCode::BAD_REQUEST,
            ErrorCode::NotFound => StatusCode::NOT_FOUND,
            ErrorCode::NoMatch | ErrorCode::Outbid => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorCode::InsufficientFunds => StatusCode::PAYMENT_REQUIRED,
            ErrorCode::Unreachable | ErrorCode::Halted | ErrorCode::Busy => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            ErrorCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
            ErrorCode::Unauthorised => StatusCode::UNAUTHORIZED,
            ErrorCode::Refused => StatusCode::FORBIDDEN,
            ErrorCode::Conflict => StatusCode::CONFLICT,
            ErrorCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            ErrorCode::WrongHost => StatusCode::MISDIRECTED_REQUEST,
            ErrorCode::TooSlow => StatusCode::REQUEST_TIMEOUT,
            ErrorCode::TooMany => StatusCode::TOO_MANY_REQUESTS,
        }
    }
}

/// Bytes of a message or a hint at the most.
const BYTES: usize = 2_000;

/// A failure: what happened and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// Kind.
    pub code: ErrorCode,
    /// Why, in one line.
    pub message: String,
    /// Advice, in one line; may be empty.
    pub hint: String,
    /// Figures for programs; `null` if there are none.
    #[schema(value_type = Value)]
    pub details: Value,
}

/// A result that a request waits for.
pub(crate) type Answer<T> = Result<T, ApiError>;

impl ApiError {
    /// A failure with a cause and a remedy. They are cut where they are longer than anybody reads:
    /// they may repeat what was sent.
    pub fn new(code: ErrorCode, message: impl Into<String>, hint: impl Into<String>) -> ApiError {
        ApiError {
            code,
            message: cut(message.into()),
            hint: cut(hint.into()),
            details: Value::Null,
        }
    }
    /// The key of a request is that of another one.
    pub(crate) fn of_another_request() -> ApiError {
        ApiError::new(
            ErrorCode::Conflict,
            "this idempotency key belongs to another request",
            "use a fresh key for each request",
        )
    }
    /// The same as the word of another node, whose advice is not this node's.
    pub(crate) fn said_by(mut self, who: &str) -> ApiError {
        self.message = format!("{who} says: {}", self.message);
        if !self.hint.is_empty() {
            self.hint = format!("{who} says: {}", self.hint);
        }
        self
    }
    /// Nothing was done, and the same has a chance again after so many seconds.
    pub(crate) fn again_after(mut self, seconds: u64) -> ApiError {
        self.details["done"] = false.into();
        self.details["retry_after_s"] = seconds.into();
        self
    }
    /// Seconds until the same has a chance again, if that is told.
    pub fn again(&self) -> Option<u64> {
        self.details.get("retry_after_s").and_then(Value::as_u64)
    }
    /// The same for what is refused as too much, of which it is always told.
    pub fn retry_after(&self) -> u64 {
        self.again().unwrap_or(1)
    }
    /// The same with figures.
    pub fn with_details(mut self, details: Value) -> ApiError {
        self.details = details;
        self
    }
}

fn cut(mut text: String) -> String {
    if text.len() > BYTES {
        text.truncate(text.floor_char_boundary(BYTES));
        text.push('…');
    }
    text
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (code, seconds) = (self.code, self.retry_after());
        let mut response = (code.status(), Json(self)).into_response();
        let (name, value) = match code {
            ErrorCode::Unauthorised => {
                let realm = HeaderValue::from_static("Bearer realm=\"gridbay\"");
                (header::WWW_AUTHENTICATE, realm)
            }
            ErrorCode::Busy | ErrorCode::TooMany => (header::RETRY_AFTER, seconds.into()),
            _ => return response,
        };
        response.headers_mut().insert(name, value);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_repeated_in_part() {
        let error = ApiError::new(ErrorCode::Usage, "ä".repeat(1 << 20), "short");
        assert_eq!(error.message, "ä".repeat(BYTES / 2) + "…");
        assert_eq!(error.hint, "short");
    }
}
