//! A market on four hosts: offers, sealed bids, openings and clearings, and a proposer that
//! allocates wrongly.

use crate::world::World;
use gridbay_host::HostInput;
use gridbay_ledger::{CheckedBlock, State, log};
use gridbay_protocol::block::Block;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{ClassId, EntryId, Hash32, LeaseId};
use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim};
use gridbay_protocol::order::{Bid, Commit, Open, Step};
use gridbay_protocol::payment::Reason;
use gridbay_protocol::units::{Credits, Price};

const ROUND: u64 = 4;

/// A sealed bid that is to be opened in the next round.
struct Sealed {
    member: usize,
    commit: EntryId,
    bid: Bid,
    salt: [u8; 32],
}

fn class(world: &World) -> ClassId {
    world.genesis.classes[0].key.id()
}

fn offer(world: &mut World) {
    let terms = OfferTerms {
        label: 1,
        class: class(world),
        units: 6,
        reserve: Price(2),
        buy_price: None,
        reclaim: Reclaim::None,
        mechanism: Primary::Ausubel,
        node: crate::genesis::account_key(0).public(),
    };
    let entry = world.sign(0, EntryBody::SetOffer(terms), 100);
    world.input(0, HostInput::Submit(vec![entry]));
}

fn commit(world: &mut World, member: usize, round: u64) -> Sealed {
    let (salt, first) = ([round as u8; 32], 5 + world.rng.below(20));
    let step = |units, price| Step {
        units,
        price: Price(price),
    };
    let bid = Bid {
        class: class(world),
        steps: vec![step(2, first + 1 + world.rng.below(9)), step(2, first)],
        min: 1,
        slots: 1,
        budget: Credits::from_micros(1_000_000).expect("in range"),
        stands_until: (round + 4) * ROUND,
        work: Hash32([member as u8; 32]),
    };
    let seal = bid.seal(&world.genesis.network(), &world.account(member), &salt);
    let body = EntryBody::Commit(Commit {
        class: bid.class,
        seal,
        bracket: 2,
    });
    let entry = world.sign(member, body, (round + 1) * ROUND);
    world.input(member, HostInput::Submit(vec![entry.clone()]));
    Sealed {
        member,
        commit: entry.id(),
        bid,
        salt,
    }
}

/// Member 0 acknowledges all leases of its units.
fn deliver(world: &mut World, valid_until: u64) {
    let host = world.hosts[0].as_ref().expect("it runs");
    let waiting = host.state().leases().filter(|(_, l)| !l.is_delivered());
    let leases: Vec<LeaseId> = waiting.map(|(id, _)| *id).collect();
    for lease in leases {
        let entry = world.sign(0, EntryBody::Deliver { lease }, valid_until);
        world.input(0, HostInput::Submit(vec![entry]));
    }
}

/// Members 1 to 3 bid in every round until `done`.
fn trade(world: &mut World, done: impl Fn(&World) -> bool) {
    assert!(world.run(10_000, |w| w.all_at(1)));
    offer(world);
    let mut sealed: Vec<Sealed> = vec![];
    for round in 1..200 {
        let start = round * ROUND;
        assert!(
            world.run(world.now + 60_000, |w| w.all_at(start)),
            "{:?}",
            world.hosts
        );
        deliver(world, start + ROUND);
        for order in std::mem::take(&mut sealed) {
            let body = EntryBody::Open(Open {
                commit: order.commit,
                wish: order.bid.into(),
                salt: order.salt,
            });
            let entry = world.sign(order.member, body, start + ROUND);
            world.input(order.member, HostInput::Submit(vec![entry]));
        }
        sealed = (1..4).map(|member| commit(world, member, round)).collect();
        if done(world) {
            return;
        }
    }
    panic!("no end: {:?}", world.hosts);
}

fn awards(effects: &[Effect]) -> usize {
    let count = |effect: &Effect| match effect {
        Effect::Clearing(record) => record.awards.len(),
        _ => 0,
    };
    effects.iter().map(count).sum()
}

#[test]
fn bids_are_cleared_alike_on_all_hosts() {
    let mut world = World::new(4, 1, 1);
    world.boot_all();
    trade(&mut world, |w| awards(&w.effects) >= 12);
    let host = world.hosts[4].as_ref().expect("it runs");
    let history = host.history(&world.account(1), u64::MAX, 1_000);
    let has = |wanted: fn(&Effect) -> bool| history.iter().any(|item| wanted(&item.effect));
    assert!(has(|e| matches!(e, Effect::Posting(_))));
    assert!(has(|e| matches!(e, Effect::Clearing(_))));
    assert!(has(|e| matches!(e, Effect::Lease(_))));
    assert!(
        history
            .windows(2)
            .all(|w| (w[0].height, w[0].position) > (w[1].height, w[1].position))
    );
}

/// The lies that a proposer tells in the effects of its block.
#[derive(Clone, Copy, Debug)]
enum Forgery {
    /// The payment of a winner.
    Price,
    /// The units of a winner.
    Allocation,
    /// A posting for a lease.
    Payment,
    /// A bid that was opened is not there.
    Opening,
}

/// Forges the effects of a block; false if there is nothing to forge in it.
fn forge(effects: &mut [Effect], forgery: Forgery) -> bool {
    let more = |amount: Credits| Credits::from_micros(amount.micros() + 1).expect("in range");
    effects.iter_mut().any(|effect| match (effect, forgery) {
        (Effect::Clearing(record), Forgery::Price) => {
            let award = record.awards.first_mut();
            award.map(|award| award.pay = more(award.pay)).is_some()
        }
        (Effect::Clearing(record), Forgery::Allocation) => {
            let award = record.awards.first_mut();
            award.map(|award| award.units += 1).is_some()
        }
        (Effect::Clearing(record), Forgery::Opening) => record.bids.pop().is_some(),
        (Effect::Posting(posting), Forgery::Payment) if posting.reason == Reason::Charge => {
            posting.amount = more(posting.amount);
            true
        }
        _ => false,
    })
}

/// Two proposers of four tell twenty such lies; none is decided, and the market goes on.
fn twenty_forgeries(forgery: Forgery, seed: u64) {
    let mut world = World::new(4, 0, seed);
    let lie = move |block: &Block, state: &State, _: &mut crate::rng::Rng| {
        let checked = CheckedBlock::check(&state.network(), block.clone(), |_, _| None).ok()?;
        let mut effects = state.execute(&checked).ok()?.effects().to_vec();
        if !forge(&mut effects, forgery) {
            return None;
        }
        let leaves: Vec<[u8; 32]> = effects.iter().map(Effect::leaf).collect();
        let mut block = block.clone();
        block.header.effects_root = Hash32(log::merkle_root(&leaves));
        Some(block)
    };
    world.lie = Some((vec![0, 2], Box::new(lie)));
    world.boot_all();
    trade(&mut world, |w| w.lies.len() >= 20);
    let second = world.rounds.values().filter(|r| **r >= 1).count();
    assert!(second >= 10, "{forgery:?}: {:?}", world.rounds);
    assert!(
        awards(&world.effects) > 20,
        "{forgery:?}: the market went on"
    );
}

#[test]
fn a_wrong_price_is_never_decided() {
    twenty_forgeries(Forgery::Price, 2);
}

#[test]
fn a_wrong_allocation_is_never_decided() {
    twenty_forgeries(Forgery::Allocation, 3);
}

#[test]
fn a_wrong_payment_is_never_decided() {
    twenty_forgeries(Forgery::Payment, 4);
}

#[test]
fn a_dropped_opening_is_never_decided() {
    twenty_forgeries(Forgery::Opening, 5);
}
