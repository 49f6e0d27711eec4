//! Election: a ranking of all validators for every height.
//!
//! The validator of rank r proposes in consensus round r (modulo the number of validators), so f
//! dead validators cost at most f rounds in a row. Step k draws one of the validators left, with a
//! probability proportional to its power:
//!
//! 1. x = first 16 bytes (big endian) of H(election, seed, height, k);
//! 2. t = x mod (power left); the bias of the modulo is below 2^-60;
//! 3. the first validator left, in order of id, whose cumulative power exceeds t gets rank k.

use crate::hash::{Domain, hash};
use crate::ids::ValidatorId;
use crate::validator::ValidatorSet;

/// All validators of `set`, the elected proposer of `height` first.
pub fn ranking(seed: &[u8; 32], height: u64, set: &ValidatorSet) -> Vec<ValidatorId> {
    let mut left: Vec<(ValidatorId, u64)> = set.members().iter().map(|v| (v.id, v.power)).collect();
    let mut ranks = Vec::with_capacity(left.len());
    let mut power_left = set.total_power();
    let mut step = 0u32;
    while !left.is_empty() {
        let draw = hash(
            Domain::Election,
            &[seed, &height.to_be_bytes(), &step.to_be_bytes()],
        );
        let mut wide = [0u8; 16];
        wide.copy_from_slice(&draw[..16]);
        let mut ticket = u128::from_be_bytes(wide) % u128::from(power_left);
        let winner = left
            .iter()
            .position(|(_, power)| match ticket.checked_sub(u128::from(*power)) {
                Some(rest) => {
                    ticket = rest;
                    false
                }
                None => true,
            })
            .expect("a ticket below the power left falls to somebody");
        let (id, power) = left.remove(winner);
        power_left -= power;
        ranks.push(id);
        step += 1;
    }
    ranks
}

/// The proposer of consensus round `round` of `height`.
pub fn proposer(seed: &[u8; 32], height: u64, round: u32, set: &ValidatorSet) -> ValidatorId {
    let ranks = ranking(seed, height, set);
    ranks[round as usize % ranks.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::AccountId;
    use crate::keys::SecretKey;
    use crate::validator::{Validator, validator_id};
    use std::collections::{BTreeMap, BTreeSet};

    fn set(powers: &[u64]) -> ValidatorSet {
        let member = |(i, power): (usize, &u64)| {
            let key = SecretKey::from_seed(&[i as u8 + 1; 32]).public();
            Validator {
                id: validator_id(&key),
                key,
                node: key,
                account: AccountId::default(),
                power: *power,
            }
        };
        ValidatorSet::new(powers.iter().enumerate().map(member).collect()).unwrap()
    }

    #[test]
    fn a_ranking_is_a_permutation_that_depends_on_seed_and_height() {
        let set = set(&[1, 2, 3, 4, 5]);
        let first = ranking(&[1; 32], 1, &set);
        assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 5);
        assert_eq!(first, ranking(&[1; 32], 1, &set));
        let different: BTreeSet<_> = (0..50).map(|h| ranking(&[1; 32], h, &set)).collect();
        assert!(different.len() > 20);
        assert_eq!(proposer(&[1; 32], 1, 7, &set), first[2]);
    }

    #[test]
    fn first_ranks_follow_power() {
        let set = set(&[1, 3]);
        let mut firsts = BTreeMap::new();
        for height in 0..4_000 {
            *firsts
                .entry(ranking(&[9; 32], height, &set)[0])
                .or_insert(0u32) += 1;
        }
        let heavy = set.members().iter().find(|v| v.power == 3).unwrap().id;
        // Mean 3,000, standard deviation 27: ten deviations either way.
        assert!((2_730..=3_270).contains(&firsts[&heavy]), "{firsts:?}");
    }
}
