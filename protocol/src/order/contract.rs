//! Contracts: a client's proposal to a provider, and the entries of both while it runs. Their
//! results are in [`crate::record::contract`].
//!
//! 1. A client proposes [`ContractTerms`] and locks the most that they can cost it.
//! 2. The provider signs and stakes every penalty.
//! 3. The client requests job after job, within the window. Time is counted in slots from the one
//!    of the request.
//! 4. The provider says which of its orders serves a job. A job is done when that order has run all
//!    its slots, or when the client says so; it has failed when it is timed out.
//! 5. When no job can come any more and all are decided, the contract is settled.
//!
//! The numbers mean what they mean in [`crate::mechanism::contract`], with a slot for a tick.

use crate::ids::{AccountId, ClassId, Hash32, OrderId};
use crate::limits;
use crate::mechanism::contract::limits::{ALPHA_PPM_MAX, BETA16_MAX, MONEY_MAX};
use crate::mechanism::contract::{Aggregate, Job, settle};
use crate::told::Told;
use crate::units::Credits;
use serde::{Deserialize, Serialize};

/// One job of a contract; all its jobs are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobTerms {
    /// Units, 1 to [`limits::ORDER_UNITS`].
    pub units: u32,
    /// Full slots on all of them, 1 to [`limits::ORDER_SLOTS`].
    pub slots: u32,
    /// Its pay if it is done within `hold`, 1 to [`MONEY_MAX`] micro-credits.
    pub value: Credits,
    /// Slots after the request's in which the value stays whole.
    pub hold: u32,
    /// Slots in which the value then falls to nothing, and goes on falling at that pace; at least
    /// 1.
    pub decay: u32,
    /// The most that the provider owes for it, up to [`MONEY_MAX`].
    pub penalty: Credits,
}

/// The proposal of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContractTerms {
    /// The provider that is to run the jobs.
    pub provider: AccountId,
    /// Class of the units.
    pub class: ClassId,
    /// First slot in which jobs may be requested.
    pub first: u64,
    /// Last slot in which jobs may be requested.
    pub last: u64,
    /// Jobs that may be requested, 1 to [`limits::CONTRACT_JOBS`].
    pub jobs: u32,
    /// Each of them.
    pub job: JobTerms,
    /// Alpha of the aggregate function, parts per million, 1 to [`ALPHA_PPM_MAX`].
    pub alpha_ppm: u32,
    /// Its beta in sixteenths, 0 to [`BETA16_MAX`].
    pub beta16: u32,
    /// Last height at which it may be signed.
    pub stands_until: u64,
}

/// Requests of a contract's parties to the ledger. Role: trade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ContractEntry {
    /// A client proposes; the entry's id names the contract.
    Propose(Box<ContractTerms>),
    /// The provider signs.
    Sign {
        /// The contract.
        contract: OrderId,
    },
    /// The client requests a job; the entry's id names it.
    Request {
        /// The contract.
        contract: OrderId,
        /// Salted hash of what is to run.
        work: Hash32,
    },
    /// The client will request no more jobs. Before the provider has signed, this takes the
    /// proposal back.
    Close {
        /// The contract.
        contract: OrderId,
    },
    /// The provider serves a job with an order of its own.
    Serve {
        /// The contract.
        contract: OrderId,
        /// The job.
        job: OrderId,
        /// A live order that is not sealed, for as many units.
        order: OrderId,
    },
    /// The client has what it wanted of a job: it is done now.
    Complete {
        /// The contract.
        contract: OrderId,
        /// The job.
        job: OrderId,
    },
}

impl ContractEntry {
    /// Name of the kind of entry.
    pub fn name(&self) -> &'static str {
        match self {
            ContractEntry::Propose(_) => "propose",
            ContractEntry::Sign { .. } => "sign",
            ContractEntry::Request { .. } => "request",
            ContractEntry::Close { .. } => "close",
            ContractEntry::Serve { .. } => "serve",
            ContractEntry::Complete { .. } => "complete",
        }
    }
    /// The contract it is about; `None` for a proposal, which makes one.
    pub fn contract(&self) -> Option<&OrderId> {
        match self {
            ContractEntry::Propose(_) => None,
            ContractEntry::Sign { contract }
            | ContractEntry::Request { contract, .. }
            | ContractEntry::Close { contract }
            | ContractEntry::Serve { contract, .. }
            | ContractEntry::Complete { contract, .. } => Some(contract),
        }
    }
    /// Refuses terms that nobody could fulfil or compute.
    ///
    /// # Errors
    /// The first fault of a proposal.
    pub fn check(&self) -> Result<(), ContractFault> {
        match self {
            ContractEntry::Propose(terms) => terms.check(),
            _ => Ok(()),
        }
    }
}

/// Flaws of proposed terms that do not depend on the proposer or the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum ContractFault {
    /// No jobs, or more than a contract may have.
    #[error("{0} jobs, want 1 to {max}", max = limits::CONTRACT_JOBS)]
    Jobs(u32),
    /// The last slot lies before the first.
    #[error("the last slot for requests, {last}, lies before the first, {first}")]
    Inverted {
        /// First slot.
        first: u64,
        /// Last slot.
        last: u64,
    },
    /// No units, or more than an order may ask for.
    #[error("{0} units a job, want 1 to {max}", max = limits::ORDER_UNITS)]
    Units(u32),
    /// No slots, or more than an order may run.
    #[error("{0} slots a job, want 1 to {max}", max = limits::ORDER_SLOTS)]
    Slots(u32),
    /// A job worth nothing, or too much.
    #[error("a job worth {0}, want 0.000001 to {max} credits", max = MONEY_MAX / 1_000_000)]
    Value(Credits),
    /// A penalty beyond what can be computed.
    #[error("a penalty of {0}, at most {max} credits", max = MONEY_MAX / 1_000_000)]
    Penalty(Credits),
    /// A value that falls at once.
    #[error("a decay of no slots")]
    Decay,
    /// Alpha that is nothing, or too large.
    #[error("alpha of {0} parts per million, want 1 to {ALPHA_PPM_MAX}")]
    Alpha(u32),
    /// Beta too large.
    #[error("beta of {0} sixteenths, at most {BETA16_MAX}")]
    Beta(u32),
    /// It would take longer than an order may run until all is decided.
    #[error("{0} slots until all is decided, at most {max}", max = limits::ORDER_SLOTS)]
    Length(u64),
    /// A job that is timed out before it can have run.
    #[error("a job of {slots} slots is timed out after {patience}")]
    Hopeless {
        /// Its slots.
        slots: u32,
        /// Slots after the request's in which it may end.
        patience: u64,
    },
    /// All jobs together are worth, or all penalties cost, more than an amount of money.
    #[error("amounts beyond the range of money")]
    Overflow,
}

impl ContractFault {
    /// All words of [`ContractFault::word`], with what they tell people; `overflow` is told by the
    /// ledger's word of that name.
    pub const WORDS: &[Told] = &[
        Told::new(
            "jobs",
            "No jobs, or more than a contract may have",
            "ask for 1 to 4,096 --jobs",
        ),
        Told::new(
            "inverted",
            "The last slot lies before the first",
            "give a --window that lasts a slot or more",
        ),
        Told::new(
            "job_units",
            "No units, or more than an order may ask for",
            "ask for 1 to 4,096 units a job",
        ),
        Told::new(
            "job_slots",
            "No slots, or more than an order may run",
            "give --time a slot at least, or split the job into shorter ones",
        ),
        Told::new(
            "value",
            "A job worth nothing, or too much",
            "give --value more than nothing, and less than 1,125,899,906 credits",
        ),
        Told::new(
            "penalty",
            "A penalty beyond what can be computed",
            "lower --penalty to less than 1,125,899,906 credits",
        ),
        Told::new(
            "decay",
            "A value that falls at once",
            "give --decay a slot or more",
        ),
        Told::new(
            "alpha",
            "Alpha that is nothing, or too large",
            "give --alpha more than nothing, and 10 at most",
        ),
        Told::new("beta", "Beta too large", "lower --beta to 16 at most"),
        Told::new(
            "length",
            "It would take longer than an order may run until all is decided",
            "shorten --window, --hold or --decay",
        ),
        Told::new(
            "hopeless",
            "A job that is timed out before it can have run",
            "let --hold and --decay together last longer than --time",
        ),
    ];
    /// The way out: the option of `gridbay run` that mends it.
    pub fn hint(&self) -> &'static str {
        let told = Self::WORDS.iter().find(|told| told.word == self.word());
        told.map_or("use smaller amounts", |told| told.hint)
    }
    /// The reason in a word, as users and programs see it everywhere.
    pub fn word(&self) -> &'static str {
        match self {
            ContractFault::Jobs(_) => "jobs",
            ContractFault::Inverted { .. } => "inverted",
            ContractFault::Units(_) => "job_units",
            ContractFault::Slots(_) => "job_slots",
            ContractFault::Value(_) => "value",
            ContractFault::Penalty(_) => "penalty",
            ContractFault::Decay => "decay",
            ContractFault::Alpha(_) => "alpha",
            ContractFault::Beta(_) => "beta",
            ContractFault::Length(_) => "length",
            ContractFault::Hopeless { .. } => "hopeless",
            ContractFault::Overflow => "overflow",
        }
    }
}

impl ContractTerms {
    /// Whether the terms can be fulfilled and computed.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self) -> Result<(), ContractFault> {
        let job = &self.job;
        let good = |good: bool, fault| if good { Ok(()) } else { Err(fault) };
        let (first, last) = (self.first, self.last);
        good(
            (1..=limits::CONTRACT_JOBS).contains(&self.jobs),
            ContractFault::Jobs(self.jobs),
        )?;
        good(first <= last, ContractFault::Inverted { first, last })?;
        good(
            (1..=limits::ORDER_UNITS).contains(&job.units),
            ContractFault::Units(job.units),
        )?;
        good(
            (1..=limits::ORDER_SLOTS).contains(&job.slots),
            ContractFault::Slots(job.slots),
        )?;
        good(
            (1..=MONEY_MAX).contains(&job.value.micros()),
            ContractFault::Value(job.value),
        )?;
        good(
            job.penalty.micros() <= MONEY_MAX,
            ContractFault::Penalty(job.penalty),
        )?;
        good(job.decay >= 1, ContractFault::Decay)?;
        good(
            (1..=ALPHA_PPM_MAX).contains(&self.alpha_ppm),
            ContractFault::Alpha(self.alpha_ppm),
        )?;
        good(self.beta16 <= BETA16_MAX, ContractFault::Beta(self.beta16))?;
        let patience = job.patience();
        let length = (last - first).saturating_add(patience);
        good(
            length <= u64::from(limits::ORDER_SLOTS),
            ContractFault::Length(length),
        )?;
        let (slots, hopeless) = (job.slots, u64::from(job.slots) > patience);
        good(!hopeless, ContractFault::Hopeless { slots, patience })?;
        let money = self.lock().and(self.bond());
        money.map(|_| ()).ok_or(ContractFault::Overflow)
    }

    /// The aggregate function. Out of range it is the plain one.
    pub fn aggregate(&self) -> Aggregate {
        Aggregate::new(self.alpha_ppm, self.beta16).unwrap_or(Aggregate::PLAIN)
    }
    /// The most that the client pays: all jobs done in time. `None` beyond the range of money.
    pub fn lock(&self) -> Option<Credits> {
        let worth = u128::from(self.job.value.micros()) * u128::from(self.jobs);
        let most = settle(worth, 0, self.aggregate(), self.jobs, self.jobs);
        Credits::from_wide(u128::try_from(most).ok()?)
    }
    /// The provider's stake: the penalties of all jobs. `None` beyond the range of money.
    pub fn bond(&self) -> Option<Credits> {
        self.job.penalty.checked_mul(u64::from(self.jobs))
    }
    /// The client's payment for `completed` of `requested` jobs that were worth `earned` one by
    /// one: never above [`Self::lock`].
    pub fn pays(&self, earned: Credits, completed: u32, requested: u32) -> Credits {
        let pays = settle(
            earned.micros().into(),
            0,
            self.aggregate(),
            completed,
            requested,
        );
        let pays = u128::try_from(pays).ok().and_then(Credits::from_wide);
        pays.unwrap_or(Credits::MAX)
    }
}

impl JobTerms {
    /// As the mechanism sees it, arrived in the slot `arrival`, without bias.
    pub fn at<K>(&self, id: K, arrival: u64) -> Job<K> {
        Job {
            id,
            arrival,
            len: self.slots.into(),
            value: self.value.micros(),
            hold: self.hold.into(),
            decay: self.decay.into(),
            penalty: self.penalty.micros(),
            bias: 0,
        }
    }
    /// Its pay and its debt when it is done `after` slots after that of the request: at most one of
    /// the two is above zero.
    pub fn utility(&self, after: u64) -> (Credits, Credits) {
        let utility = self.at((), 0).utility(after);
        let part = |micros: i128| u128::try_from(micros).ok().and_then(Credits::from_wide);
        (
            part(utility).unwrap_or_default(),
            part(-utility).unwrap_or_default(),
        )
    }
    /// Whether an end so late is worth no more than the penalty.
    pub fn timed_out(&self, after: u64) -> bool {
        self.at((), 0).timed_out(after)
    }
    /// Slots after the request's in which the job may end: it is timed out in the slot after them.
    /// For a job worth something, and at least `hold`.
    pub fn patience(&self) -> u64 {
        let value = u128::from(self.value.micros()).max(1);
        let lost = (value + u128::from(self.penalty.micros())) * u128::from(self.decay.max(1));
        let late = u64::try_from(lost.div_ceil(value)).unwrap_or(u64::MAX);
        u64::from(self.hold).saturating_add(late) - 1
    }
}
