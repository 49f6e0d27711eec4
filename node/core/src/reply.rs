//! Replies to local commands.

use crate::buyer::OrderKey;
use gridbay_protocol::ids::{AccountId, EntryId};

/// What a command led to at once. What follows is seen in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The order is kept durably and on its way.
    Ordered(OrderKey),
    /// The entry passed the checks of this node and is on its way to all validators.
    Submitted(EntryId),
    /// As [`Reply::Submitted`]; the account will have this id.
    Joining(EntryId, AccountId),
    /// Done.
    Done,
    /// Refused; nothing was sent.
    Refused(Refused),
}

/// Why a command was refused, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What kind of no: decides the exit code.
    pub kind: RefusedKind,
    /// The reason in a word, of the list that the ledger's own refusals are from.
    pub word: &'static str,
    /// What and why, one line.
    pub reason: String,
    /// What to do about it, one line.
    pub hint: String,
}

/// Reasons in a word that only a node gives, beside those of the ledger.
pub const OWN_WORDS: &[&str] = &["job", "signature", "trouble", "busy"];

/// Kinds of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedKind {
    /// Values that make no sense.
    Invalid,
    /// There is no such thing.
    NotFound,
    /// The money does not suffice.
    Unfunded,
    /// Not now: the node has no account yet, is draining, or is behind.
    NotReady,
    /// The ledger's rules forbid it.
    Forbidden,
}
