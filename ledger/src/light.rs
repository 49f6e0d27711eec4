//! Checks for a stranger that has the genesis and nothing else.
//!
//! 1. A [`Follower`] goes from block to block by headers and certificates. Each header names its
//!    parent, the validators of its height and those of the next; each certificate carries
//!    signatures of more than two thirds of their power.
//! 2. Below a followed header, [`effect`] proves a payment or a clearing, [`record`] a balance or
//!    its absence, [`entry`] an inclusion, and [`ancestor`] any earlier block.

use crate::checked;
use crate::log::{InclusionProof, LogProofError};
use crate::roots;
use crate::tree::{Proof, ProofError};
use gridbay_protocol::block::Header;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::genesis::{FORMAT, Genesis, RULES};
use gridbay_protocol::ids::{BlockId, EntryId, NetworkId};
use gridbay_protocol::validator::ValidatorSet;
use gridbay_protocol::vote::{Certificate, CertificateError};
use serde::Serialize;

/// Why a header does not follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFollowing {
    /// Of another network, format or rules.
    #[error("header {0} is of another network, format or rules")]
    Foreign(BlockId),
    /// Not the next height, or not a child of the last header.
    #[error("header {found} of height {height} is no child of the last one")]
    NotAChild {
        /// The header.
        found: BlockId,
        /// Its height.
        height: u64,
    },
    /// Validators other than announced.
    #[error("header {0} names other validators")]
    Validators(BlockId),
    /// The certificate is for another block.
    #[error("the certificate is not of header {0}")]
    OtherBlock(BlockId),
    /// The certificate proves nothing.
    #[error("certificate")]
    Certificate(#[from] CertificateError),
}

/// Follows the chain of headers.
#[derive(Clone, Debug)]
pub struct Follower {
    network: NetworkId,
    validators: ValidatorSet,
    height: u64,
    tip: BlockId,
    header: Option<Header>,
}

impl Follower {
    /// Starts at the genesis; `None` if it has no legal validators.
    pub fn new(genesis: &Genesis) -> Option<Follower> {
        Some(Follower {
            network: genesis.network(),
            validators: genesis.validators()?,
            height: 0,
            tip: BlockId::default(),
            header: None,
        })
    }
    /// Height reached.
    pub fn height(&self) -> u64 {
        self.height
    }
    /// The last header that was proved final.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }
    /// Takes the next header if its certificate proves it final.
    ///
    /// # Errors
    /// Why it does not; the follower stays where it is.
    pub fn follow(&mut self, header: &Header, proof: &Certificate) -> Result<(), NotFollowing> {
        let id = header.id();
        if (header.format, header.rules, header.network) != (FORMAT, RULES, self.network) {
            return Err(NotFollowing::Foreign(id));
        }
        if header.height != self.height + 1 || header.parent != self.tip {
            return Err(NotFollowing::NotAChild {
                found: id,
                height: header.height,
            });
        }
        let validators = self.validators.hash();
        // The set does not change under these rules, so the next one is known without asking.
        if header.validators != validators || header.next_validators != validators {
            return Err(NotFollowing::Validators(id));
        }
        if (proof.height, proof.block) != (header.height, id) {
            return Err(NotFollowing::OtherBlock(id));
        }
        proof.verify(&self.network, &self.validators)?;
        self.height = header.height;
        self.tip = id;
        self.header = Some(header.clone());
        Ok(())
    }
}

/// Checks that the block of `header` had this effect, as number `index` of `count`.
///
/// # Errors
/// The proof leads elsewhere.
pub fn effect(
    header: &Header,
    effect: &Effect,
    index: u64,
    count: u64,
    proof: &InclusionProof,
) -> Result<(), LogProofError> {
    proof.verify(&header.effects_root.0, count, index, &effect.leaf())
}

/// Checks that the block of `header` holds an entry, as number `index` of `count`.
///
/// # Errors
/// The proof leads elsewhere.
pub fn entry(
    header: &Header,
    id: &EntryId,
    index: u64,
    count: u64,
    proof: &InclusionProof,
) -> Result<(), LogProofError> {
    proof.verify(&header.entries_root.0, count, index, &id.0)
}

/// Checks that `block` is the ancestor of `header` at `height`, which is at least 1 and below the
/// header's.
///
/// # Errors
/// The proof leads elsewhere.
pub fn ancestor(
    header: &Header,
    block: &BlockId,
    height: u64,
    proof: &InclusionProof,
) -> Result<(), LogProofError> {
    let size = header.height.saturating_sub(1);
    let index = height.checked_sub(1);
    let index = index.ok_or(LogProofError::Index { index: 0, size })?;
    proof.verify(&header.log_root.0, size, index, &block.0)
}

/// Checks that after the block of `header` the record `id` of a table (see [`crate::record_key`])
/// is `record`, or that there is none.
///
/// # Errors
/// The proof shows something else.
pub fn record<K: Serialize, R: Serialize>(
    header: &Header,
    table: &str,
    id: &K,
    record: Option<&R>,
    proof: &Proof,
) -> Result<(), ProofError> {
    let key = roots::record_key(table, id);
    let value = record.map(roots::record_value);
    proof.verify(&header.state_root.0, &key, value.as_ref())
}

/// Whether `certificate` is the one that `header` carries for its parent.
pub fn carries(header: &Header, certificate: &Certificate) -> bool {
    header.last_commit == checked::commit_hash(Some(certificate))
}
