//! Why the buyer's side of an order ended without all tasks done.

use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::lease::LeaseEnd;
use serde::{Deserialize, Serialize};

/// An end of an order or of its last lease, whoever made it. The record on disk keeps it as a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Its bid was not opened in its round.
    NotOpened,
    /// The lock for a slot could not be funded.
    Unfunded,
    /// The buyer cancelled it.
    Cancelled,
    /// It stood until its last height without running.
    TimedOut,
    /// Its lease ended and the order with it.
    Served,
    /// There were too few units; of which class, the record keeps beside.
    NoUnits,
    /// It would have cost more than its limit, or than the job is worth.
    TooDear,
    /// Another buy took its units for a surcharge.
    Evicted,
    /// It could not be opened in time through no fault of the buyer's: the deposit came back.
    Waived,
    /// It was not opened, and the appeal was heard.
    Excused,
    /// It would not have earned its seller enough.
    NoGain,
    /// Its seller has no room until the hard deadline.
    NoRoom,
    /// Its seller could not stake the bond.
    Unstaked,
    /// An amendment took effect.
    Amended,
    /// An amendment came too late.
    Lapsed,
    /// Its seller cannot do it by the hard deadline any more.
    Missed,
    /// The buyer left its lease.
    Exit,
    /// All slots of the lease are used up.
    TimeUsedUp,
    /// Others bid more.
    Outbid,
    /// A buy took its units.
    Preempted,
    /// A seller did not deliver.
    Undelivered,
    /// Its seller's plan gives it no units for now.
    Paused,
    /// Its claim was not drawn for the slot.
    Unserved,
    /// The buyer complained of a seller.
    Disputed,
    /// The provider did not sign the contract.
    NotSigned,
    /// The contract was settled.
    Settled,
    /// Its tasks were lost again and again.
    Lost,
    /// It is gone from the ledger, which did not say why.
    Ended,
    /// The word of another version of this program: the order is kept with it.
    #[serde(untagged)]
    Other(String),
}

impl From<OrderEnd> for End {
    fn from(end: OrderEnd) -> End {
        match end {
            OrderEnd::NotOpened => End::NotOpened,
            OrderEnd::Unfunded => End::Unfunded,
            OrderEnd::Cancelled => End::Cancelled,
            OrderEnd::TimedOut => End::TimedOut,
            OrderEnd::Served => End::Served,
            OrderEnd::NoUnits | OrderEnd::Short(_) => End::NoUnits,
            OrderEnd::TooDear => End::TooDear,
            OrderEnd::Evicted => End::Evicted,
            OrderEnd::Waived => End::Waived,
            OrderEnd::Excused => End::Excused,
            OrderEnd::NoGain => End::NoGain,
            OrderEnd::NoRoom => End::NoRoom,
            OrderEnd::Unstaked => End::Unstaked,
            OrderEnd::Amended => End::Amended,
            OrderEnd::Lapsed => End::Lapsed,
            OrderEnd::Missed => End::Missed,
        }
    }
}

impl From<LeaseEnd> for End {
    fn from(end: LeaseEnd) -> End {
        match end {
            LeaseEnd::Exit => End::Exit,
            LeaseEnd::Expired => End::TimeUsedUp,
            LeaseEnd::Outbid => End::Outbid,
            LeaseEnd::Preempted => End::Preempted,
            LeaseEnd::Unfunded => End::Unfunded,
            LeaseEnd::Undelivered => End::Undelivered,
            LeaseEnd::Paused => End::Paused,
            LeaseEnd::Unserved => End::Unserved,
            LeaseEnd::Disputed => End::Disputed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::codec;

    #[test]
    fn the_words_on_disk_are_those_they_have_always_been() {
        let words = [
            "not_opened",
            "unfunded",
            "cancelled",
            "timed_out",
            "served",
            "no_units",
            "too_dear",
            "evicted",
            "waived",
            "excused",
            "no_gain",
            "no_room",
            "unstaked",
            "amended",
            "lapsed",
            "missed",
            "exit",
            "time_used_up",
            "outbid",
            "preempted",
            "undelivered",
            "paused",
            "unserved",
            "disputed",
            "not_signed",
            "settled",
            "lost",
            "ended",
        ];
        for word in words {
            let bytes = codec::encode(&word);
            let end: End = codec::decode(&bytes, 64).unwrap_or_else(|e| panic!("{word}: {e}"));
            assert!(!matches!(end, End::Other(_)), "{word}");
        }
    }

    #[test]
    fn a_word_of_another_version_is_kept() {
        let bytes = codec::encode(&"repossessed");
        let end: Result<End, _> = codec::decode(&bytes, 64);
        assert_eq!(end, Ok(End::Other("repossessed".into())));
    }
}
