//! Hostile messages: refused and penalised, never a panic, a fault or a standstill.

use crate::genesis::{peer, validator};
use crate::mempool::stranger;
use crate::world::World;
use gridbay_host::message::*;
use gridbay_host::{HostEffect, HostInput, MempoolRefusal, Offence, Peer, Received, limits};
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, BlockId, Hash32, OrderId, ValidatorId};
use gridbay_protocol::keys::{SecretKey, Signature};
use gridbay_protocol::units::Credits;
use gridbay_protocol::vote::{Certificate, CertificateSignature, Proposal, Vote, VoteKind};

const STRANGER: [u8; 32] = [77; 32];

fn running() -> World {
    let mut world = World::new(4, 0, 3);
    world.boot_all();
    for k in 0..40 {
        world.transfer_at(k * 50, k as usize % 4);
    }
    assert!(world.run(60_000, |w| w.all_at(8)));
    world
}

fn offences(world: &mut World, message: Received) -> Vec<Offence> {
    offences_of(world, STRANGER, message)
}

fn offences_of(world: &mut World, from: Peer, message: Received) -> Vec<Offence> {
    let effects = world.input(0, HostInput::Message { from, message });
    let offence = |effect| match effect {
        HostEffect::Penalise { peer, offence } if peer == from => Some(offence),
        _ => None,
    };
    effects.into_iter().filter_map(offence).collect()
}

fn goes_on(mut world: World) {
    let tip = world.tip(0);
    assert!(
        world.run(world.now + 20_000, |w| w.all_at(tip + 5)),
        "{:?}",
        world.hosts
    );
}

#[test]
fn malformed_and_oversized_bytes_are_penalised() {
    let mut world = running();
    let mut oversized = world.heard[0].clone();
    oversized.resize(limits::SYNC_MESSAGE_BYTES + 1, 0);
    for bytes in [vec![], vec![0xff; 100], vec![0x81; 100_000], oversized] {
        assert_eq!(
            offences(&mut world, Received::Bytes(bytes)),
            [Offence::Malformed]
        );
    }
    let many = HostMessage::SyncResponse(vec![]);
    assert_eq!(offences(&mut world, Received::Message(many)), []);
    goes_on(world);
}

#[test]
fn every_altered_message_is_refused_or_harmless() {
    let mut world = running();
    let heard = std::mem::take(&mut world.heard);
    for i in 0..4_000 {
        let mut bytes = heard[world.rng.below(heard.len() as u64) as usize].clone();
        let at = world.rng.below(bytes.len() as u64) as usize;
        match i % 3 {
            0 => bytes[at] ^= 1 << world.rng.below(8),
            1 => bytes.truncate(at),
            _ => bytes.insert(at, world.rng.next() as u8),
        }
        let from = if i % 2 == 0 { STRANGER } else { peer(1) };
        let message = Received::Bytes(bytes);
        world.input(0, HostInput::Message { from, message });
    }
    let blamed = world.penalties.iter().filter(|(host, ..)| *host == 0);
    assert!(blamed.count() > 2_000);
    goes_on(world);
}

#[test]
fn statements_of_strangers_and_extreme_numbers_are_harmless() {
    let mut world = running();
    let next = world.tip(0) + 1;
    let signature = Signature([5; 64]);
    let (block, member) = (BlockId([1; 32]), validator(1));
    let mut wrong = 0;
    for height in [0, 1, next, next + 1, next + 2, u64::MAX] {
        for round in [0, 1, u32::MAX] {
            for who in [member, ValidatorId([3; 32])] {
                let vote = Vote {
                    kind: VoteKind::Precommit,
                    height,
                    round,
                    block: Some(block),
                    validator: who,
                };
                let proposal = Proposal {
                    height,
                    round,
                    block,
                    valid_round: Some(u32::MAX),
                    validator: who,
                };
                let signatures = vec![CertificateSignature {
                    validator: who,
                    signature,
                }];
                let votes = vec![RoundVote {
                    kind: VoteKind::Prevote,
                    block: None,
                    validator: who,
                    signature,
                }];
                for message in [
                    HostMessage::Vote(SignedVote { vote, signature }),
                    HostMessage::Proposal(Offered {
                        signed: SignedProposal {
                            proposal,
                            signature,
                        },
                        body: None,
                    }),
                    HostMessage::Polka(Polka {
                        height,
                        round,
                        block,
                        signatures,
                    }),
                    HostMessage::Round(RoundProof {
                        height,
                        round,
                        kind: RoundProofKind::Skip,
                        votes,
                    }),
                    HostMessage::BodyRequest(BodyRequest { height, block }),
                    HostMessage::Status(Status { tip: height }),
                    HostMessage::SyncRequest(SyncRequest { from: height }),
                ] {
                    let found = offences(&mut world, Received::Message(message));
                    wrong += usize::from(found.contains(&Offence::Signature));
                }
            }
        }
    }
    assert!(wrong >= 4, "{wrong} wrong signatures at the running height");
    goes_on(world);
}

#[test]
fn blocks_and_bodies_without_proof_are_refused() {
    let mut world = running();
    let host = world.hosts[1].as_ref().unwrap();
    let mut decided = host.block(host.state().height()).unwrap().unwrap();
    // A body of the running height that no proposal names.
    let mut body = decided.block.clone();
    body.header.height = world.tip(0) + 1;
    let unasked = HostMessage::Body(Box::new(body.clone()));
    let mut found = offences_of(&mut world, peer(2), Received::Message(unasked.clone()));
    while found.is_empty() {
        // Between two heights nothing is asked and nothing is judged.
        let later = world.now + 10;
        world.run(later, |_| false);
        body.header.height = world.tip(0) + 1;
        let unasked = HostMessage::Body(Box::new(body.clone()));
        found = offences_of(&mut world, peer(2), Received::Message(unasked));
    }
    assert_eq!(found, [Offence::Unasked]);
    // The next block with a certificate of the one before, and with too few signatures.
    decided.block.header.height = world.tip(0) + 1;
    let certificate = |signatures: &[CertificateSignature]| Certificate {
        height: decided.block.header.height,
        round: 0,
        block: decided.block.id(),
        signatures: signatures.to_vec(),
    };
    for signatures in [&decided.certificate.signatures[..], &[]] {
        let item = DecidedBlock {
            block: decided.block.clone(),
            certificate: certificate(signatures),
        };
        let message = HostMessage::SyncResponse(vec![item]);
        assert_eq!(
            offences_of(&mut world, peer(2), Received::Message(message)),
            [Offence::Certificate]
        );
    }
    goes_on(world);
}

#[test]
fn blocks_and_bodies_that_nobody_asked_a_stranger_for_are_not_even_parsed() {
    let mut world = running();
    let host = world.hosts[1].as_ref().unwrap();
    let old = host.block(2).unwrap().unwrap();
    let body = HostMessage::Body(Box::new(old.block.clone())).encode();
    let blocks = HostMessage::SyncResponse(vec![old]).encode();
    for mut bytes in [blocks, body] {
        let last = bytes.len() - 1;
        bytes.truncate(last);
        let cut = || Received::Bytes(bytes.clone());
        assert_eq!(offences(&mut world, cut()), []);
        assert_eq!(
            offences_of(&mut world, peer(2), cut()),
            [Offence::Malformed]
        );
    }
    goes_on(world);
}

#[test]
fn forged_entries_are_penalised_and_never_pooled() {
    let mut world = running();
    let entry = world.transfer(0);
    let mut signed = entry.signed().clone();
    signed.signature.0[5] ^= 1;
    let pooled = world.hosts[0].as_ref().unwrap().mempool_len();
    let message = HostMessage::Entries(vec![signed]);
    assert_eq!(
        offences(&mut world, Received::Message(message)),
        [Offence::Entry]
    );
    assert_eq!(world.hosts[0].as_ref().unwrap().mempool_len(), pooled);
    goes_on(world);
}

#[test]
fn a_pool_is_bounded_per_account_and_refuses_what_it_holds() {
    let mut world = World::new(4, 0, 4);
    // Nobody else is there, so nothing leaves the mempool.
    world.boot(0);
    let refusals = |effects: &[HostEffect]| -> Vec<MempoolRefusal> {
        let refusal = |effect: &HostEffect| match effect {
            HostEffect::EntryRefused { refusal, .. } => Some(refusal.clone()),
            _ => None,
        };
        effects.iter().filter_map(refusal).collect()
    };
    let first = world.transfer(0);
    let again = HostInput::Submit(vec![first.clone()]);
    assert!(refusals(&world.input(0, again.clone())).is_empty());
    assert_eq!(
        refusals(&world.input(0, again)),
        [MempoolRefusal::Known(first.id())]
    );
    for _ in 1..limits::MEMPOOL_PER_ACCOUNT {
        let entry = world.transfer(0);
        assert!(refusals(&world.input(0, HostInput::Submit(vec![entry]))).is_empty());
    }
    let one_more = world.transfer(0);
    let account = world.account(0);
    assert_eq!(
        refusals(&world.input(0, HostInput::Submit(vec![one_more]))),
        [MempoolRefusal::Full { account }]
    );
    let of_another = world.transfer(1);
    assert!(refusals(&world.input(0, HostInput::Submit(vec![of_another]))).is_empty());
    let host = world.hosts[0].as_ref().unwrap();
    assert_eq!(host.mempool_len(), limits::MEMPOOL_PER_ACCOUNT + 1);
    // As soon as the others come, all of it goes into the book, in blocks of at most the limit.
    (1..4).for_each(|i| world.boot(i));
    let tip = 3;
    assert!(world.run(20_000, |w| w.all_at(tip)), "{:?}", world.hosts);
    let host = world.hosts[2].as_ref().unwrap();
    let entries: usize = (1..=tip)
        .map(|h| host.block(h).unwrap().unwrap().block.entries.len())
        .sum();
    assert_eq!(entries, limits::MEMPOOL_PER_ACCOUNT + 1);
    assert_eq!(world.hosts[0].as_ref().unwrap().mempool_len(), 0);
}

#[test]
fn entries_of_unknown_accounts_are_not_passed_on_and_take_nobodys_place() {
    let mut world = World::new(4, 0, 5);
    // Nobody else is there, so nothing leaves the mempool.
    world.boot(0);
    let give = |world: &mut World, from: Peer, entries: Vec<SignedEntry>| {
        let input = HostInput::Message {
            from,
            message: Received::Message(HostMessage::Entries(entries)),
        };
        let effects = world.input(0, input);
        let passed_on = |effect: HostEffect| match effect {
            HostEffect::Broadcast(HostMessage::Entries(entries)) => entries,
            _ => vec![],
        };
        effects.into_iter().flat_map(passed_on).collect::<Vec<_>>()
    };
    let pooled = |world: &World| world.hosts[0].as_ref().unwrap().mempool_len();
    // Of an account that does not exist, and of one that does under a key that it does not list.
    let key = SecretKey::from_seed(&[240; 32]);
    let known = world.account(0);
    for n in 0..6_000u32 {
        let entry = Entry {
            network: world.genesis.network(),
            account: if n % 2 == 0 {
                AccountId([9; 32])
            } else {
                known
            },
            key: key.public(),
            valid_until: 100,
            body: EntryBody::Transfer {
                to: world.account(1),
                amount: Credits::from_micros(1 + u64::from(n)).unwrap(),
                memo: Hash32([0; 32]),
            },
        };
        assert_eq!(
            give(
                &mut world,
                stranger(n.into()),
                vec![SignedEntry::new(entry, &key)]
            ),
            []
        );
    }
    assert_eq!(pooled(&world), 0);
    // There is room for an entry that waits, and one that is ready is passed on.
    let waits = world.sign(
        0,
        EntryBody::Cancel {
            order: OrderId([3; 32]),
        },
        100,
    );
    assert_eq!(give(&mut world, STRANGER, vec![waits.signed().clone()]), []);
    assert_eq!(pooled(&world), 1);
    let ready = world.transfer(0).signed().clone();
    assert_eq!(give(&mut world, STRANGER, vec![ready.clone()]), [ready]);
    assert_eq!(pooled(&world), 2);
}

#[test]
fn a_peer_that_asks_for_blocks_over_and_over_gets_them_at_a_pace() {
    let mut world = running();
    let answers = |world: &mut World, from: Peer, request: Option<u64>| {
        let message = |from| HostMessage::SyncRequest(SyncRequest { from });
        let input = request.map_or(HostInput::Tick, |height| HostInput::Message {
            from,
            message: Received::Message(message(height)),
        });
        let heights = |effect: HostEffect| match effect {
            HostEffect::Send {
                to,
                message: HostMessage::SyncResponse(items),
            } if to == from => items.first().map(|item| item.block.header.height),
            _ => None,
        };
        let effects = world.input(0, input);
        effects.into_iter().filter_map(heights).collect::<Vec<_>>()
    };
    for from in [STRANGER, peer(3)] {
        assert_eq!(answers(&mut world, from, Some(1)), [1]);
        for height in 1..8 {
            assert_eq!(answers(&mut world, from, Some(height)), Vec::<u64>::new());
        }
        // The last request is answered when the peer has rested.
        world.now += limits::SYNC_RETRY_MS / 2;
        assert_eq!(answers(&mut world, from, None), [7]);
        world.now += limits::SYNC_RETRY_MS / 2;
    }
    goes_on(world);
}
