//! Votes, proposals and certificates: the signed statements of consensus.
//!
//! A [`Certificate`] is a proof for strangers: with the validator set of its height and nothing
//! else, [`Certificate::verify`] decides whether a block is final.

use crate::codec;
use crate::hash::{Domain, hash};
use crate::ids::{BlockId, Hash32, NetworkId, ValidatorId};
use crate::keys::Signature;
use crate::limits;
use crate::validator::ValidatorSet;
use serde::{Deserialize, Serialize};

/// The two steps of voting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VoteKind {
    /// First step.
    Prevote,
    /// Second step; a quorum of these decides.
    Precommit,
}

/// A vote for a block, or for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vote {
    /// Step.
    pub kind: VoteKind,
    /// Height.
    pub height: u64,
    /// Round of consensus within the height (not a market round).
    pub round: u32,
    /// The block, or nil.
    pub block: Option<BlockId>,
    /// The voter.
    pub validator: ValidatorId,
}

/// A proposal of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    /// Height.
    pub height: u64,
    /// Round of consensus within the height.
    pub round: u32,
    /// The block.
    pub block: BlockId,
    /// Round in which the block already had a quorum of prevotes, if any.
    pub valid_round: Option<u32>,
    /// The proposer.
    pub validator: ValidatorId,
}

/// One signature of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertificateSignature {
    /// The validator that precommitted.
    pub validator: ValidatorId,
    /// Over the [`Vote`] that the certificate implies.
    pub signature: Signature,
}

/// Precommits of more than two thirds of the voting power for one block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Height.
    pub height: u64,
    /// Round of consensus in which it was decided.
    pub round: u32,
    /// The block.
    pub block: BlockId,
    /// Signatures, ascending by validator.
    pub signatures: Vec<CertificateSignature>,
}

/// Why a certificate proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// Too many signatures, or not in ascending order.
    #[error("signatures of height {height} are not an ascending list of validators")]
    Order {
        /// Height of the certificate.
        height: u64,
    },
    /// Signed by someone who is no validator.
    #[error("{validator} is no validator at height {height}")]
    Stranger {
        /// Who.
        validator: ValidatorId,
        /// Height of the certificate.
        height: u64,
    },
    /// A signature that does not verify.
    #[error("wrong signature of {validator} at height {height}")]
    WrongSignature {
        /// Whose.
        validator: ValidatorId,
        /// Height of the certificate.
        height: u64,
    },
    /// Not more than two thirds of the power.
    #[error("power {signed} of {total} is no quorum at height {height}")]
    NoQuorum {
        /// Power that signed.
        signed: u64,
        /// Power of the whole set.
        total: u64,
        /// Height of the certificate.
        height: u64,
    },
}

impl Certificate {
    /// The vote that each signature covers.
    pub fn vote(&self, validator: ValidatorId) -> Vote {
        Vote {
            kind: VoteKind::Precommit,
            height: self.height,
            round: self.round,
            block: Some(self.block),
            validator,
        }
    }
    /// Checks order, membership, every signature and the quorum.
    pub fn verify(&self, network: &NetworkId, set: &ValidatorSet) -> Result<(), CertificateError> {
        let height = self.height;
        let ascending = self
            .signatures
            .windows(2)
            .all(|w| w[0].validator < w[1].validator);
        if !ascending || self.signatures.len() > limits::VALIDATORS {
            return Err(CertificateError::Order { height });
        }
        let mut signed = 0u64;
        for entry in &self.signatures {
            let validator = entry.validator;
            let member = set
                .get(&validator)
                .ok_or(CertificateError::Stranger { validator, height })?;
            let bytes = codec::encode(&self.vote(validator));
            let key = &member.key;
            let right = key.verify(Domain::Vote, network, &bytes, &entry.signature);
            if right.is_err() {
                return Err(CertificateError::WrongSignature { validator, height });
            }
            signed += member.power;
        }
        if set.is_quorum(signed) {
            Ok(())
        } else {
            Err(CertificateError::NoQuorum {
                signed,
                total: set.total_power(),
                height,
            })
        }
    }
    /// Hash carried by the next header.
    pub fn hash(&self) -> Hash32 {
        Hash32(hash(Domain::Certificate, &[&codec::encode(self)]))
    }
}
