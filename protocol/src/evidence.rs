//! Evidence of equivocation: two signed votes that cannot both be honest.

use crate::codec;
use crate::hash::Domain;
use crate::ids::NetworkId;
use crate::keys::Signature;
use crate::validator::ValidatorSet;
use crate::vote::Vote;
use serde::{Deserialize, Serialize};

/// Two different votes of one validator for one height, round and step, the one for the smaller
/// block (nil first) before the other: one deed is one piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// One vote.
    pub first: Vote,
    /// Its signature.
    pub first_signature: Signature,
    /// The other vote.
    pub second: Vote,
    /// Its signature.
    pub second_signature: Signature,
}

impl Evidence {
    /// Evidence of two signed votes, put in order. Whether it convicts is not checked.
    pub fn new(one: (Vote, Signature), other: (Vote, Signature)) -> Evidence {
        let (first, second) = if one.0.block <= other.0.block {
            (one, other)
        } else {
            (other, one)
        };
        Evidence {
            first: first.0,
            first_signature: first.1,
            second: second.0,
            second_signature: second.1,
        }
    }
    /// Whether it convicts a member of `set`, the validators of its height.
    pub fn convicts(&self, network: &NetworkId, set: &ValidatorSet) -> bool {
        let (a, b) = (&self.first, &self.second);
        let same_step =
            (a.kind, a.height, a.round, a.validator) == (b.kind, b.height, b.round, b.validator);
        let Some(member) = set.get(&a.validator) else {
            return false;
        };
        let signed = |vote: &Vote, signature| {
            member
                .key
                .verify(Domain::Vote, network, &codec::encode(vote), signature)
                .is_ok()
        };
        same_step
            && a.block < b.block
            && signed(a, &self.first_signature)
            && signed(b, &self.second_signature)
    }
}
