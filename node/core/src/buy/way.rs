//! The questions of the wallet and the buyer's agent to a way of buying.

use crate::reply::Refused;
use crate::signer::Signer;
use gridbay_ledger::State;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{ClassId, Hash32};
use gridbay_protocol::order::{ContractEntry, ContractTerms, Wish};
use gridbay_protocol::units::Credits;

/// Heights within which the entry of an attempt must be included, or a new attempt is made.
pub(crate) const SEND_HEIGHTS: u64 = 40;

/// One attempt at an order: the parts of its entry beside the terms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    /// The order's class.
    pub(crate) class: ClassId,
    /// Slots to run at the most.
    pub(crate) slots: u32,
    /// Number of tasks.
    pub(crate) tasks: u32,
    /// Hash of the work.
    pub(crate) work: Hash32,
    /// Height at which it is made.
    pub(crate) height: u64,
    /// Slot of the next height.
    pub(crate) slot: u64,
    /// Last height at which its entry may be included.
    pub(crate) valid_until: u64,
}

/// The request of an attempt to the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The wish that it seals; the record keeps it for the opening.
    Sealed(Wish),
    /// The contract it proposes; the record keeps it.
    Proposed(ContractTerms),
    /// All of it, in the open.
    Open(EntryBody),
}

impl Asked {
    /// The body of the entry. `seal` commits to a wish.
    pub(crate) fn body(self, seal: impl FnOnce(&Wish) -> EntryBody) -> EntryBody {
        match self {
            Asked::Sealed(wish) => seal(&wish),
            Asked::Proposed(terms) => EntryBody::Contract(ContractEntry::Propose(Box::new(terms))),
            Asked::Open(body) => body,
        }
    }
}

/// The ledger as seen by an owner that is about to order.
pub(crate) struct Desk<'a> {
    /// The ledger's state.
    pub(crate) state: &'a State,
    /// The owner's account and key.
    pub(crate) signer: &'a Signer<'a>,
}

/// A way of buying.
pub(crate) trait Buys {
    /// The request of an attempt to the ledger. It is built here alone, whether to be priced, kept
    /// or sent; the same attempt always makes the same request.
    fn asked(&self, at: &Attempt) -> Asked;
    /// The money that must be free in the account when the order is sent.
    ///
    /// # Errors
    /// The terms make no sense, or the ledger would not take them now.
    fn check(&self, at: &Attempt, desk: &Desk<'_>) -> Result<Credits, Refused>;
    /// Last height at which its entry may be included for anything to come of it.
    fn last_commitment(&self, _calendar: &Calendar) -> u64 {
        u64::MAX
    }
    /// Why another attempt would be in vain, in a word.
    fn hopeless(&self, _at: &Attempt, _state: &State) -> Option<&'static str> {
        None
    }
    /// The fewest units, by class, with which it can run.
    fn needs(&self, class: ClassId) -> Vec<(ClassId, u32)> {
        vec![(class, 1)]
    }
    /// Salt of the work hash of a task, where each has a work of its own.
    fn task_salt(&self, work_salt: [u8; 32], _task: u32) -> [u8; 32] {
        work_salt
    }
}
