//! Conversion between the protocol's statements and the core's.

use super::context::{Core, CoreAddress, CoreHeight, CoreProposal, CoreValue, CoreVote};
use crate::message::{Polka, RoundProof, RoundProofKind, RoundVote, SignedProposal, SignedVote};
use arc_malachitebft_core_types::{
    CommitCertificate, NilOrVal, PolkaCertificate, PolkaSignature, Round, RoundCertificate,
    RoundCertificateType, RoundSignature, SignedMessage, VoteType,
};
use gridbay_protocol::ids::BlockId;
use gridbay_protocol::vote::{Certificate, CertificateSignature, Proposal, Vote, VoteKind};

fn block_or_nil(block: Option<BlockId>) -> NilOrVal<BlockId> {
    block.map_or(NilOrVal::Nil, NilOrVal::Val)
}

fn block(value: &NilOrVal<BlockId>) -> Option<BlockId> {
    match value {
        NilOrVal::Nil => None,
        NilOrVal::Val(id) => Some(*id),
    }
}

fn kind(kind: VoteKind) -> VoteType {
    match kind {
        VoteKind::Prevote => VoteType::Prevote,
        VoteKind::Precommit => VoteType::Precommit,
    }
}

fn kind_out(kind: VoteType) -> VoteKind {
    match kind {
        VoteType::Prevote => VoteKind::Prevote,
        VoteType::Precommit => VoteKind::Precommit,
    }
}

/// A round that the core has entered.
pub(super) fn round_out(round: Round) -> u32 {
    round.as_u32().unwrap_or(0)
}

pub(super) fn vote_out(vote: &CoreVote) -> Vote {
    Vote {
        kind: kind_out(vote.kind),
        height: vote.height.0,
        round: round_out(vote.round),
        block: block(&vote.value),
        validator: vote.address.0,
    }
}

fn vote_in(vote: &Vote) -> CoreVote {
    CoreVote {
        kind: kind(vote.kind),
        height: CoreHeight(vote.height),
        round: Round::new(vote.round),
        value: block_or_nil(vote.block),
        address: CoreAddress(vote.validator),
    }
}

pub(super) fn signed_vote_in(signed: &SignedVote) -> SignedMessage<Core, CoreVote> {
    SignedMessage::new(vote_in(&signed.vote), signed.signature)
}

pub(super) fn signed_vote_out(signed: &SignedMessage<Core, CoreVote>) -> SignedVote {
    SignedVote {
        vote: vote_out(&signed.message),
        signature: signed.signature,
    }
}

pub(super) fn proposal_out(proposal: &CoreProposal) -> Proposal {
    Proposal {
        height: proposal.height.0,
        round: round_out(proposal.round),
        block: proposal.value.0,
        valid_round: proposal.pol_round.as_u32(),
        validator: proposal.address.0,
    }
}

pub(super) fn signed_proposal_in(signed: &SignedProposal) -> SignedMessage<Core, CoreProposal> {
    let proposal = &signed.proposal;
    let core = CoreProposal {
        height: CoreHeight(proposal.height),
        round: Round::new(proposal.round),
        value: CoreValue(proposal.block),
        pol_round: Round::from(proposal.valid_round),
        address: CoreAddress(proposal.validator),
    };
    SignedMessage::new(core, signed.signature)
}

pub(super) fn signed_proposal_out(signed: &SignedMessage<Core, CoreProposal>) -> SignedProposal {
    SignedProposal {
        proposal: proposal_out(&signed.message),
        signature: signed.signature,
    }
}

pub(super) fn polka_in(polka: &Polka) -> PolkaCertificate<Core> {
    PolkaCertificate {
        height: CoreHeight(polka.height),
        round: Round::new(polka.round),
        value_id: polka.block,
        polka_signatures: polka
            .signatures
            .iter()
            .map(|s| PolkaSignature::new(CoreAddress(s.validator), s.signature))
            .collect(),
    }
}

pub(super) fn polka_out(polka: &PolkaCertificate<Core>) -> Polka {
    Polka {
        height: polka.height.0,
        round: round_out(polka.round),
        block: polka.value_id,
        signatures: polka
            .polka_signatures
            .iter()
            .map(|s| CertificateSignature {
                validator: s.address.0,
                signature: s.signature,
            })
            .collect(),
    }
}

pub(super) fn round_in(proof: &RoundProof) -> RoundCertificate<Core> {
    RoundCertificate {
        height: CoreHeight(proof.height),
        round: Round::new(proof.round),
        cert_type: match proof.kind {
            RoundProofKind::Skip => RoundCertificateType::Skip,
            RoundProofKind::Precommits => RoundCertificateType::Precommit,
        },
        round_signatures: proof
            .votes
            .iter()
            .map(|v| {
                let (kind, value) = (kind(v.kind), block_or_nil(v.block));
                RoundSignature::new(kind, value, CoreAddress(v.validator), v.signature)
            })
            .collect(),
    }
}

pub(super) fn round_proof_out(certificate: &RoundCertificate<Core>) -> RoundProof {
    RoundProof {
        height: certificate.height.0,
        round: round_out(certificate.round),
        kind: match certificate.cert_type {
            RoundCertificateType::Skip => RoundProofKind::Skip,
            RoundCertificateType::Precommit => RoundProofKind::Precommits,
        },
        votes: certificate
            .round_signatures
            .iter()
            .map(|s| RoundVote {
                kind: kind_out(s.vote_type),
                block: block(&s.value_id),
                validator: s.address.0,
                signature: s.signature,
            })
            .collect(),
    }
}

/// The core's certificate, its signatures in the protocol's order.
pub(super) fn certificate_out(certificate: &CommitCertificate<Core>) -> Certificate {
    let mut signatures: Vec<CertificateSignature> = certificate
        .commit_signatures
        .iter()
        .map(|s| CertificateSignature {
            validator: s.address.0,
            signature: s.signature,
        })
        .collect();
    signatures.sort_by_key(|s| s.validator);
    Certificate {
        height: certificate.height.0,
        round: round_out(certificate.round),
        block: certificate.value_id,
        signatures,
    }
}
