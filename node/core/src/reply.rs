//! Replies to local commands.

use crate::cluster::VISITS;
use crate::key::OrderKey;
use crate::needs;
use gridbay_host::{MempoolRefusal, Sought, Trouble};
use gridbay_ledger::Refusal;
use gridbay_protocol::ids::{AccountId, ClassId, EntryId};
use gridbay_protocol::order::Flaw;

/// The immediate result of a command. Later results are seen in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The order is kept durably and on its way.
    Ordered(OrderKey),
    /// The entry passed the checks of this node and is on its way to all validators.
    Submitted(Sought),
    /// Of each entry that was sent together with others, in their order: none, or why it was not
    /// sent.
    Sent(Vec<Option<Refused>>),
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
    /// The kind of refusal; it decides the exit code.
    pub kind: RefusedKind,
    /// The reason in a word, of the list that the ledger's own refusals are from.
    pub word: &'static str,
    /// The refusal and its reason, one line.
    pub reason: String,
    /// Advice, one line.
    pub hint: String,
}

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
    /// Not now: too much is under way. The same may come again after the next block.
    Busy,
    /// The ledger's rules forbid it.
    Forbidden,
}

impl Refused {
    /// Values that make no sense.
    pub(crate) fn invalid(word: &'static str, reason: &str, hint: &str) -> Refused {
        Refused {
            kind: RefusedKind::Invalid,
            word,
            reason: reason.to_string(),
            hint: hint.to_string(),
        }
    }
    /// An order that makes no sense whatever the ledger holds.
    pub(crate) fn flawed(flaw: Flaw) -> Refused {
        Refused::invalid(flaw.word(), &flaw.to_string(), flaw.told().hint)
    }
    /// A refusal that the ledger would give.
    pub(crate) fn by_ledger(refusal: &Refusal) -> Refused {
        let kind = match refusal {
            Refusal::Funds { .. } => RefusedKind::Unfunded,
            Refusal::NoAccount(_) => RefusedKind::NotFound,
            _ => RefusedKind::Forbidden,
        };
        Refused {
            kind,
            word: refusal.word(),
            reason: refusal.to_string(),
            hint: refusal.hint().to_string(),
        }
    }
    pub(crate) fn no_class(class: ClassId) -> Refused {
        Refused {
            kind: RefusedKind::NotFound,
            word: Refusal::NoClass(class).word(),
            reason: format!("no class {class}"),
            hint: "`gridbay market prices` lists the classes".to_string(),
        }
    }
    /// Too few units are at nodes that have what the job needs.
    pub(crate) fn unmet(need: &'static str, units: u32, tasks: u32) -> Refused {
        let what = needs::in_words(need);
        Refused::invalid(
            need,
            &format!("{tasks} units with {what} are needed, and sellers of the class have {units}"),
            "take fewer, or another class; gridbay market find shows who has what",
        )
    }
    pub(crate) fn no_order(key: &OrderKey) -> Refused {
        Refused {
            kind: RefusedKind::NotFound,
            word: "no_order",
            reason: format!("no order {key} that is under way"),
            hint: "`gridbay job list` shows the orders".to_string(),
        }
    }
    pub(crate) fn no_visit() -> Refused {
        let reason = format!("this node is the owner's, or visits {VISITS} networks already");
        Refused::invalid("busy", &reason, "`gridbay cluster leave` gives a place up")
    }
    pub(crate) fn no_account() -> Refused {
        Refused::not_ready(
            "no_account",
            "this node has no account on the ledger yet",
            "wait for `gridbay node status` to show one, or join with an invitation",
        )
    }
    pub(crate) fn in_trouble(trouble: &Trouble) -> Refused {
        Refused::not_ready(
            "trouble",
            &trouble.to_string(),
            "set the clock right; the node goes on by itself at the next block",
        )
    }
    /// For offers.
    pub(crate) fn no_room() -> Refused {
        Refused::not_ready(
            "trouble",
            "the disk is nearly full, so this node holds its offers back",
            "free some space: `gridbay doctor` tells how much there is",
        )
    }
    /// For offers.
    pub(crate) fn draining() -> Refused {
        Refused::not_ready(
            "draining",
            "this node drains, so it holds its offers back",
            "start it again: `gridbay node stop`, then `gridbay node up`",
        )
    }
    /// For an offer that the node itself withdraws or sets again.
    pub(crate) fn changing(label: u32) -> Refused {
        Refused::not_ready(
            "busy",
            &format!("offer {label} is being withdrawn, or set again, by this node"),
            "try again in a few seconds",
        )
    }
    pub(crate) fn too_many() -> Refused {
        Refused::busy("too many entries of this account wait for their inclusion")
    }
    fn busy(reason: &str) -> Refused {
        Refused {
            kind: RefusedKind::Busy,
            ..Refused::not_ready("busy", reason, "try again after the next blocks")
        }
    }
    /// The pool of waiting entries has no room, or this node takes none now.
    pub(crate) fn by_pool(refusal: &MempoolRefusal) -> Option<Refused> {
        let reason = refusal.to_string();
        match refusal {
            MempoolRefusal::Full { .. } => Some(Refused::busy(&reason)),
            MempoolRefusal::Trouble(_) => {
                let hint = "`gridbay doctor` says how to mend it";
                Some(Refused::not_ready("trouble", &reason, hint))
            }
            // Not refused, or told by the ledger's own check before.
            MempoolRefusal::Known(_) | MempoolRefusal::Ledger(_) => None,
        }
    }
    fn not_ready(word: &'static str, reason: &str, hint: &str) -> Refused {
        Refused {
            kind: RefusedKind::NotReady,
            word,
            reason: reason.to_string(),
            hint: hint.to_string(),
        }
    }
}
