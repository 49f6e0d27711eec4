//! The provider's agent: signs contracts that clients propose to this node's account, and rents
//! units for their jobs.
//!
//! After every block, from the ledger's state alone:
//!
//! 1. each proposal that its policy admits beside the signed ones is signed (see `admission`);
//! 2. orders rented for a job are declared to serve it; orders whose job is decided are cancelled;
//! 3. open jobs that nothing serves are admitted and scheduled; for each that can begin now, a unit
//!    is bought (see `renting`). Jobs whose purchase costs more than their pay and saved penalty
//!    are left to time out.
//!
//! The work hash that an order names tells the job that it was rented for, so a restarted agent
//! finds its orders again. It forgets only two things: purchases on their way, for
//! [`ASKED_HEIGHTS`]; and signed contracts that were given up for better ones, which it serves
//! again.

mod admission;
mod renting;

use crate::signer::Signer;
use gridbay_ledger::State;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::{ClassId, Hash32, OrderId};
use gridbay_protocol::mechanism::contract::Policy;
use gridbay_protocol::order::ContractEntry;
use gridbay_protocol::units::Price;
use std::collections::{BTreeMap, BTreeSet};

/// Heights for which a purchase may wait for its inclusion.
pub const ASKED_HEIGHTS: u64 = 8;
/// Heights for which equal words are the same entry: they are said again in every block until they
/// show.
const EPOCH: u64 = 40;

/// A provider's policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderTerms {
    /// Classes of which it rents units.
    pub classes: Vec<ClassId>,
    /// The rule by which it signs contracts.
    pub policy: ProviderPolicy,
    /// Units of a class that it counts on having at once, at least 1.
    pub units: u32,
    /// Its estimate of a unit's cost per slot.
    pub cost: Price,
    /// The most that it pays for a unit per slot.
    pub most: Price,
}

/// The admission policies of the mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderPolicy {
    /// All contracts.
    Oblivious,
    /// Those whose mean load fits.
    Average,
    /// Those that fit with two standard deviations to spare.
    Conservative,
    /// Those that pay more per slot.
    HighValueOnly {
        /// Micro-credits per slot.
        threshold: u64,
    },
    /// As conservative, or in place of one that brings less revenue.
    PreemptConservative,
    /// As conservative, or in place of one whose loss it outweighs.
    PreemptLeastLoss,
}

impl ProviderPolicy {
    /// The policy in the slot `now`.
    fn at(self, now: u64) -> Policy {
        match self {
            ProviderPolicy::Oblivious => Policy::Oblivious,
            ProviderPolicy::Average => Policy::Average,
            ProviderPolicy::Conservative => Policy::Conservative,
            ProviderPolicy::HighValueOnly { threshold } => Policy::HighValueOnly { threshold },
            ProviderPolicy::PreemptConservative => Policy::PreemptConservative,
            ProviderPolicy::PreemptLeastLoss => Policy::PreemptLeastLoss { now },
        }
    }
}

/// A job by its contract and its own id.
type JobKey = (OrderId, OrderId);

/// The agent.
#[derive(Debug)]
pub struct Provider {
    terms: ProviderTerms,
    /// Last height of purchases that are on their way.
    asked: BTreeMap<JobKey, u64>,
    /// Contracts given up for better ones.
    abandoned: BTreeSet<OrderId>,
    /// Works of orders that were rented by this agent since its start, and what for.
    rented: BTreeMap<Hash32, JobKey>,
}

impl Provider {
    /// The agent of a node whose owner provides on these terms.
    pub fn new(terms: ProviderTerms) -> Provider {
        Provider {
            terms,
            asked: BTreeMap::new(),
            abandoned: BTreeSet::new(),
            rented: BTreeMap::new(),
        }
    }
    /// Its policy.
    pub fn terms(&self) -> &ProviderTerms {
        &self.terms
    }

    /// Looks at the state after a block; returns what to send to the ledger.
    pub fn after_block(&mut self, state: &State, signer: &Signer<'_>) -> Vec<SignedEntry> {
        let height = state.height();
        self.abandoned.retain(|id| state.contract(id).is_some());
        self.asked.retain(|_, until| *until > height);
        let mut words: Vec<EntryBody> = self
            .sign(state, signer)
            .into_iter()
            .map(|contract| EntryBody::Contract(ContractEntry::Sign { contract }))
            .collect();
        let cares = self.cares(state, signer);
        words.extend(self.tend(state, signer, &cares));
        let valid_until = (height / EPOCH + 1) * EPOCH;
        let said = |body| signer.sign(state, body, valid_until);
        let mut entries: Vec<SignedEntry> = words.into_iter().map(said).collect();
        let until = height + ASKED_HEIGHTS;
        for (key, buy) in self.rent(state, signer, &cares) {
            self.asked.insert(key, until);
            self.rented.insert(buy.work, key);
            entries.push(signer.sign(state, EntryBody::Buy(buy), until));
        }
        entries
    }
}

/// The work that an order rented for a job names: nothing that could be started.
fn marker(key: &JobKey) -> Hash32 {
    let parts: [&[u8]; 3] = [b"serve", key.0.as_bytes(), key.1.as_bytes()];
    Hash32(hash(Domain::Agent, &parts))
}
