//! Blocks and the signed statements around them, by four validators.

use super::{NETWORK, entry, key};
use gridbay_protocol::block::{Block, Header};
use gridbay_protocol::codec;
use gridbay_protocol::evidence::Evidence;
use gridbay_protocol::genesis::{FORMAT, RULES};
use gridbay_protocol::hash::Domain;
use gridbay_protocol::ids::{AccountId, BlockId, ClassId, Hash32, OfferId, OrderId, ValidatorId};
use gridbay_protocol::keys::{SecretKey, Signature};
use gridbay_protocol::record::reservation::hint::{Hint, Placed, UnitRun};
use gridbay_protocol::validator::{Validator, ValidatorSet, validator_id};
use gridbay_protocol::vote::{Certificate, CertificateSignature, Proposal, Vote, VoteKind};

/// Seeds and powers of the validators.
const VALIDATORS: [(u8, u64); 4] = [(60, 10), (61, 10), (62, 10), (63, 11)];

/// The set.
pub(crate) fn validators() -> ValidatorSet {
    let member = |(seed, power): (u8, u64)| Validator {
        id: validator_id(&key(seed).public()),
        key: key(seed).public(),
        node: key(seed + 10).public(),
        account: AccountId([seed; 32]),
        power,
    };
    let members = VALIDATORS.map(member).to_vec();
    ValidatorSet::new(members).expect("the sample set is legal")
}
/// The consensus key of a member.
pub(crate) fn key_of(id: &ValidatorId) -> SecretKey {
    VALIDATORS
        .iter()
        .map(|(seed, _)| key(*seed))
        .find(|key| validator_id(&key.public()) == *id)
        .expect("a member of the sample set")
}
/// The set's n-th member.
pub(crate) fn member(n: usize) -> ValidatorId {
    validators().members()[n].id
}

/// A vote with the voter's signature.
pub(crate) fn signed_vote(vote: Vote) -> (Vote, Signature) {
    let key = key_of(&vote.validator);
    (
        vote,
        key.sign(Domain::Vote, &NETWORK, &codec::encode(&vote)),
    )
}
/// A prevote of the first member.
pub(crate) fn vote(block: Option<BlockId>) -> Vote {
    Vote {
        kind: VoteKind::Prevote,
        height: 1_200,
        round: 1,
        block,
        validator: member(0),
    }
}
/// A proposal.
pub(crate) fn proposal(valid_round: Option<u32>) -> Proposal {
    Proposal {
        height: 1_200,
        round: 2,
        block: BlockId([0xb1; 32]),
        valid_round,
        validator: member(1),
    }
}
/// A certificate signed by all but the first.
pub(crate) fn certificate() -> Certificate {
    let mut certificate = Certificate {
        height: 1_199,
        round: 0,
        block: BlockId([0xb0; 32]),
        signatures: vec![],
    };
    let ids: Vec<_> = validators().members().iter().map(|v| v.id).collect();
    certificate.signatures = ids[1..]
        .iter()
        .map(|id| CertificateSignature {
            validator: *id,
            signature: signed_vote(certificate.vote(*id)).1,
        })
        .collect();
    certificate
}
/// The first member prevoted nil and a block.
pub(crate) fn evidence() -> Evidence {
    Evidence::new(
        signed_vote(vote(Some(BlockId([0xb1; 32])))),
        signed_vote(vote(None)),
    )
}
/// Two reservations, one with two groups of units and a channel.
pub(crate) fn hint() -> Hint {
    let run = |offer, first, units| UnitRun {
        offer: OfferId([offer; 32]),
        first,
        units,
    };
    let placed = |order, start, groups, channel| Placed {
        order: OrderId([order; 32]),
        start,
        groups,
        channel,
    };
    Hint {
        class: ClassId([0xc1; 32]),
        placements: vec![
            placed(
                0x0d,
                1_500,
                vec![vec![run(1, 0, 2)], vec![run(1, 3, 1), run(2, 0, 2)]],
                Some(2),
            ),
            placed(0x0e, 1_503, vec![vec![run(2, 4_000, 256)]], None),
        ],
    }
}
/// A header.
pub(crate) fn header() -> Header {
    Header {
        format: FORMAT,
        rules: RULES,
        network: NETWORK,
        height: 1_200,
        time_ms: 1_750_000_300_000,
        parent: BlockId([0xb0; 32]),
        proposer: member(2),
        entries_root: Hash32([1; 32]),
        effects_root: Hash32([2; 32]),
        state_root: Hash32([3; 32]),
        validators: validators().hash(),
        next_validators: validators().hash(),
        log_root: Hash32([4; 32]),
        last_commit: certificate().hash(),
        beacon_reveal: Hash32([5; 32]),
        evidence_root: Hash32([6; 32]),
        hints_root: Hash32([7; 32]),
    }
}
/// The first block of a network: nothing in it.
pub(crate) fn first() -> Block {
    Block {
        header: Header {
            height: 1,
            parent: BlockId::default(),
            last_commit: Hash32::default(),
            ..header()
        },
        entries: vec![],
        last_commit: None,
        evidence: vec![],
        hints: vec![],
    }
}
/// A block with something in every part.
pub(crate) fn full() -> Block {
    let entries = entry::all().into_iter().map(|(_, entry)| entry);
    Block {
        header: header(),
        entries: entries.step_by(5).collect(),
        last_commit: Some(certificate()),
        evidence: vec![evidence()],
        hints: vec![hint()],
    }
}
