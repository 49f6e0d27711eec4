//! The decision whether a provider signs one more contract, and which signed one it abandons for
//! it.
//!
//! 1. Under [`CostPolicy::Variable`] the contract must bring more than its mean load costs, summed
//!    up period by period.
//! 2. The policy decides:
//!
//! | policy | signs |
//! |---|---|
//! | `Oblivious` | always |
//! | `Average` | if the mean loads fit |
//! | `Conservative` | if they fit with two standard deviations to spare |
//! | `HighValueOnly` | if the value per tick is above the threshold |
//! | `PreemptConservative` | as `Conservative`; else in place of **one** overlapping contract, whose absence makes it fit: of those with less whole revenue than the candidate the one with least, ties to the smaller id |
//! | `PreemptLeastLoss` | the same, by real loss: the candidate's gain must be above the victim's loss (see `stake`) |

use std::fmt::Debug;

use super::error::{Error, check_all};
use super::limits::{CONTRACTS_MAX, Field, MONEY_MAX, TIME_MAX, within};
use super::load::{Overload, overloads};
use super::stake;
use super::supply::{self, Period};
use super::terms::Contract;

/// The rule by which a provider signs contracts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// All.
    Oblivious,
    /// Those whose mean load fits.
    Average,
    /// Those that fit with two standard deviations to spare.
    Conservative,
    /// Those that pay per tick more than the threshold, micro-credits.
    HighValueOnly {
        /// The threshold.
        threshold: u64,
    },
    /// Those that fit, or do in place of one that brings less revenue.
    PreemptConservative,
    /// Those that fit, or do in place of one whose loss they outweigh.
    PreemptLeastLoss {
        /// The time of the decision, ticks: past ticks cost nothing any more.
        now: u64,
    },
}

impl Policy {
    /// Standard deviations to spare; none if the policy does not look at loads.
    pub(super) fn sigmas(self) -> Option<u128> {
        match self {
            Policy::Oblivious | Policy::HighValueOnly { .. } => None,
            Policy::Average => Some(0),
            Policy::Conservative
            | Policy::PreemptConservative
            | Policy::PreemptLeastLoss { .. } => Some(2),
        }
    }

    /// Whether a signed contract can be abandoned for another one.
    #[must_use]
    pub fn preempts(self) -> bool {
        matches!(
            self,
            Policy::PreemptConservative | Policy::PreemptLeastLoss { .. }
        )
    }
}

/// Whether costs count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CostPolicy {
    /// They do not.
    #[default]
    Any,
    /// A contract must bring more than its mean load costs.
    Variable,
}

/// A provider's policies and supply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// The rule by which it signs contracts.
    pub policy: Policy,
    /// Whether costs count.
    pub cost_policy: CostPolicy,
    /// The CPUs that it foresees: periods in any order that do not overlap.
    pub supply: Vec<Period>,
}

impl Provider {
    pub(super) fn check<K: Debug>(&self) -> Result<(), Error<K>> {
        match self.policy {
            Policy::HighValueOnly { threshold } => {
                within(threshold <= MONEY_MAX, Field::Threshold)?;
            }
            Policy::PreemptLeastLoss { now } => within(now <= TIME_MAX, Field::Time)?,
            _ => {}
        }
        supply::check(&self.supply)?.map_err(|at| Error::SupplyOverlaps { at })
    }

    /// Step 1.
    pub(super) fn affords<K>(&self, contract: &Contract<K>) -> bool {
        // 5.4.1 p. 97: contract-cost; F.4.
        self.cost_policy == CostPolicy::Any || supply::margin(&self.supply, contract) > 0
    }
}

/// Why a contract is not signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// It brings no more than its load costs.
    Unprofitable,
    /// It does not fit, and no contract of less worth makes room for it.
    Overload,
    /// It pays per tick no more than the threshold.
    BelowThreshold,
    /// It fitted, until one of more worth in the same clearing took its place.
    Displaced,
}

/// The answer to an offered contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<K> {
    /// Signed.
    Signed,
    /// Signed, and this one is abandoned for it.
    InPlaceOf(K),
    /// Not signed.
    Refused(Reason),
}

/// Decides about one contract beside the `others`, which are signed.
///
/// # Errors
/// Two contracts with one id, more than [`CONTRACTS_MAX`], one that ends before it starts, periods
/// of supply that overlap, or a number out of its range.
pub fn admit_contract<K: Ord + Clone + Debug>(
    provider: &Provider,
    contract: &Contract<K>,
    others: &[Contract<K>],
) -> Result<Answer<K>, Error<K>> {
    provider.check()?;
    check_contracts(others.iter().chain(std::iter::once(contract)))?;
    let others: Vec<&Contract<K>> = others.iter().collect();
    Ok(decide(provider, contract, &others))
}

pub(super) fn check_contracts<'a, K: Ord + Clone + Debug + 'a>(
    contracts: impl Iterator<Item = &'a Contract<K>> + Clone,
) -> Result<(), Error<K>> {
    within(contracts.clone().count() <= CONTRACTS_MAX, Field::Contracts)?;
    check_all(contracts, |contract| &contract.id, Contract::check)
}

/// The decision, for input that was checked.
pub(super) fn decide<K: Ord + Clone + Debug>(
    provider: &Provider,
    contract: &Contract<K>,
    others: &[&Contract<K>],
) -> Answer<K> {
    if !provider.affords(contract) {
        return Answer::Refused(Reason::Unprofitable);
    }
    if let Policy::HighValueOnly { threshold } = provider.policy {
        // 5.4.1 p. 97, 5.
        return if contract.value > threshold {
            Answer::Signed
        } else {
            Answer::Refused(Reason::BelowThreshold)
        };
    }
    let Some(sigmas) = provider.policy.sigmas() else {
        return Answer::Signed;
    };
    // 5.4.1 p. 97, 2 and 3.
    let overloads = overloads(&provider.supply, contract, others, sigmas);
    if overloads.is_empty() {
        return Answer::Signed;
    }
    match victim(provider, contract, others, &overloads) {
        Some(id) => Answer::InPlaceOf(id),
        None => Answer::Refused(Reason::Overload),
    }
}

/// The contract to abandon, if the policy abandons any.
fn victim<K: Ord + Clone + Debug>(
    provider: &Provider,
    contract: &Contract<K>,
    others: &[&Contract<K>],
    overloads: &[Overload],
) -> Option<K> {
    let sigmas = provider.policy.sigmas()?;
    if !provider.policy.preempts() {
        return None;
    }
    let worth = worth(provider, contract);
    let relieves = |other: &Contract<K>| {
        let fits = |overload: &Overload| overload.fits_without(other, sigmas);
        other.overlaps(contract) && overloads.iter().all(fits)
    };
    let stakes = others
        .iter()
        .filter(|other| relieves(other))
        .map(|other| (stake_of(provider, other), &other.id));
    // 5.4.1 p. 97, 4: one that would generate less; F.4.
    let least = stakes.filter(|(stake, _)| *stake < worth).min();
    least.map(|(_, id)| id.clone())
}

/// The candidate's value that is compared with a victim's stake.
pub(super) fn worth<K>(provider: &Provider, contract: &Contract<K>) -> i128 {
    match provider.policy {
        Policy::PreemptLeastLoss { now } => stake::gain(&provider.supply, contract, now),
        _ => contract.revenue() as i128,
    }
}

/// The cost of abandoning a contract, as the policy reckons it.
pub(super) fn stake_of<K>(provider: &Provider, contract: &Contract<K>) -> i128 {
    match provider.policy {
        Policy::PreemptLeastLoss { now } => stake::loss(&provider.supply, contract, now),
        _ => contract.revenue() as i128,
    }
}
