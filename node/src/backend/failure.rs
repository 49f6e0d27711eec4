//! Failures: inner errors in the words and codes of the API.

use crate::api::{ApiError, ErrorCode};
use crate::body::BodyGone;
use gridbay_core::reply::{Refused, RefusedKind};
use gridbay_protocol::ids::AccountId;

/// The core thread does not take messages.
pub(crate) fn gone(error: BodyGone) -> ApiError {
    let hint = match error {
        BodyGone::Busy => "try again",
        BodyGone::Stopped => "start the node again: `gridbay node up`",
        BodyGone::Halted => {
            "see `gridbay node status`; the node goes on by itself once that is cured"
        }
    };
    let code = match error {
        BodyGone::Busy | BodyGone::Stopped => ErrorCode::Unreachable,
        BodyGone::Halted => ErrorCode::Halted,
    };
    ApiError::new(code, error.to_string(), hint)
}

/// The core thread did not answer in time.
pub(crate) fn late() -> ApiError {
    ApiError::new(
        ErrorCode::Timeout,
        "the node does not answer in time",
        "try again",
    )
}

/// A command was refused; the reason in a word is among the details.
pub(crate) fn refused(why: Refused) -> ApiError {
    let code = match why.kind {
        RefusedKind::Invalid => ErrorCode::Usage,
        RefusedKind::NotFound => ErrorCode::NotFound,
        RefusedKind::Unfunded => ErrorCode::InsufficientFunds,
        RefusedKind::NotReady | RefusedKind::Forbidden => ErrorCode::Refused,
        RefusedKind::Busy => ErrorCode::Busy,
    };
    let reason = serde_json::json!({ "reason": why.word });
    let told = ApiError::new(code, why.reason, why.hint).with_details(reason);
    match code {
        ErrorCode::Busy => told.again_after(1),
        _ => told,
    }
}

/// A request out of range.
pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::Usage, message, hint)
}

/// No such thing.
pub(crate) fn not_found(message: impl Into<String>, hint: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::NotFound, message, hint)
}

/// This node's own fault; the log tells more.
pub(crate) fn internal(what: &str, error: impl std::fmt::Display) -> ApiError {
    tracing::error!(%error, "{what}");
    ApiError::new(
        ErrorCode::Internal,
        format!("{what}: {error}"),
        "see the node's log",
    )
}

/// This node's disk failed, so nothing was done.
pub(crate) fn disk(what: &str, error: &std::io::Error) -> ApiError {
    tracing::error!(%error, "{what}");
    ApiError::new(
        ErrorCode::Halted,
        format!("{what}: {error}"),
        crate::trouble::DISK_HINT,
    )
}

/// The node cannot act before it has an account.
pub(crate) fn no_account() -> ApiError {
    ApiError::new(
        ErrorCode::Refused,
        "this node has no account on the ledger yet",
        "`gridbay doctor` tells whether one is coming; without one, join with an invitation",
    )
}

/// An account that the ledger does not know.
pub(crate) fn unknown_account(account: &AccountId) -> ApiError {
    not_found(
        format!("no account {}", account.to_hex()),
        "check the account's id",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_refusal_have_their_codes() {
        for (kind, code) in [
            (RefusedKind::Invalid, ErrorCode::Usage),
            (RefusedKind::NotFound, ErrorCode::NotFound),
            (RefusedKind::Unfunded, ErrorCode::InsufficientFunds),
            (RefusedKind::NotReady, ErrorCode::Refused),
            (RefusedKind::Busy, ErrorCode::Busy),
            (RefusedKind::Forbidden, ErrorCode::Refused),
        ] {
            let why = Refused {
                kind,
                word: "w",
                reason: "r".into(),
                hint: "h".into(),
            };
            let details = match code {
                ErrorCode::Busy => serde_json::json!({
                    "reason": "w", "done": false, "retry_after_s": 1,
                }),
                _ => serde_json::json!({"reason": "w"}),
            };
            assert_eq!(
                refused(why),
                ApiError::new(code, "r", "h").with_details(details)
            );
        }
        assert_eq!(gone(BodyGone::Stopped).code, ErrorCode::Unreachable);
        assert_eq!(gone(BodyGone::Halted).code, ErrorCode::Halted);
        assert_eq!(gone(BodyGone::Busy).code, ErrorCode::Unreachable);
    }
}
