//! A buyer's order as it is kept on disk: what cannot be told from the ledger.
//!
//! Where the order stands (committed, standing, running) is always read from the ledger's state, so
//! that a restart resumes exactly where the network is. Kept here are the secrets (salts), the job's
//! text and how far its tasks have come.

use super::OrderKey;
use super::amend::Amending;
use super::appeal::Opening;
use super::share::Experience;
use super::worth::Worth;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::codec::{self, CodecError};
use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::{AccountId, ClassId, LeaseId, OfferId};
use gridbay_protocol::job::{JobExit, JobSpec};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent};
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::mechanism::reservation::Channels;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::order::{BuyPart, ContractTerms, Group, JobTerms, Step, Wish};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// Bytes of a record at the most.
pub const RECORD_BYTES: usize = 1024 * 1024;

/// How units are bought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Terms {
    /// A sealed bid.
    Sealed {
        /// Marginal values.
        steps: Vec<Step>,
        /// Fewest units of use.
        min: u32,
        /// Most to pay over the whole order.
        budget: Credits,
        /// Heights to stand without running before giving up.
        patience: u64,
    },
    /// A sealed reservation.
    Reserve(ReserveTerms),
    /// Buy-it-now.
    Buy {
        /// Units by class, ascending; one of the classes is the order's.
        parts: Vec<BuyPart>,
        /// Most to pay per slot for all units.
        limit: Credits,
        /// Heights to wait for units if there are not enough; 0 for not at all.
        patience: u64,
        /// Most to pay on top, once, to those who are evicted for it.
        surcharge: Credits,
    },
    /// A claim on a pool.
    Share {
        /// The pool.
        offer: OfferId,
        /// Most to pay per slot.
        rate: Credits,
        /// What the job makes of its shares.
        utility: Utility,
        /// Worth of each resource of the class.
        weights: Vec<u32>,
        /// Most to pay over the whole order.
        budget: Credits,
        /// Heights to stand without running before giving up.
        patience: u64,
    },
    /// Work by a deadline, planned by one seller.
    Deadline {
        /// The seller's offer.
        offer: OfferId,
        /// Work to do, units times slots.
        unit_slots: u64,
        /// Slots after acceptance through which `pmax` is paid.
        soft: u32,
        /// Slots after acceptance by which it must be done.
        hard: u32,
        /// Price until the soft deadline.
        pmax: Credits,
        /// Price at the hard deadline.
        pmin: Credits,
        /// How the price falls in between.
        shape: Shape,
    },
    /// A contract under which every task is a job of one unit.
    Contract(ContractWish),
}

/// What a contract shall say; class and number of jobs are the order's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContractWish {
    /// Who is to run the jobs.
    pub provider: AccountId,
    /// Each of them; of one unit.
    pub job: JobTerms,
    /// Alpha, parts per million.
    pub alpha_ppm: u32,
    /// Beta, sixteenths.
    pub beta16: u32,
    /// Slots after the running one in which jobs may be requested.
    pub window: u32,
    /// Heights for the provider to sign.
    pub patience: u64,
}

/// What is reserved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReserveTerms {
    /// What is wanted together.
    pub groups: Vec<Group>,
    /// First slot it may start in.
    pub earliest: u64,
    /// Last slot it may start in.
    pub latest: u64,
    /// What all of it is worth, and what it pays if it wins.
    pub value: Credits,
    /// Channels of which it needs one.
    pub channels: Option<Channels>,
}

/// A new order as the user gave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewOrder {
    /// Its local id, from fresh randomness.
    pub key: OrderKey,
    /// Fresh randomness: all salts are derived from it.
    #[serde(with = "gridbay_protocol::ids::byte_array")]
    pub entropy: [u8; 32],
    /// Name for people.
    pub name: String,
    /// When the API accepted it, milliseconds since 1970.
    pub accepted_ms: u64,
    /// Class; of a buy of several, the one that the user named first.
    pub class: ClassId,
    /// Terms.
    pub terms: Terms,
    /// Slots to run at the most.
    pub slots: u32,
    /// Number of tasks: units asked for.
    pub tasks: u32,
    /// The job.
    pub spec: JobSpec,
    /// What it is worth when it is done, if it bids by that.
    pub worth: Option<Worth>,
}

/// How far one task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
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
}

/// What an order has come through. Heights are 0 for not yet.
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
    /// Takes in what the block of `height` did to its lease.
    pub fn note(&mut self, event: &LeaseEvent, calendar: &Calendar, height: u64) {
        // What the units held so far were paid for, but will not be held.
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
        }
    }
    /// Parses what [`crate::effect::Effect::SaveOrder`] had kept.
    pub fn decode(bytes: &[u8]) -> Result<Record, CodecError> {
        codec::decode(bytes, RECORD_BYTES)
    }
    /// Salt of the work hash.
    pub fn work_salt(&self) -> [u8; 32] {
        hash(Domain::Agent, &[&self.order.entropy, b"work"])
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
    /// The ledger ended it; the word is the reason.
    Ended(String),
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
    /// What its bid is to say instead, until the ledger has it.
    pub amending: Option<Amending>,
    /// Counts the amendments sent.
    pub amendments: u32,
    /// Charged less refunded, as far as seen.
    pub paid: Credits,
    /// What it has come through, as far as seen.
    pub milestones: Milestones,
    /// What it has seen of the pool that it claims a share of.
    pub experience: Experience,
    /// The class of which a buy of several found too few units, when it ended for that.
    pub short: Option<ClassId>,
    /// Whether the user has cancelled it.
    pub cancelling: bool,
    /// The tasks.
    pub tasks: Vec<TaskRecord>,
    /// Set when it is over.
    pub finish: Option<Finish>,
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
