//! Why a peer was not reached, in words: the step that failed, and the remedy.

use crate::api::{ApiError, ErrorCode};
use crate::overlay::{DialCause, LookupError, OverlayError, PeerId, RequestError, SeekError};

/// A peer was sought in vain. `step` in the details is one of `call`, `mark`, `ban`, `record`,
/// `dial`, `identity`, `hang-up`, `network`.
pub(crate) fn unreached(peer: &PeerId, error: SeekError) -> ApiError {
    let (code, step, message, hint) = match error {
        SeekError::Refused(error) => return busy(error),
        SeekError::Myself => return myself(),
        SeekError::Blocked => (
            ErrorCode::Refused,
            "mark",
            format!("you blocked {peer}"),
            format!("gridbay peer unblock {peer}"),
        ),
        SeekError::Banned { left } => (
            ErrorCode::Refused,
            "ban",
            format!(
                "{peer} sent what it must not and is banned for another {} s",
                left.as_secs()
            ),
            format!("wait, or lift the ban for good if you know its owner: gridbay peer trust {peer}"),
        ),
        SeekError::NoRecord => (
            ErrorCode::NotFound,
            "record",
            format!("nobody knows where {peer} is: no address is known, and the DHT has no record of it"),
            "it has not been online in the last half hour, or is of another network; ask its owner for an address, \
             then gridbay peer connect ADDRESS"
                .to_owned(),
        ),
        SeekError::NoAnswer { cause } => {
            let (why, hint) = cause_words(cause);
            (
                ErrorCode::Timeout,
                "dial",
                format!("{peer} was dialled, but {why}"),
                hint.to_owned(),
            )
        }
        SeekError::OtherPeer { found } => (
            ErrorCode::Refused,
            "identity",
            format!("somebody else answers there: {found}"),
            "the address is out of date, or the node has a new key: ask its owner".to_owned(),
        ),
        SeekError::HungUp => (
            ErrorCode::Refused,
            "hang-up",
            format!("{peer} answered and hung up"),
            "it has blocked or banned this node, is at its limit of connections, or belongs to another network: ask its owner"
                .to_owned(),
        ),
        SeekError::OtherNetwork => (
            ErrorCode::Refused,
            "network",
            format!("{peer} answers, but belongs to another network"),
            "compare `gridbay node status` on both sides: the networks' ids must be equal".to_owned(),
        ),
    };
    ApiError::new(code, message, hint).with_details(serde_json::json!({ "step": step }))
}

fn cause_words(cause: DialCause) -> (&'static str, &'static str) {
    match cause {
        DialCause::Silent => (
            "nobody answered in time",
            "it may be off, or behind a firewall that drops us: see `gridbay doctor` on both sides",
        ),
        DialCause::Refused => (
            "nothing listens at that port",
            "the machine runs, the node does not, or it uses another port: ask its owner",
        ),
        DialCause::Unresolved => (
            "the name of its host cannot be resolved",
            "see to the name service of this machine, or use an address in numbers",
        ),
        DialCause::Other => (
            "no connection came about",
            "see the node's log (log=debug tells each attempt), and `gridbay doctor`",
        ),
    }
}

/// A record was not found.
pub(crate) fn not_found(peer: &PeerId, error: LookupError) -> ApiError {
    let (code, message, hint) = match error {
        LookupError::Refused(error) => return busy(error),
        LookupError::Alone => (
            ErrorCode::NotFound,
            "no peer is connected, so nobody can be asked".to_owned(),
            "see gridbay doctor",
        ),
        LookupError::NotFound => (
            ErrorCode::NotFound,
            format!("the DHT has no record of {peer}"),
            "it has not been online in the last half hour, is of another network, or nobody could reach it",
        ),
        LookupError::Late => (
            ErrorCode::Timeout,
            "the DHT did not answer in time".to_owned(),
            "try again; if that goes on, see gridbay doctor",
        ),
    };
    ApiError::new(code, message, hint)
}

/// A ping was not answered.
pub(crate) fn unanswered(peer: &PeerId, error: RequestError) -> ApiError {
    match error {
        RequestError::Refused(error) => busy(error),
        RequestError::TooMany => busy(OverlayError::Busy),
        RequestError::NotConnected | RequestError::ConnectionLost => lost(peer),
        RequestError::Timeout => ApiError::new(
            ErrorCode::Timeout,
            format!("{peer} is connected, but did not answer in time"),
            "its node hangs, or the path is congested: try again",
        ),
        RequestError::NoAnswer | RequestError::BadAnswer => ApiError::new(
            ErrorCode::Refused,
            format!("{peer} does not answer pings"),
            "it runs an older version of gridbay",
        ),
    }
}

/// A connection that stood is gone.
pub(crate) fn lost(peer: &PeerId) -> ApiError {
    ApiError::new(
        ErrorCode::Timeout,
        format!("the connection to {peer} was lost"),
        "try again; its node may be at its limit of connections",
    )
}

/// The node itself is meant.
pub(crate) fn myself() -> ApiError {
    ApiError::new(
        ErrorCode::Usage,
        "this is the node itself",
        "name another peer: gridbay peer list",
    )
}

fn busy(error: OverlayError) -> ApiError {
    let hint = match error {
        OverlayError::Closed => "the node is stopping",
        _ => "too much is under way: try again in some seconds",
    };
    ApiError::new(ErrorCode::Unreachable, error.to_string(), hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn every_step_has_its_words_and_something_to_do() {
        let peer = PeerId::random();
        let cause = DialCause::Refused;
        let table = [
            (SeekError::Blocked, "mark", ErrorCode::Refused),
            (
                SeekError::Banned {
                    left: Duration::from_secs(9),
                },
                "ban",
                ErrorCode::Refused,
            ),
            (SeekError::NoRecord, "record", ErrorCode::NotFound),
            (SeekError::NoAnswer { cause }, "dial", ErrorCode::Timeout),
            (
                SeekError::OtherPeer { found: peer },
                "identity",
                ErrorCode::Refused,
            ),
            (SeekError::HungUp, "hang-up", ErrorCode::Refused),
            (SeekError::OtherNetwork, "network", ErrorCode::Refused),
        ];
        for (error, step, code) in table {
            let told = unreached(&peer, error);
            assert_eq!(told.code, code, "{error:?}");
            assert_eq!(told.details["step"], step);
            assert!(!told.hint.is_empty() && told.message.len() < 200);
        }
        assert_eq!(unreached(&peer, SeekError::Myself).code, ErrorCode::Usage);
    }
}
