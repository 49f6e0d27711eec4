//! Validators: the members whose votes make a block final.

use crate::codec;
use crate::hash::{Domain, hash};
use crate::ids::{AccountId, Hash32, ValidatorId};
use crate::keys::PublicKey;
use crate::limits;
use serde::{Deserialize, Serialize};

/// One validator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Validator {
    /// Hash of the consensus key.
    pub id: ValidatorId,
    /// Consensus key.
    pub key: PublicKey,
    /// Transport key of its node.
    pub node: PublicKey,
    /// Its institution's account.
    pub account: AccountId,
    /// Voting power, 1 to 2^32.
    pub power: u64,
}

/// Id of the validator with a consensus key.
pub fn validator_id(key: &PublicKey) -> ValidatorId {
    ValidatorId(hash(Domain::Validator, &[key.as_bytes()]))
}

/// The validators of a height, ascending by id. One that exists is legal, decoded ones too, so
/// sums of power cannot overflow and an election always has a winner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Validator>")]
pub struct ValidatorSet(Vec<Validator>);

/// A decoded list that breaks the rules of [`ValidatorSet::new`] or is out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a legal set of validators")]
pub struct IllegalSet;

impl TryFrom<Vec<Validator>> for ValidatorSet {
    type Error = IllegalSet;
    fn try_from(members: Vec<Validator>) -> Result<ValidatorSet, IllegalSet> {
        let set = ValidatorSet(members);
        if set.is_valid() {
            Ok(set)
        } else {
            Err(IllegalSet)
        }
    }
}

impl ValidatorSet {
    /// A set of 1 to [`limits::VALIDATORS`] validators; `None` if ids repeat, do not match their
    /// keys, or a power is out of range.
    pub fn new(mut members: Vec<Validator>) -> Option<ValidatorSet> {
        members.sort_by_key(|v| v.id);
        let set = ValidatorSet(members);
        set.is_valid().then_some(set)
    }
    fn is_valid(&self) -> bool {
        (1..=limits::VALIDATORS).contains(&self.0.len())
            && self.0.windows(2).all(|w| w[0].id < w[1].id)
            && self
                .0
                .iter()
                .all(|v| (1..=1 << 32).contains(&v.power) && v.id == validator_id(&v.key))
    }
    /// Members in order.
    pub fn members(&self) -> &[Validator] {
        &self.0
    }
    /// The member with an id.
    pub fn get(&self, id: &ValidatorId) -> Option<&Validator> {
        self.0
            .binary_search_by_key(id, |v| v.id)
            .ok()
            .and_then(|i| self.0.get(i))
    }
    /// Sum of the voting power.
    pub fn total_power(&self) -> u64 {
        self.0.iter().map(|v| v.power).sum()
    }
    /// Whether `power` is more than two thirds of the whole.
    pub fn is_quorum(&self, power: u64) -> bool {
        u128::from(power) * 3 > u128::from(self.total_power()) * 2
    }
    /// Whether `power` is more than a third of the whole: some of it is honest where less than a
    /// third lies.
    pub fn has_an_honest_one(&self, power: u64) -> bool {
        u128::from(power) * 3 > u128::from(self.total_power())
    }
    /// Hash carried by headers.
    pub fn hash(&self) -> Hash32 {
        Hash32(hash(Domain::ValidatorSet, &[&codec::encode(self)]))
    }
}
