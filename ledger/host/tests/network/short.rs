//! Bodies that name their entries by ids: they are put together, asked for, and refused.

use crate::genesis::{peer, validator};
use crate::world::World;
use gridbay_host::limits::{PROPOSAL_MESSAGE_BYTES, SHORT_ENTRIES};
use gridbay_host::message::{Body, HostMessage, MessageError, Offered, ShortBlock};
use gridbay_host::{Host, HostEffect, HostInput, Offence, Received};
use gridbay_protocol::block::Block;
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::ids::EntryId;
use gridbay_protocol::limits::{BLOCK_BYTES, BLOCK_ENTRIES};

const MANY: usize = 40;

fn submit(world: &mut World, i: usize) {
    let all = (0..MANY).map(|_| world.transfer(i)).collect();
    world.input(i, HostInput::Submit(all));
}

/// Runs until nothing waits anywhere and all have the same tip.
fn settles(world: &mut World) -> bool {
    let is_quiet = |w: &World| {
        let hosts = w.hosts.iter().flatten();
        hosts.into_iter().all(|host| host.mempool_len() == 0)
            && (1..4).all(|i| w.tip(i) == w.tip(0))
    };
    world.run(world.now + 60_000, is_quiet)
}

/// The short bodies that went over the wire, and how many asked for a body.
fn heard(world: &World) -> (Vec<ShortBlock>, usize) {
    let (mut short, mut asked) = (Vec::new(), 0);
    for bytes in &world.heard {
        match HostMessage::decode(bytes) {
            Ok(HostMessage::Proposal(Offered {
                body: Some(Body::Short(body)),
                ..
            })) => short.push(*body),
            Ok(HostMessage::BodyRequest(_)) => asked += 1,
            _ => {}
        }
    }
    (short, asked)
}

/// A body with all its entries, of a host that has them.
pub(crate) fn whole(body: &Body, host: &Host) -> Block {
    let mut block = body.block().clone();
    if let Body::Short(short) = body {
        let waiting = host.waiting();
        let entry = |id: &EntryId| waiting.iter().find(|entry| entry.id() == *id);
        let entries = short
            .ids
            .iter()
            .map(|id| entry(id).unwrap().signed().clone());
        block.entries = entries.collect();
    }
    block
}

#[test]
fn a_long_block_goes_without_its_entries_and_is_put_together() {
    let mut world = World::new(4, 0, 11);
    world.boot_all();
    submit(&mut world, 0);
    assert!(settles(&mut world));
    let (short, asked) = heard(&world);
    assert!(short.iter().all(|body| body.ids.len() >= SHORT_ENTRIES));
    let bodies = short.iter().filter(|body| body.block.entries.is_empty());
    assert!(bodies.count() > 0, "{short:?}");
    assert_eq!(asked, 0, "all entries came before the body, or soon after");
    let whole = world
        .heard
        .iter()
        .filter_map(|bytes| match HostMessage::decode(bytes) {
            Ok(HostMessage::Proposal(Offered {
                body: Some(Body::Whole(block)),
                ..
            })) => Some(block.entries.len()),
            _ => None,
        });
    assert!(whole.max().is_some_and(|most| most < SHORT_ENTRIES));
}

#[test]
fn a_short_body_with_all_ids_beside_a_full_block_fits_its_cap() {
    let (_, offered, mut short, entries) = before_a_short_proposal();
    let mut message = |ids| {
        short.ids = vec![entries[0].id(); ids];
        let body = Some(Body::Short(Box::new(short.clone())));
        HostMessage::Proposal(Offered {
            body,
            ..offered.clone()
        })
    };
    let full = message(BLOCK_ENTRIES);
    let bytes = full.encode();
    assert_eq!(HostMessage::decode(&bytes), Ok(full));
    let over = message(BLOCK_ENTRIES + 1).encode();
    assert_eq!(HostMessage::decode(&over), Err(MessageError::TooMany));
    let block = short.block.encode().len();
    assert!(bytes.len() - block + BLOCK_BYTES <= PROPOSAL_MESSAGE_BYTES);
}

#[test]
fn entries_that_stay_away_are_asked_for_and_go_along_with_later_blocks() {
    let mut world = World::new(4, 0, 12);
    world.boot_all();
    world.lost = Some(Box::new(|_, _, to, message| {
        to == 3 && matches!(message, HostMessage::Entries(_))
    }));
    let (mut asked, mut again) = (Vec::new(), 0);
    for _ in 0..40 {
        world.heard.clear();
        submit(&mut world, 0);
        assert!(settles(&mut world));
        let (short, asked_now) = heard(&world);
        let asks_again = |bytes: &Vec<u8>| {
            let message = HostMessage::decode(bytes);
            matches!(message, Ok(HostMessage::SyncRequest(_)))
        };
        again += world.heard.iter().filter(|bytes| asks_again(bytes)).count();
        let whole = short.iter().map(|body| body.block.entries.len());
        asked.push((asked_now, whole.sum::<usize>()));
    }
    assert!(
        again < 6,
        "{again}: it gets what was decided for its question"
    );
    let first = asked.iter().position(|(_, along)| *along > 0);
    let first = first.expect("some go along");
    assert!(
        asked[..first].iter().all(|(asked, _)| *asked > 0),
        "{asked:?}"
    );
    assert_eq!(asked[39].0, 0, "nobody lacks any in the end: {asked:?}");
}

/// A validator that has a short proposal to judge, and none of its entries.
fn before_a_short_proposal() -> (World, Offered, ShortBlock, Vec<SignedEntry>) {
    let mut world = World::new(4, 0, 13);
    world.boot_all();
    world.lost = Some(Box::new(|_, _, to, message| {
        let body = matches!(message, HostMessage::Proposal(offered) if offered.body.is_some());
        to == 3 && (body || matches!(message, HostMessage::Entries(_)))
    }));
    submit(&mut world, 0);
    let running = |world: &World| {
        let height = world.tip(3) + 1;
        let host = world.hosts[3].as_ref().unwrap();
        let mut all = world.heard.iter().rev();
        let found = all.find_map(|bytes| match HostMessage::decode(bytes) {
            Ok(HostMessage::Proposal(Offered {
                signed,
                body: Some(Body::Short(short)),
            })) if signed.proposal.height == height => Some((signed, *short)),
            _ => None,
        });
        found.filter(|_| host.round().is_some())
    };
    assert!(world.run(60_000, |w| running(w).is_some()));
    let (signed, short) = running(&world).unwrap();
    let waiting = world.hosts[0].as_ref().unwrap().waiting();
    let entry = |id: &EntryId| waiting.iter().find(|entry| entry.id() == *id);
    let entries = short.ids.iter().filter_map(entry);
    let entries = entries.map(|entry| entry.signed().clone()).collect();
    (world, Offered { signed, body: None }, short, entries)
}

/// Tells validator 3 of a proposal with a body; returns what comes of it.
fn tell(world: &mut World, offered: &Offered, short: ShortBlock) -> Vec<HostEffect> {
    let body = Some(Body::Short(Box::new(short)));
    let offered = Offered {
        body,
        ..offered.clone()
    };
    let who = offered.signed.proposal.validator;
    let message = Received::Message(HostMessage::Proposal(offered));
    let from = (0..4).find(|i| validator(*i) == who).unwrap();
    let from = peer(from);
    world.input(3, HostInput::Message { from, message })
}

fn offences(effects: &[HostEffect]) -> Vec<Offence> {
    let offence = |effect: &HostEffect| match effect {
        HostEffect::Penalise { offence, .. } => Some(*offence),
        _ => None,
    };
    effects.iter().filter_map(offence).collect()
}

fn signatures_checked(world: &World) -> u64 {
    world.hosts[3].as_ref().unwrap().signatures_checked()
}

#[test]
fn a_mangled_short_body_is_its_senders_fault_and_costs_no_signature() {
    let (mut world, offered, short, entries) = before_a_short_proposal();
    assert!(short.ids.len() >= SHORT_ENTRIES && entries.len() == short.ids.len());
    let before = signatures_checked(&world);
    let mut mangled = vec![short.clone(); 4];
    mangled[0].ids.swap(0, 1);
    mangled[1].ids.pop();
    mangled[2].block.last_commit = None;
    // Not in the order of the block.
    mangled[3].block.entries = vec![entries[1].clone(), entries[0].clone()];
    for (n, body) in mangled.into_iter().enumerate() {
        let effects = tell(&mut world, &offered, body);
        assert_eq!(offences(&effects), [Offence::Body], "{n}");
    }
    assert_eq!(signatures_checked(&world), before);
}

#[test]
fn a_wrong_signature_along_with_a_short_body_is_found() {
    let (mut world, offered, short, entries) = before_a_short_proposal();
    let mut forged = short.clone();
    forged.block.entries = vec![entries[0].clone()];
    forged.block.entries[0].signature.0[5] ^= 1;
    let effects = tell(&mut world, &offered, forged);
    assert_eq!(offences(&effects), [Offence::Body]);
}

#[test]
fn a_short_body_waits_for_its_entries_and_is_looked_at_once() {
    let (mut world, offered, mut short, entries) = before_a_short_proposal();
    let before = signatures_checked(&world);
    short.block.entries = entries[..3].to_vec();
    for _ in 0..3 {
        let effects = tell(&mut world, &offered, short.clone());
        assert_eq!(offences(&effects), []);
    }
    assert_eq!(signatures_checked(&world) - before, 3);
    let votes = |effects: Vec<HostEffect>| {
        let vote = |effect| match effect {
            HostEffect::Broadcast(HostMessage::Vote(signed)) => signed.vote.block,
            _ => None,
        };
        effects.into_iter().filter_map(vote).collect::<Vec<_>>()
    };
    for (part, voted) in [(3..20, vec![]), (20..MANY, vec![short.block.id()])] {
        let all = HostMessage::Entries(entries[part].to_vec());
        let (from, message) = (peer(0), Received::Message(all));
        let effects = world.input(3, HostInput::Message { from, message });
        assert_eq!(votes(effects), voted);
    }
    let all = short.ids.len() as u64;
    assert_eq!(signatures_checked(&world) - before, all, "each once");
}
