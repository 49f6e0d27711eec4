//! A buyer's order as it is kept on disk: the part that cannot be told from the ledger.
//!
//! Where the order stands (committed, standing, running) is always read from the ledger's state, so
//! that a restart resumes exactly where the network is. Kept here are the secrets (salts), the
//! job's text and how far its tasks have come.

use super::amending::Amending;
use super::appeal::Opening;
use super::attempts::History;
use super::experience::Experience;
use super::setup::Setup;
use crate::agent::is_zero;
use crate::buy::{Asked, End, NewOrder, SEND_HEIGHTS};
use crate::project::ProjectMark;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::codec::{self, CodecError};
use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::{ClassId, LeaseId, OfferId};
use gridbay_protocol::job::JobExit;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent};
use gridbay_protocol::order::{ContractTerms, Wish};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// Bytes of a record at the most.
pub const RECORD_BYTES: usize = 4 * 1024 * 1024;

/// How far one task is.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskRecord {
    /// Starts so far; the next run has this attempt number.
    pub attempt: u32,
    /// Runs lost by a seller's fault.
    pub lost: u32,
    /// How it ended, once it did and its output is here.
    pub done: Option<JobExit>,
    /// First instruction of the last run, milliseconds since 1970; 0 if none.
    pub started_ms: u64,
    /// End of the last run.
    pub ended_ms: u64,
    /// Whether its job was seen under its contract.
    pub requested: bool,
    /// Offer and node of the last run.
    pub place: Option<(OfferId, PublicKey)>,
    /// Its attempts.
    #[serde(default, skip_serializing_if = "History::is_empty")]
    pub history: History,
    /// How its run ended by itself, while output of it is still to come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<JobExit>,
    /// Bytes of its output that were not kept, by its seller or by this node, once it is done.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
}

/// The milestones of an order. Heights are 0 for not yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Milestones {
    /// Its entry was included.
    pub committed: u64,
    /// Its bid was opened.
    pub opened: u64,
    /// Its (last) lease began.
    pub won: u64,
    /// Its (last) lease.
    pub lease: Option<LeaseId>,
    /// Leases lost after which the order stood again.
    pub lost: u32,
    /// Units it holds.
    pub units: u32,
    /// Units times heights paid for, of all leases.
    pub unit_heights: u64,
}

impl Milestones {
    /// Notes an event of its lease in the block of `height`.
    pub fn note(&mut self, event: &LeaseEvent, calendar: &Calendar, height: u64) {
        // The units held so far were paid for the rest of the slot, but will not be held.
        let rest = u64::from(self.units).saturating_mul(calendar.heights_left(height));
        self.unit_heights = self.unit_heights.saturating_sub(rest);
        match event {
            LeaseEvent::Started(terms) | LeaseEvent::Renewed(terms) => {
                if self.lease != Some(terms.lease) {
                    (self.lease, self.won) = (Some(terms.lease), height);
                }
                self.units = terms.shares.iter().map(|s| s.units).sum();
                let heights = calendar.last_of_slot(terms.slot).saturating_sub(height);
                let more = u64::from(self.units).saturating_mul(heights);
                self.unit_heights = self.unit_heights.saturating_add(more);
            }
            LeaseEvent::Ended { end, .. } => {
                self.units = 0;
                // A claim that is not drawn for a slot has lost nothing.
                self.lost += u32::from(end.order_stands() && *end != LeaseEnd::Unserved);
            }
            LeaseEvent::Disputed { .. } => {}
        }
    }
}

impl Record {
    /// The record of a new order: nothing sent yet.
    pub fn new(order: NewOrder) -> Record {
        let tasks = vec![TaskRecord::default(); order.tasks as usize];
        Record {
            order,
            attempt: 0,
            valid_until: 0,
            wish: None,
            proposal: None,
            included: false,
            opening: None,
            amending: None,
            amendments: 0,
            paid: Credits::ZERO,
            milestones: Milestones::default(),
            experience: Experience::default(),
            short: None,
            cancelling: false,
            tasks,
            finish: None,
            setups: Vec::new(),
            project: None,
        }
    }
    /// Parses what [`crate::effect::Effect::SaveOrder`] had kept.
    pub fn decode(bytes: &[u8]) -> Result<Record, CodecError> {
        codec::decode(bytes, RECORD_BYTES)
    }
    /// The request of this attempt to the ledger: the same at every call.
    pub(crate) fn asked(&self, calendar: &Calendar) -> Asked {
        match (&self.wish, &self.proposal) {
            (Some(wish), _) => Asked::Sealed(wish.clone()),
            (None, Some(terms)) => Asked::Proposed(terms.clone()),
            // An open request follows from the last height alone.
            (None, None) => {
                let made = self.valid_until.saturating_sub(SEND_HEIGHTS);
                let attempt = self.order.attempt(calendar, made, self.valid_until);
                self.order.asked(&attempt)
            }
        }
    }
    /// Salt of the seal of an amendment.
    pub fn amend_salt(&self, number: u32) -> [u8; 32] {
        let number = number.to_be_bytes();
        hash(Domain::Agent, &[&self.order.entropy, b"amend", &number])
    }
    /// Salt of this attempt's seal.
    pub fn seal_salt(&self) -> [u8; 32] {
        hash(
            Domain::Agent,
            &[&self.order.entropy, b"seal", &self.attempt.to_be_bytes()],
        )
    }
}

/// Why the buyer's side of an order is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// All tasks ended.
    Done,
    /// The user cancelled it.
    Cancelled,
    /// It ended on the ledger, or this node gave it up.
    Ended(End),
    /// The ledger refused it; the word is the reason.
    Refused(String),
}

/// The record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The order.
    pub order: NewOrder,
    /// Counts the commitments or buys sent.
    pub attempt: u32,
    /// Last height at which the entry of this attempt may be included.
    pub valid_until: u64,
    /// The bid or reservation sealed by this attempt.
    pub wish: Option<Wish>,
    /// The contract proposed by this attempt.
    pub proposal: Option<ContractTerms>,
    /// Whether the entry of this attempt was seen in the ledger.
    pub included: bool,
    /// Its opening, once it was sent.
    pub opening: Option<Opening>,
    /// The new bid, until the ledger has it.
    pub amending: Option<Amending>,
    /// Counts the amendments sent.
    pub amendments: u32,
    /// Charged less refunded, as far as seen.
    pub paid: Credits,
    /// Its milestones, as far as seen.
    pub milestones: Milestones,
    /// Its experience with the pool in which it claims a share.
    pub experience: Experience,
    /// The class of which a buy of several found too few units, when it ended for that.
    pub short: Option<ClassId>,
    /// Whether the user has cancelled it.
    pub cancelling: bool,
    /// The tasks.
    pub tasks: Vec<TaskRecord>,
    /// Set when it is over.
    pub finish: Option<Finish>,
    /// How the networks of its leases came to stand, the last ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setups: Vec<Setup>,
    /// The project that it is of, if it is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectMark>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::{AccountId, OrderId};
    use gridbay_protocol::lease::{LeaseTerms, Share};

    /// Slots of eight heights: 1 to 8, 9 to 16, ...
    const CALENDAR: Calendar = Calendar {
        round_heights: 4,
        slot_rounds: 2,
    };

    fn terms(lease: u8, slot: u64, units: u32) -> LeaseTerms {
        LeaseTerms {
            lease: LeaseId([lease; 32]),
            order: OrderId([1; 32]),
            account: AccountId([2; 32]),
            class: ClassId([3; 32]),
            slot,
            shares: vec![Share {
                offer: OfferId([4; 32]),
                units,
            }],
            paid: Credits::ZERO,
            firm_through: None,
        }
    }
    fn ended(lease: u8, end: LeaseEnd) -> LeaseEvent {
        LeaseEvent::Ended {
            lease: LeaseId([lease; 32]),
            order: OrderId([1; 32]),
            end,
        }
    }

    #[test]
    fn unit_heights_are_those_that_were_held() {
        let mut m = Milestones::default();
        m.note(&LeaseEvent::Started(terms(7, 0, 3)), &CALENDAR, 4);
        assert_eq!((m.unit_heights, m.won), (3 * 4, 4), "the rest of the slot");
        m.note(&LeaseEvent::Renewed(terms(7, 1, 2)), &CALENDAR, 8);
        assert_eq!((m.unit_heights, m.won), (3 * 4 + 2 * 8, 4), "a whole slot");
        m.note(&ended(7, LeaseEnd::Preempted), &CALENDAR, 10);
        assert_eq!(m.unit_heights, 3 * 4 + 2 * 2, "two heights were used");
        assert_eq!((m.lost, m.units), (1, 0));
        m.note(&LeaseEvent::Started(terms(8, 1, 1)), &CALENDAR, 12);
        m.note(&ended(8, LeaseEnd::Expired), &CALENDAR, 16);
        assert_eq!((m.unit_heights, m.won, m.lost), (16 + 4, 12, 1));
        assert_eq!(m.lease, Some(LeaseId([8; 32])));
    }
}
