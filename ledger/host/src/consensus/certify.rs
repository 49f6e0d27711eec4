//! Checks of signatures and certificates that the core asks for, each signature checked once.

// The core fixes the type of the error.
#![allow(clippy::result_large_err)]

use super::context::{Core, CoreAddress, CoreSet, CoreVote};
use super::convert;
use arc_malachitebft_core_types::{
    CertificateError, CommitCertificate, CommitSignature, Context as _, NilOrVal, PolkaCertificate,
    PolkaSignature, RoundCertificate, RoundCertificateType, RoundSignature, ThresholdParam,
    ThresholdParams, ValidatorSet as _, VoteType,
};
use gridbay_protocol::codec;
use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::keys::{PublicKey, Signature};
use std::collections::BTreeSet;

/// Signatures remembered as right; a height with fewer than ten rounds of 64 validators needs
/// fewer.
const REMEMBERED: usize = 4_096;

/// Checks signatures, and remembers for the length of a height which were right.
#[derive(Debug)]
pub(super) struct Checker {
    network: NetworkId,
    right: BTreeSet<[u8; 32]>,
}

impl Checker {
    pub(super) fn new(network: NetworkId) -> Checker {
        Checker {
            network,
            right: BTreeSet::new(),
        }
    }
    fn name(domain: Domain, key: &PublicKey, body: &[u8], signature: &Signature) -> [u8; 32] {
        hash(domain, &[key.as_bytes(), body, &signature.0])
    }
    /// Remembers a signature that this node just made.
    pub(super) fn vouch(&mut self, domain: Domain, key: &PublicKey, body: &[u8], sig: &Signature) {
        if self.right.len() >= REMEMBERED {
            self.right.clear();
        }
        self.right.insert(Checker::name(domain, key, body, sig));
    }
    /// Whether a signature is right.
    pub(super) fn check(
        &mut self,
        domain: Domain,
        key: &PublicKey,
        body: &[u8],
        sig: &Signature,
    ) -> bool {
        if self.right.contains(&Checker::name(domain, key, body, sig)) {
            return true;
        }
        let right = key.verify(domain, &self.network, body, sig).is_ok();
        if right {
            self.vouch(domain, key, body, sig);
        }
        right
    }
    fn tally(
        &mut self,
        set: &CoreSet,
        votes: impl Iterator<Item = (CoreVote, Signature)>,
        threshold: ThresholdParam,
        wrong: impl Fn(CoreAddress, Signature) -> CertificateError<Core>,
    ) -> Result<(), CertificateError<Core>> {
        let mut seen = BTreeSet::new();
        let mut signed = 0u64;
        for (vote, signature) in votes {
            let address = vote.address;
            if !seen.insert(address) {
                return Err(CertificateError::DuplicateVote(address));
            }
            let validator = set
                .get_by_address(&address)
                .ok_or(CertificateError::UnknownValidator(address))?;
            let bytes = codec::encode(&convert::vote_out(&vote));
            if !self.check(Domain::Vote, &validator.key, &bytes, &signature) {
                return Err(wrong(address, signature));
            }
            signed = signed.saturating_add(validator.power);
        }
        let total = set.total_voting_power();
        if threshold.is_met(signed, total) {
            return Ok(());
        }
        Err(CertificateError::NotEnoughVotingPower {
            signed,
            total,
            expected: threshold.min_expected(total),
        })
    }
    pub(super) fn commit(
        &mut self,
        certificate: &CommitCertificate<Core>,
        set: &CoreSet,
        thresholds: ThresholdParams,
    ) -> Result<(), CertificateError<Core>> {
        let value = NilOrVal::Val(certificate.value_id);
        let (height, round) = (certificate.height, certificate.round);
        let votes = certificate.commit_signatures.iter().map(|s| {
            let vote = Core.new_precommit(height, round, value, s.address);
            (vote, s.signature)
        });
        self.tally(set, votes, thresholds.quorum, |address, signature| {
            CertificateError::InvalidCommitSignature(CommitSignature::new(address, signature))
        })
    }
    pub(super) fn polka(
        &mut self,
        certificate: &PolkaCertificate<Core>,
        set: &CoreSet,
        thresholds: ThresholdParams,
    ) -> Result<(), CertificateError<Core>> {
        let votes = certificate.votes(&Core).map(|v| (v.message, v.signature));
        self.tally(set, votes, thresholds.quorum, |address, signature| {
            CertificateError::InvalidPolkaSignature(PolkaSignature::new(address, signature))
        })
    }
    pub(super) fn round(
        &mut self,
        certificate: &RoundCertificate<Core>,
        set: &CoreSet,
        thresholds: ThresholdParams,
    ) -> Result<(), CertificateError<Core>> {
        let threshold = match certificate.cert_type {
            RoundCertificateType::Precommit => thresholds.quorum,
            RoundCertificateType::Skip => thresholds.honest,
        };
        if certificate.cert_type == RoundCertificateType::Precommit {
            let prevote = |s: &&RoundSignature<Core>| s.vote_type == VoteType::Prevote;
            if let Some(s) = certificate.round_signatures.iter().find(prevote) {
                return Err(CertificateError::InvalidVoteType(s.address));
            }
        }
        let votes = certificate.votes(&Core).map(|v| (v.message, v.signature));
        self.tally(set, votes, threshold, |address, signature| {
            let (kind, value) = (VoteType::Precommit, NilOrVal::Nil);
            let wrong = RoundSignature::new(kind, value, address, signature);
            CertificateError::InvalidRoundSignature(wrong)
        })
    }
}
