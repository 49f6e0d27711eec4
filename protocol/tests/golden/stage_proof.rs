//! Certificates and evidence: what proves a block final, what proves a validator guilty, and what
//! does neither.

use crate::samples::block::{self, certificate, key_of, member, signed_vote, validators, vote};
use crate::samples::{NETWORK, entry, key};
use gridbay_protocol::block::{BLOCK_EVIDENCE, Block, BlockError};
use gridbay_protocol::codec::{self, CodecError};
use gridbay_protocol::evidence::Evidence;
use gridbay_protocol::hash::Domain;
use gridbay_protocol::ids::{BlockId, NetworkId, ValidatorId};
use gridbay_protocol::limits;
use gridbay_protocol::validator::{Validator, ValidatorSet, validator_id};
use gridbay_protocol::vote::{Certificate, CertificateError, Vote, VoteKind};

const OTHER: NetworkId = NetworkId([0x22; 32]);

#[test]
fn a_certificate_proves_its_block_and_nothing_else() {
    let (set, good) = (validators(), certificate());
    assert_eq!(good.verify(&NETWORK, &set), Ok(()));
    let first = good.signatures[0].validator;
    let wrong = CertificateError::WrongSignature {
        validator: first,
        height: good.height,
    };
    assert_eq!(good.verify(&OTHER, &set), Err(wrong));

    type Damage = fn(&mut Certificate);
    let unsigned: [(&str, Damage); 6] = [
        ("another round", |c| c.round += 1),
        ("another block", |c| c.block = BlockId([0xb9; 32])),
        ("a flipped bit", |c| c.signatures[0].signature.0[5] ^= 4),
        ("a neighbour's signature", |c| {
            c.signatures[0].signature = c.signatures[1].signature;
        }),
        ("a prevote", |c| {
            let mut vote = c.vote(c.signatures[0].validator);
            vote.kind = VoteKind::Prevote;
            c.signatures[0].signature = signed_vote(vote).1;
        }),
        ("a vote for nil", |c| {
            let mut vote = c.vote(c.signatures[0].validator);
            vote.block = None;
            c.signatures[0].signature = signed_vote(vote).1;
        }),
    ];
    for (case, damage) in unsigned {
        let mut bad = good.clone();
        damage(&mut bad);
        assert_eq!(bad.verify(&NETWORK, &set), Err(wrong), "{case}");
    }
    let mut later = good.clone();
    later.height += 1;
    let refused = later.verify(&NETWORK, &set);
    assert!(matches!(
        refused,
        Err(CertificateError::WrongSignature { height: 1_200, .. })
    ));
    // The same statement under another domain.
    let mut proposed = good.clone();
    let body = codec::encode(&good.vote(first));
    proposed.signatures[0].signature = key_of(&first).sign(Domain::Proposal, &NETWORK, &body);
    assert_eq!(proposed.verify(&NETWORK, &set), Err(wrong));
}

#[test]
fn signers_are_an_ascending_list_of_members_with_a_quorum() {
    let (set, good) = (validators(), certificate());
    let height = good.height;
    let order = Err(CertificateError::Order { height });

    let mut swapped = good.clone();
    swapped.signatures.swap(0, 1);
    assert_eq!(swapped.verify(&NETWORK, &set), order);
    let mut twice = good.clone();
    twice.signatures[1] = twice.signatures[0];
    assert_eq!(twice.verify(&NETWORK, &set), order, "power counts once");
    let mut many = good.clone();
    many.signatures = (0..=limits::VALIDATORS as u8)
        .map(|n| {
            let mut signature = good.signatures[0];
            signature.validator = ValidatorId([n; 32]);
            signature
        })
        .collect();
    assert_eq!(many.verify(&NETWORK, &set), order);

    let validator = ValidatorId([0xff; 32]);
    let mut stranger = good.clone();
    stranger.signatures[2].validator = validator;
    let refused = CertificateError::Stranger { validator, height };
    assert_eq!(stranger.verify(&NETWORK, &set), Err(refused));

    for kept in 0..=2 {
        let mut few = good.clone();
        few.signatures.truncate(kept);
        let power = |c: &Certificate| -> u64 {
            let ids = c.signatures.iter().map(|s| &s.validator);
            ids.map(|id| set.get(id).expect("a member").power).sum()
        };
        let refused = CertificateError::NoQuorum {
            signed: power(&few),
            total: 41,
            height,
        };
        assert_eq!(few.verify(&NETWORK, &set), Err(refused));
    }
}

#[test]
fn exactly_two_thirds_are_no_quorum() {
    let member = |seed: u8| Validator {
        power: 1 << 32,
        ..validator(seed)
    };
    let set = ValidatorSet::new((1..=3).map(member).collect()).unwrap();
    assert!(!set.is_quorum(2 << 32));
    assert!(set.is_quorum((2 << 32) + 1));
}

fn validator(seed: u8) -> Validator {
    let key = key(seed).public();
    Validator {
        id: validator_id(&key),
        key,
        node: key,
        account: entry::ACCOUNT,
        power: 1,
    }
}

#[test]
fn an_illegal_set_cannot_be_decoded() {
    let sorted = |n: u8| {
        let mut members: Vec<_> = (1..=n).map(validator).collect();
        members.sort_by_key(|v| v.id);
        members
    };
    let decode = |members: &Vec<Validator>| {
        codec::decode::<ValidatorSet>(&codec::encode(members), limits::BLOCK_BYTES)
    };
    assert_eq!(decode(&sorted(64)).map(|s| s.total_power()), Ok(64));
    type Damage = fn(&mut Vec<Validator>);
    let cases: [(&str, Damage); 6] = [
        ("empty", Vec::clear),
        ("out of order", |m| m.swap(0, 1)),
        ("repeated", |m| m[1] = m[0].clone()),
        ("no power", |m| m[0].power = 0),
        ("powers that overflow", |m| {
            m.iter_mut().for_each(|v| v.power = u64::MAX);
        }),
        ("an id of another key", |m| m[0].key = m[1].key),
    ];
    for (case, damage) in cases {
        let mut bad = sorted(3);
        damage(&mut bad);
        assert_eq!(decode(&bad), Err(CodecError::Malformed), "{case}");
    }
    assert_eq!(decode(&sorted(65)), Err(CodecError::Malformed), "65");
}

#[test]
fn evidence_convicts_only_of_two_statements_for_one_step() {
    let set = validators();
    let (nil, block) = (vote(None), vote(Some(BlockId([0xb1; 32]))));
    let pair = |a: Vote, b: Vote| Evidence::new(signed_vote(a), signed_vote(b));
    let convicts = |e: &Evidence| e.convicts(&NETWORK, &set);
    assert!(convicts(&pair(nil, block)));
    assert_eq!(pair(nil, block), pair(block, nil), "one deed, one evidence");
    let another = vote(Some(BlockId([0xb2; 32])));
    assert!(convicts(&pair(another, block)));

    let honest: [(&str, Vote); 5] = [
        ("one statement twice", block),
        (
            "two steps",
            Vote {
                kind: VoteKind::Precommit,
                ..nil
            },
        ),
        (
            "two heights",
            Vote {
                height: 1_201,
                ..nil
            },
        ),
        ("two rounds", Vote { round: 2, ..nil }),
        (
            "two voters",
            Vote {
                validator: member(1),
                ..nil
            },
        ),
    ];
    for (case, other) in honest {
        assert!(!convicts(&pair(block, other)), "{case}");
    }

    let good = pair(nil, block);
    assert!(!good.convicts(&OTHER, &set), "of another network");
    let others = set.members().iter().filter(|v| v.id != member(0));
    let others = ValidatorSet::new(others.cloned().collect()).unwrap();
    assert!(!good.convicts(&NETWORK, &others), "no member");
    type Damage = fn(&mut Evidence);
    let forged: [(&str, Damage); 5] = [
        ("first signature", |e| e.first_signature.0[0] ^= 1),
        ("second signature", |e| e.second_signature.0[63] ^= 1),
        ("signatures swapped", |e| {
            std::mem::swap(&mut e.first_signature, &mut e.second_signature);
        }),
        ("votes altered", |e| {
            (e.first.round, e.second.round) = (7, 7)
        }),
        ("votes out of order", |e| {
            std::mem::swap(&mut e.first, &mut e.second);
            std::mem::swap(&mut e.first_signature, &mut e.second_signature);
        }),
    ];
    for (case, damage) in forged {
        let mut bad = good.clone();
        damage(&mut bad);
        assert!(!convicts(&bad), "{case}");
    }
}

#[test]
fn a_block_keeps_its_counts() {
    let mut block = block::first();
    let item = block::evidence();
    block.evidence = vec![item.clone(); BLOCK_EVIDENCE];
    assert_eq!(Block::decode(&block.encode()).as_ref(), Ok(&block));
    block.evidence.push(item);
    let too_many = Err(BlockError::TooMany(block.id()));
    assert_eq!(Block::decode(&block.encode()), too_many);

    let mut block = block::first();
    let (_, small) = &entry::all()[7];
    block.entries = vec![small.clone(); limits::BLOCK_ENTRIES + 1];
    let bytes = block.encode();
    assert!(bytes.len() <= limits::BLOCK_BYTES);
    assert_eq!(Block::decode(&bytes), too_many);
    let long = Block::decode(&vec![0; limits::BLOCK_BYTES + 1]);
    assert!(matches!(
        long,
        Err(BlockError::Bytes(CodecError::TooLarge { .. }))
    ));
}
