//! Exit codes: fixed, so that scripts can rely on them.

use crate::api::ErrorCode;
use std::process::ExitCode;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(pub u8);

impl Exit {
    /// It did what it was asked.
    pub const OK: Exit = Exit(0);
    /// A job failed (`run` ends with the job's own code), or a failure without a code of its own.
    pub const FAILED: Exit = Exit(1);
    /// The command cannot be understood.
    pub const USAGE: Exit = Exit(2);
    /// No such thing.
    pub const NOT_FOUND: Exit = Exit(3);
    /// Not enough units that match.
    pub const NO_MATCH: Exit = Exit(4);
    /// Outbid, or not cleared in time.
    pub const OUTBID: Exit = Exit(5);
    /// It cannot be paid.
    pub const FUNDS: Exit = Exit(6);
    /// The node does not answer.
    pub const UNREACHABLE: Exit = Exit(7);
    /// It took too long.
    pub const TIMEOUT: Exit = Exit(8);
    /// Not allowed.
    pub const REFUSED: Exit = Exit(9);
    /// The node is halted until its disk works again.
    pub const HALTED: Exit = Exit(10);
    /// Interrupted from the keyboard.
    pub const INTERRUPTED: Exit = Exit(130);

    /// The code of a failure of the API.
    pub fn of(code: ErrorCode) -> Exit {
        match code {
            ErrorCode::Usage | ErrorCode::TooLarge | ErrorCode::WrongMethod => Exit::USAGE,
            ErrorCode::NotFound => Exit::NOT_FOUND,
            ErrorCode::NoMatch => Exit::NO_MATCH,
            ErrorCode::Outbid => Exit::OUTBID,
            ErrorCode::InsufficientFunds => Exit::FUNDS,
            ErrorCode::Unreachable | ErrorCode::Busy | ErrorCode::TooMany => Exit::UNREACHABLE,
            ErrorCode::Timeout | ErrorCode::TooSlow => Exit::TIMEOUT,
            ErrorCode::Unauthorised
            | ErrorCode::Refused
            | ErrorCode::Conflict
            | ErrorCode::WrongHost => Exit::REFUSED,
            ErrorCode::Halted => Exit::HALTED,
            ErrorCode::Internal => Exit::FAILED,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.0)
    }
}

/// The list as shown by `gridbay --help`.
pub(super) const HELP: &str = "\
Exit codes: 0 done, 1 job failed (run: the job's own code), 2 usage, 3 not found, 4 no match,
5 outbid or not cleared, 6 insufficient funds, 7 node unreachable, 8 timeout, 9 refused,
10 node halted, 130 interrupted.";
