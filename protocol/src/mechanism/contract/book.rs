//! A provider's whole book: signed contracts, offered ones, and those signed in the end.
//!
//! 1. Offered contracts are decided one after the other by (start, id), each beside those that
//!    stand by then: the signed ones that were not abandoned and the offered ones signed before.
//! 2. Where one contract gave way to another, a third may fit that did not before. So in the end
//!    each that does not stand for want of room (signed ones first by id, then offered ones by
//!    (start, id)) is tried once more, without abandoning any. As load only grows here, none of
//!    them fits any more after that.
//!
//! Offered contracts have no order of arrival that a client could choose: all of one clearing come
//! at once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use super::admission::{
    Answer, Policy, Provider, Reason, check_contracts, decide, stake_of, worth,
};
use super::error::Error;
use super::load::overloads;
use super::terms::Contract;

/// The input of a clearing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input<K> {
    /// The provider's policies and supply.
    pub provider: Provider,
    /// Its signed contracts, in any order.
    pub signed: Vec<Contract<K>>,
    /// Those that clients offer it, in any order.
    pub offered: Vec<Contract<K>>,
}

/// A signed contract that is abandoned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abandoned<K> {
    /// The contract.
    pub id: K,
    /// The offered contract that took its place; it may have given way itself.
    pub by: K,
}

/// The result of a clearing. Each offered contract is either accepted or refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome<K> {
    /// Offered contracts that are signed, by (start, id).
    pub accepted: Vec<K>,
    /// Offered contracts that are not, and why, by (start, id).
    pub refused: Vec<(K, Reason)>,
    /// Signed contracts that are abandoned, by id.
    pub abandoned: Vec<Abandoned<K>>,
}

/// Clears the book.
///
/// # Errors
/// As [`super::admit_contract`], for all contracts together.
pub fn clear<K: Ord + Clone + Debug>(input: &Input<K>) -> Result<Outcome<K>, Error<K>> {
    input.provider.check()?;
    check_contracts(input.signed.iter().chain(&input.offered))?;
    let mut offered: Vec<&Contract<K>> = input.offered.iter().collect();
    offered.sort_unstable_by_key(|contract| (contract.start, &contract.id));
    let mut book = Book {
        provider: &input.provider,
        standing: input.signed.iter().collect(),
        gave_way: BTreeMap::new(),
        refused: BTreeMap::new(),
    };
    for contract in &offered {
        book.decide(contract);
    }
    let mut signed: Vec<&Contract<K>> = input.signed.iter().collect();
    signed.sort_unstable_by_key(|contract| &contract.id);
    for contract in signed.iter().chain(&offered) {
        book.restore(contract);
    }
    Ok(book.outcome(&signed, &offered))
}

/// The book while it is cleared.
struct Book<'a, K> {
    provider: &'a Provider,
    standing: Vec<&'a Contract<K>>,
    /// Contracts that stood, by the one that took their place.
    gave_way: BTreeMap<&'a K, &'a K>,
    refused: BTreeMap<&'a K, Reason>,
}

impl<'a, K: Ord + Clone + Debug> Book<'a, K> {
    /// Step 1 for one contract.
    fn decide(&mut self, contract: &'a Contract<K>) {
        match decide(self.provider, contract, &self.standing) {
            Answer::Signed => self.standing.push(contract),
            Answer::InPlaceOf(victim) => {
                let stands = self.standing.iter().position(|other| other.id == victim);
                let place = stands.expect("a victim is one of the contracts that stand");
                let gone = self.standing.swap_remove(place);
                self.gave_way.insert(&gone.id, &contract.id);
                self.standing.push(contract);
            }
            Answer::Refused(reason) => {
                self.refused.insert(&contract.id, reason);
            }
        }
    }

    /// Step 2 for one contract.
    fn restore(&mut self, contract: &'a Contract<K>) {
        let Some(sigmas) = self.provider.policy.sigmas() else {
            return;
        };
        let id = &contract.id;
        let crowded_out = self.refused.get(id) == Some(&Reason::Overload);
        if !crowded_out && !self.gave_way.contains_key(id) {
            return;
        }
        let supply = &self.provider.supply;
        if overloads(supply, contract, &self.standing, sigmas).is_empty() {
            self.gave_way.remove(id);
            self.refused.remove(id);
            self.standing.push(contract);
        }
    }

    fn outcome(&self, signed: &[&Contract<K>], offered: &[&Contract<K>]) -> Outcome<K> {
        let mut outcome = Outcome {
            accepted: Vec::new(),
            refused: Vec::new(),
            abandoned: Vec::new(),
        };
        for contract in offered {
            let id = contract.id.clone();
            let displaced = self.gave_way.get(&id).map(|_| Reason::Displaced);
            match self.refused.get(&id).copied().or(displaced) {
                Some(reason) => outcome.refused.push((id, reason)),
                None => outcome.accepted.push(id),
            }
        }
        for contract in signed {
            if let Some(by) = self.gave_way.get(&contract.id) {
                outcome.abandoned.push(Abandoned {
                    id: contract.id.clone(),
                    by: (*by).clone(),
                });
            }
        }
        outcome
    }
}

/// See [`super::Mechanism::audit`].
pub(super) fn audit<K: Ord + Clone + Debug>(
    input: &Input<K>,
    outcome: &Outcome<K>,
) -> Result<(), &'static str> {
    let by_id = |list: &'_ [Contract<K>]| -> BTreeMap<K, Contract<K>> {
        list.iter().map(|c| (c.id.clone(), c.clone())).collect()
    };
    let (signed, offered) = (by_id(&input.signed), by_id(&input.offered));
    let answered: BTreeSet<&K> = outcome
        .accepted
        .iter()
        .chain(outcome.refused.iter().map(|(id, _)| id))
        .collect();
    if answered.len() != outcome.accepted.len() + outcome.refused.len()
        || !answered.into_iter().eq(offered.keys())
    {
        return Err("not every offered contract has one answer");
    }
    let mut standing: BTreeMap<&K, &Contract<K>> = signed.iter().collect();
    for gone in &outcome.abandoned {
        let victim = standing.remove(&gone.id);
        let victim = victim.ok_or("a contract is abandoned that is not signed")?;
        let winner = offered.get(&gone.by).ok_or("nobody took the place")?;
        if !input.provider.policy.preempts() || !victim.overlaps(winner) {
            return Err("a contract is abandoned in vain");
        }
        if stake_of(&input.provider, victim) >= worth(&input.provider, winner) {
            return Err("a contract is abandoned for one of less worth");
        }
    }
    for id in &outcome.accepted {
        standing.extend(offered.get_key_value(id));
    }
    let accepted = outcome.accepted.iter().filter_map(|id| offered.get(id));
    accepted
        .into_iter()
        .try_for_each(|contract| audit_one(&input.provider, contract, &standing))
}

/// The conditions for a contract that was signed.
fn audit_one<K: Ord>(
    provider: &Provider,
    contract: &Contract<K>,
    standing: &BTreeMap<&K, &Contract<K>>,
) -> Result<(), &'static str> {
    if !provider.affords(contract) {
        return Err("an unprofitable contract is signed");
    }
    if matches!(provider.policy, Policy::HighValueOnly { threshold } if contract.value <= threshold)
    {
        return Err("a contract below the threshold is signed");
    }
    let Some(sigmas) = provider.policy.sigmas() else {
        return Ok(());
    };
    let others: Vec<&Contract<K>> = standing
        .values()
        .copied()
        .filter(|other| other.id != contract.id)
        .collect();
    if overloads(&provider.supply, contract, &others, sigmas).is_empty() {
        Ok(())
    } else {
        Err("a signed contract does not fit")
    }
}
