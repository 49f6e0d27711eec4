//! Blocks that clear wrongly, and the claims that can and cannot be proved to a stranger.

use crate::trade::{bid, money, order};
use crate::world::{World, credits};
use gridbay_ledger::light::{self, Follower, NotFollowing};
use gridbay_ledger::log::{merkle_root, prove_in_list};
use gridbay_ledger::{BlockRefusal, CheckedBlock, State, record_key};
use gridbay_protocol::block::Block;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{Hash32, OrderId};
use gridbay_protocol::payment::{Posting, Purse, Reason};

/// Two bids for one unit are open; the next block closes the round.
fn before_the_close() -> (World, Vec<OrderId>) {
    let mut world = World::new();
    let offer = world.offer(1, 1, 1, 10, Some(30));
    world.all(vec![offer]);
    world.until(9);
    let bids = [
        (2, bid(&world, &[(1, 50)], 1)),
        (3, bid(&world, &[(1, 40)], 1)),
    ];
    let orders = world.bids(&bids);
    world.until(15);
    (world, orders)
}

fn effects_root(effects: &[Effect]) -> Hash32 {
    let leaves: Vec<_> = effects.iter().map(Effect::leaf).collect();
    Hash32(merkle_root(&leaves))
}

#[test]
fn a_wrong_price_or_winner_is_refused() {
    let (world, orders) = before_the_close();
    let right = world
        .state
        .propose(world.draft(vec![]))
        .delta
        .effects()
        .to_vec();
    let forge = |change: &dyn Fn(&mut Effect)| {
        let mut effects = right.clone();
        effects.iter_mut().for_each(change);
        assert_ne!(effects, right, "the forgery changes something");
        let root = effects_root(&effects);
        world.tampered(vec![], |block| block.header.effects_root = root)
    };
    let wrong = Err(BlockRefusal::Root("effects_root"));
    let cheaper = forge(&|effect| {
        if let Effect::Clearing(record) = effect {
            record.awards[0].pay = credits(39);
            record.sold[0].earns = credits(39);
        }
    });
    assert_eq!(cheaper, wrong);
    let friend = forge(&|effect| {
        if let Effect::Clearing(record) = effect {
            assert_eq!(record.awards[0].order, orders[0]);
            record.awards[0].order = orders[1];
        }
    });
    assert_eq!(friend, wrong);
    let skimmed = forge(&|effect| {
        if let Effect::Posting(Posting { amount, .. }) = effect {
            *amount = credits(1);
        }
    });
    assert_eq!(skimmed, wrong);
}

#[test]
fn a_clearing_without_one_of_the_openings_is_refused() {
    let mut world = World::new();
    let offer = world.offer(1, 1, 1, 10, None);
    world.all(vec![offer]);
    world.until(9);
    let bids = [
        (2, bid(&world, &[(1, 50)], 1)),
        (3, bid(&world, &[(1, 40)], 1)),
    ];
    let commits: Vec<_> = bids.iter().map(|(n, b)| world.commit(*n, b, 1)).collect();
    world.all(commits.clone());
    world.until(12);
    let opens: Vec<_> = (0..2)
        .map(|i| world.open(bids[i].0, &commits[i], &bids[i].1))
        .collect();
    // The body lacks an opening, the header claims the effects of both; then those of one, with the
    // state of both.
    let drop_one = |block: &mut Block| {
        block.entries.pop();
        let ids: Vec<_> = block.entries.iter().map(|e| e.id().0).collect();
        block.header.entries_root = Hash32(merkle_root(&ids));
    };
    let refusal = world.tampered(opens.clone(), drop_one);
    assert_eq!(refusal, Err(BlockRefusal::Root("effects_root")));
    // Not opened in time, the second bid loses its deposit; a block that forgets that is refused
    // too.
    world.all(vec![opens[0].clone()]);
    world.until(21);
    let right = world
        .state
        .propose(world.draft(vec![]))
        .delta
        .effects()
        .to_vec();
    assert!(money(&right).contains(&(Reason::Forfeit, 20)));
    let kind: Vec<_> = right
        .into_iter()
        .filter(|e| !matches!(e, Effect::Posting(p) if p.reason == Reason::Forfeit))
        .collect();
    let root = effects_root(&kind);
    let refusal = world.tampered(vec![], |block| block.header.effects_root = root);
    assert_eq!(refusal, Err(BlockRefusal::Root("effects_root")));
}

#[test]
fn a_stranger_follows_headers_and_checks_a_payment() {
    let mut world = World::new();
    let genesis = crate::world::genesis(crate::world::policy());
    let mut follower = Follower::new(&genesis).unwrap();
    let mut headers = vec![];
    let mut last: Option<(CheckedBlock, Vec<Effect>)> = None;
    for height in 1..=5u64 {
        let entries = match height {
            5 => vec![world.by(2, transfer(&world))],
            _ => vec![],
        };
        let proposed = world.state.propose(world.draft(entries.clone()));
        let header = proposed.block.header().clone();
        let certificate = world.certificate(height, header.id());
        let mut forged = header.clone();
        forged.state_root = Hash32([0; 32]);
        assert_eq!(
            follower.follow(&forged, &certificate),
            Err(NotFollowing::OtherBlock(forged.id()))
        );
        let mut thin = certificate.clone();
        thin.signatures.truncate(2);
        assert!(matches!(
            follower.follow(&header, &thin),
            Err(NotFollowing::Certificate(_))
        ));
        follower.follow(&header, &certificate).unwrap();
        assert!(matches!(
            follower.follow(&header, &certificate),
            Err(NotFollowing::NotAChild { .. })
        ));
        headers.push(header);
        last = Some((proposed.block, proposed.delta.effects().to_vec()));
        world.all(entries);
    }
    let (block, effects) = last.unwrap();
    let header = follower.header().unwrap();
    let leaves: Vec<_> = effects.iter().map(Effect::leaf).collect();
    let proof = prove_in_list(&leaves, 0).unwrap();
    light::effect(header, &effects[0], 0, 1, &proof).unwrap();
    let mut other = effects[0].clone();
    if let Effect::Posting(posting) = &mut other {
        posting.amount = credits(8);
    }
    assert!(light::effect(header, &other, 0, 1, &proof).is_err());
    let ids: Vec<_> = block.entries().iter().map(|e| e.id().0).collect();
    let proof = prove_in_list(&ids, 0).unwrap();
    light::entry(header, &block.entries()[0].id(), 0, 1, &proof).unwrap();
    records(&world.state, header, &world);
    // Block 2 is an ancestor: the log below header 5 holds blocks 1 to 4.
    let blocks: Vec<_> = headers[..4].iter().map(|h| h.id().0).collect();
    let proof = prove_in_list(&blocks, 1).unwrap();
    light::ancestor(header, &headers[1].id(), 2, &proof).unwrap();
    assert!(light::ancestor(header, &headers[2].id(), 2, &proof).is_err());
    assert!(light::ancestor(header, &headers[1].id(), 0, &proof).is_err());
}

fn transfer(world: &World) -> gridbay_protocol::entry::EntryBody {
    gridbay_protocol::entry::EntryBody::Transfer {
        to: world.member(3),
        amount: credits(7),
        memo: Hash32([0; 32]),
    }
}

fn records(state: &State, header: &gridbay_protocol::block::Header, world: &World) {
    let purse = Purse::Account(world.member(3));
    let proof = state.prove(&record_key("purses", &purse));
    light::record(header, "purses", &purse, Some(&1_000_007i64), &proof).unwrap();
    assert!(light::record(header, "purses", &purse, Some(&1_000_000i64), &proof).is_err());
    let nobody = order(&Default::default());
    let proof = state.prove(&record_key("orders", &nobody));
    light::record(header, "orders", &nobody, None::<&()>, &proof).unwrap();
}

#[test]
fn a_block_holds_its_parents_certificate_and_no_older_one() {
    let mut world = World::new();
    world.until(1);
    let old = world.certificate(1, world.state.tip());
    world.until(2);
    let mut draft = world.draft(vec![]);
    draft.last_commit = Some(old);
    let proposed = world.state.propose(draft);
    let refused = world.twin.execute(&proposed.block).map(|_| ());
    assert_eq!(refused, Err(BlockRefusal::NotOfParent));
}
