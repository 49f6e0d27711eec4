//! Where the ledger has an order, and why it ended it, in a word.

use gridbay_ledger::State;
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::ids::{LeaseId, OrderId};
use gridbay_protocol::lease::LeaseEnd;

/// Where the ledger has an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nowhere.
    Absent,
    /// A sealed bid of this round.
    Sealed(u64),
    /// Not opened in its round: its deposit waits for an appeal.
    Unopened,
    /// Opened, or a queued buy.
    Standing,
    /// Reserved from this slot on.
    Booked(u64),
    /// Running on a lease.
    Running(LeaseId),
    /// A contract that its provider has not signed.
    Proposed,
    /// A signed contract.
    Contract,
}

impl Seen {
    pub(super) fn of(state: &State, order: &OrderId) -> Seen {
        let Some(found) = state.order(order) else {
            let contract = state.contract(order).map(|c| c.progress.is_some());
            return match (state.unopened(order), contract) {
                (Some(_), _) => Seen::Unopened,
                (None, Some(true)) => Seen::Contract,
                (None, Some(false)) => Seen::Proposed,
                (None, None) => Seen::Absent,
            };
        };
        match found.lease {
            Some(lease) => Seen::Running(lease),
            None if found.is_sealed() => Seen::Sealed(found.round),
            None => match found.reservation().and_then(|r| r.booking.as_ref()) {
                Some(booking) => Seen::Booked(booking.start),
                None => Seen::Standing,
            },
        }
    }
}

/// The end of an order in a word, as shown to users.
pub fn order_end_word(end: OrderEnd) -> &'static str {
    match end {
        OrderEnd::NotOpened => "not_opened",
        OrderEnd::Unfunded => "unfunded",
        OrderEnd::Cancelled => "cancelled",
        OrderEnd::TimedOut => "timed_out",
        OrderEnd::Served => "served",
        // Of which class, the record keeps.
        OrderEnd::NoUnits | OrderEnd::Short(_) => "no_units",
        OrderEnd::TooDear => "too_dear",
        OrderEnd::Evicted => "evicted",
        OrderEnd::Waived => "waived",
        OrderEnd::Excused => "excused",
        OrderEnd::NoGain => "no_gain",
        OrderEnd::NoRoom => "no_room",
        OrderEnd::Unstaked => "unstaked",
        OrderEnd::Amended => "amended",
        OrderEnd::Lapsed => "lapsed",
        OrderEnd::Missed => "missed",
    }
}

/// The end of a lease in a word, as shown to users.
pub fn lease_end_word(end: LeaseEnd) -> &'static str {
    match end {
        LeaseEnd::Exit => "exit",
        LeaseEnd::Expired => "time_used_up",
        LeaseEnd::Outbid => "outbid",
        LeaseEnd::Preempted => "preempted",
        LeaseEnd::Unfunded => "unfunded",
        LeaseEnd::Undelivered => "undelivered",
        LeaseEnd::Paused => "paused",
        LeaseEnd::Unserved => "unserved",
        LeaseEnd::Disputed => "disputed",
    }
}
