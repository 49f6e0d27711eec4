//! Ways of buying, one file each: the user's terms, and the entry that asks the ledger for them.
//!
//! The record on disk keeps [`Terms`]; `Buys` is all that the rest of the node asks of a way.

mod ausubel;
#[allow(
    clippy::module_inception,
    reason = "each file has the name of its mechanism"
)]
mod buy;
mod contract;
mod deadline;
mod end;
mod posted;
mod reservation;
mod sealed;
mod share;
mod way;
mod worth;

pub use ausubel::BidTerms;
pub use buy::BuyTerms;
pub use contract::ContractWish;
pub use deadline::DeadlineWish;
pub use end::End;
pub use posted::PostedTerms;
pub use reservation::ReserveTerms;
pub(crate) use sealed::commit;
pub use share::ShareTerms;
pub(crate) use way::{Asked, Attempt, Buys, Desk, SEND_HEIGHTS};
pub use worth::Worth;

use crate::key::OrderKey;
use crate::reply::Refused;
use gridbay_ledger::{Refusal, State};
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::{ClassId, Hash32, LeaseId, OrderId};
use gridbay_protocol::job::JobSpec;
use gridbay_protocol::order::Step;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// How units are bought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Terms {
    /// A sealed bid.
    Sealed(BidTerms),
    /// A sealed reservation.
    Reserve(ReserveTerms),
    /// Buy-it-now.
    Buy(BuyTerms),
    /// A claim on a pool.
    Share(ShareTerms),
    /// Work by a deadline, planned by one seller.
    Deadline(DeadlineWish),
    /// A contract under which every task is a job of one unit.
    Contract(ContractWish),
    /// A hire at posted prices.
    Posted(PostedTerms),
}

impl Terms {
    fn way(&self) -> &dyn Buys {
        match self {
            Terms::Sealed(terms) => terms,
            Terms::Reserve(terms) => terms,
            Terms::Buy(terms) => terms,
            Terms::Share(terms) => terms,
            Terms::Deadline(terms) => terms,
            Terms::Contract(terms) => terms,
            Terms::Posted(terms) => terms,
        }
    }
    /// The terms of a bid; `None` if it is none. Only bids can be amended.
    pub fn bid(&self) -> Option<&BidTerms> {
        match self {
            Terms::Sealed(terms) => Some(terms),
            _ => None,
        }
    }
    /// The same, to be changed.
    pub(crate) fn bid_mut(&mut self) -> Option<&mut BidTerms> {
        match self {
            Terms::Sealed(terms) => Some(terms),
            _ => None,
        }
    }
}

/// On what terms relays are leased.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelayPay {
    /// Most to pay for a slot of one.
    pub limit: Credits,
    /// Slots that each is leased for, prepaid, at least 1.
    pub slots: u32,
}

/// What an order has to do with relays ([`crate::relay`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relaying {
    /// Pairs of its network that have no way get relays that cost nothing, where there are any.
    #[default]
    Free,
    /// They get none.
    Off,
    /// They get those, and where they do not carry, one that is leased.
    Paid(RelayPay),
    /// It leases a relay for that order.
    For(OrderKey),
}

impl Relaying {
    fn is_free(&self) -> bool {
        *self == Relaying::Free
    }
}

/// A new order as the user gave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewOrder {
    /// Its local id, from fresh randomness.
    pub key: OrderKey,
    /// Mark of the user's request, which tells it from another under the same key; none of orders
    /// of before this was kept, and of those that the node makes by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Hash32>,
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
    /// Its worth when it is done, if it bids by that.
    pub worth: Option<Worth>,
    /// How its network is relayed.
    #[serde(default, skip_serializing_if = "Relaying::is_free")]
    pub relay: Relaying,
}

impl NewOrder {
    /// An attempt that is made at a height.
    pub(crate) fn attempt(&self, calendar: &Calendar, height: u64, valid_until: u64) -> Attempt {
        Attempt {
            class: self.class,
            slots: self.slots,
            tasks: self.tasks,
            work: self.spec.work(&self.work_salt()),
            height,
            slot: calendar.slot(height.saturating_add(1)),
            valid_until,
        }
    }
    /// An attempt for the next block.
    fn next_attempt(&self, state: &State) -> Attempt {
        let height = state.height();
        self.attempt(&state.calendar(), height, height.saturating_add(1))
    }
    /// See [`Buys::asked`].
    pub(crate) fn asked(&self, at: &Attempt) -> Asked {
        self.terms.way().asked(at)
    }
    /// See [`Buys::check`].
    pub(crate) fn check(&self, desk: &Desk<'_>) -> Result<Credits, Refused> {
        self.terms.way().check(&self.next_attempt(desk.state), desk)
    }
    /// The money that must be free in the account to amend it, as the order `id`; the budget may
    /// stay.
    ///
    /// # Errors
    /// It is no bid, or the ledger would not take the amendment.
    pub(crate) fn check_amendment(
        &self,
        id: &OrderId,
        steps: &[Step],
        budget: Option<Credits>,
        state: &State,
    ) -> Result<Credits, Refused> {
        let Some(old) = self.terms.bid() else {
            return Err(Refused::by_ledger(&Refusal::NotABid(*id)));
        };
        let amended = BidTerms {
            steps: steps.to_vec(),
            budget: budget.unwrap_or(old.budget),
            ..*old
        };
        amended.check_amendment(&self.next_attempt(state), id, state)
    }
    /// See [`Buys::last_commitment`].
    pub(crate) fn last_commitment(&self, calendar: &Calendar) -> u64 {
        self.terms.way().last_commitment(calendar)
    }
    /// See [`Buys::hopeless`].
    pub(crate) fn hopeless(&self, state: &State) -> Option<&'static str> {
        self.terms.way().hopeless(&self.next_attempt(state), state)
    }
    /// The fewest units, by class, with which it can run.
    pub fn needs(&self) -> Vec<(ClassId, u32)> {
        self.terms.way().needs(self.class)
    }
    /// Salt of the work hash.
    pub fn work_salt(&self) -> [u8; 32] {
        hash(Domain::Agent, &[&self.entropy, b"work"])
    }
    /// The secret that the members of a lease's network share.
    pub fn cluster_secret(&self, lease: &LeaseId) -> [u8; 32] {
        hash(Domain::Agent, &[&self.entropy, b"cluster", &lease.0])
    }
    /// Salt of the work hash of a task.
    pub fn task_salt(&self, task: u32) -> [u8; 32] {
        self.terms.way().task_salt(self.work_salt(), task)
    }
}
