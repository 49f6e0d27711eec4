//! Blocks with hints: a hint that finds what the rule misses is taken, any other is refused. One
//! offer of two units; in slots 3 and 4 each a small dense reservation keeps out a large one that
//! is worth more. Each attempt of the rule puts one reservation first, so it finds one of the large
//! ones (36 + 20), never both (72).

use crate::model::Dice;
use crate::record::check_decision;
use crate::reserving::{decisions, on_channel, random_hints, random_reservation, wish};
use crate::trade::START;
use crate::world::{World, credits, policy};
use gridbay_ledger::log::merkle_root;
use gridbay_ledger::{BlockRefusal, Draft};
use gridbay_protocol::block::Block;
use gridbay_protocol::codec;
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::{ClassId, Hash32, OrderId};
use gridbay_protocol::limits;
use gridbay_protocol::mechanism::reservation::hint::Refusal;
use gridbay_protocol::record::reservation::hint::{Hint, HintRefusal, Placed, UnitRun};

/// Small and large of slot 3, small and large of slot 4; the next height, 16, decides.
fn before_the_boundary() -> (World, [OrderId; 4]) {
    let mut world = World::new();
    let offer = world.reservable(1, 1, 2, 10);
    world.all(vec![offer]);
    world.until(9);
    let wish = |units, slot, value| wish(&world, units, 1, (slot, slot), value);
    let wishes = [
        (1, wish(1, 3, 20)),
        (2, wish(2, 3, 36)),
        (3, on_channel(wish(1, 4, 20), 3, 4)),
        (4, on_channel(wish(2, 4, 36), 3, 4)),
    ];
    let orders = world.bids(&wishes);
    world.until(15);
    (world, orders.try_into().unwrap())
}

/// Units 0 to `units - 1` of the offer from a slot on.
fn placed(world: &World, order: OrderId, start: u64, units: u32) -> Placed {
    let run = UnitRun {
        offer: world.offer_of(1, 1),
        first: 0,
        units,
    };
    Placed {
        order,
        start,
        groups: vec![vec![run]],
        channel: (start == 4).then_some(4),
    }
}

fn hint(class: ClassId, mut placements: Vec<Placed>) -> Hint {
    placements.sort_by_key(|placed| placed.order);
    Hint { class, placements }
}

/// Both large ones.
fn best(world: &World, orders: &[OrderId; 4]) -> Hint {
    let large = [(orders[1], 3), (orders[3], 4)];
    let large = large.map(|(order, slot)| placed(world, order, slot, 2));
    hint(world.class, large.to_vec())
}

/// The verdict of a validator on the next block if a liar puts hints into it.
fn judged(world: &World, hints: &[Hint]) -> Result<(), BlockRefusal> {
    let leaf = |hint: &Hint| hash(Domain::Hint, &[&codec::encode(hint)]);
    let leaves: Vec<_> = hints.iter().map(leaf).collect();
    world.tampered(vec![], |block: &mut Block| {
        block.hints = hints.to_vec();
        block.header.hints_root = Hash32(merkle_root(&leaves));
    })
}

fn refused(class: ClassId, refusal: HintRefusal) -> Result<(), BlockRefusal> {
    Err(BlockRefusal::Hint { class, refusal })
}

#[test]
fn what_the_rule_misses_is_taken_and_paid_for() {
    let (mut world, orders) = before_the_boundary();
    let best = best(&world, &orders);
    let effects = world.hinted_block(vec![], vec![best]);
    let [record] = &decisions(&world, &effects)[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(record.beaten, Some(credits(56)));
    let won: Vec<_> = record.booked.iter().map(|b| (b.order, b.pay)).collect();
    let mut expected = [(orders[1], credits(36)), (orders[3], credits(36))];
    expected.sort();
    assert_eq!(won, expected);
    let late = world.booking(&orders[3]).unwrap();
    assert_eq!((late.start, late.units(), late.channel), (4, 2, Some(4)));
    assert_eq!(world.booking(&orders[0]), None);
    for height in [24, 32] {
        world.until(height);
        let order = orders[if height == 24 { 1 } else { 3 }];
        let lease = world.lease_of(&order);
        world.deliver(1, lease);
    }
    world.until(48);
    let lost = [2, 3, 4].map(|n| world.account(n) - START);
    assert_eq!(
        lost,
        [-36, 0, -36],
        "winners pay their bids, losers nothing"
    );
    assert_eq!(world.account(1) - START, 72);
}

#[test]
fn without_it_the_rule_decides_and_what_is_no_better_stays_out() {
    let (mut world, orders) = before_the_boundary();
    let small = [(orders[0], 3, 1), (orders[3], 4, 2)];
    let small = small.map(|(order, slot, units)| placed(&world, order, slot, units));
    let equal = hint(world.class, small.to_vec());
    let twice = vec![best(&world, &orders); 2];
    let draft = |hints| Draft {
        hints,
        ..world.draft(vec![])
    };
    let body = |hints| world.state.propose(draft(hints)).block.block().clone();
    assert_eq!(body(twice).hints.len(), 1);
    let plain = body(vec![equal, hint(ClassId([9; 32]), vec![])]);
    assert_eq!((&plain, plain.hints.len()), (&body(vec![]), 0));
    let effects = world.block(vec![]);
    let record = &decisions(&world, &effects)[0];
    assert_eq!((record.beaten, record.booked.len()), (None, 2));
}

#[test]
fn a_hint_that_is_not_better_makes_the_block_invalid() {
    let (world, orders) = before_the_boundary();
    let class = world.class;
    let good = best(&world, &orders);
    assert_eq!(
        judged(&world, std::slice::from_ref(&good)),
        Err(BlockRefusal::Root("effects_root")),
        "taken, so the header claims too little"
    );
    let two = |a: Placed, b: Placed| [hint(class, vec![a, b])];
    let large = |at: usize, slot| placed(&world, orders[at], slot, 2);
    let equal = two(placed(&world, orders[0], 3, 1), large(3, 4));
    let expected = Refusal::NotBetter {
        offered: 56,
        found: 56,
    };
    assert_eq!(judged(&world, &equal), refused(class, expected.into()));
    let nothing = [hint(class, vec![])];
    let expected = Refusal::NotBetter {
        offered: 0,
        found: 56,
    };
    assert_eq!(judged(&world, &nothing), refused(class, expected.into()));
    for bad in [
        two(large(1, 3), large(3, 5)),
        two(large(1, 2), large(3, 4)),
        two(large(1, u64::MAX), large(3, 4)),
        two(placed(&world, orders[1], 3, 1), large(3, 4)),
        two(large(1, 3), placed(&world, orders[0], 3, 1)),
        two(large(1, 3), placed(&world, OrderId([7; 32]), 4, 2)),
        two(
            large(1, 3),
            Placed {
                channel: None,
                ..large(3, 4)
            },
        ),
        two(
            large(1, 3),
            Placed {
                channel: Some(5),
                ..large(3, 4)
            },
        ),
        two(
            large(1, 3),
            Placed {
                groups: vec![],
                ..large(3, 4)
            },
        ),
    ] {
        let refusal = judged(&world, &bad);
        let is_infeasible = matches!(
            &refusal,
            Err(BlockRefusal::Hint { refusal: HintRefusal::Allocation(why), .. })
                if !matches!(**why, Refusal::NotBetter { .. })
        );
        assert!(is_infeasible, "{bad:?}: {refusal:?}");
    }
}

#[test]
fn a_hint_that_is_for_nothing_makes_the_block_invalid() {
    let (mut world, orders) = before_the_boundary();
    let good = best(&world, &orders);
    let class = world.class;
    for other in [ClassId([0; 32]), ClassId([255; 32])] {
        let stray = hint(other, good.placements.clone());
        let mut both = [good.clone(), stray.clone()];
        both.sort_by_key(|hint| hint.class);
        for hints in [&both[..], &[stray]] {
            assert_eq!(
                judged(&world, hints),
                refused(other, HintRefusal::Superfluous)
            );
        }
    }
    let twice = [good.clone(), good.clone()];
    assert_eq!(
        judged(&world, &twice),
        refused(class, HintRefusal::Superfluous)
    );
    let mut unordered = good.clone();
    unordered.placements.reverse();
    let last = unordered.placements[1].order;
    assert_eq!(
        judged(&world, &[unordered]),
        refused(class, HintRefusal::Unordered(last))
    );
    world.block(vec![]);
    assert_eq!(
        judged(&world, &[good]),
        refused(class, HintRefusal::Superfluous)
    );
}

#[test]
fn hints_are_bounded_and_covered_by_the_header() {
    let (world, orders) = before_the_boundary();
    let good = best(&world, &orders);
    let unnamed = world.tampered(vec![], |block| block.hints = vec![good.clone()]);
    assert_eq!(unnamed, Err(BlockRefusal::Root("hints_root")));
    let changes: [fn(&mut Placed); 4] = [
        |placed| placed.groups[0][0].units = 0,
        |placed| placed.groups[0][0].units = limits::RESERVATION_UNITS + 1,
        |placed| placed.groups = vec![vec![]; limits::RESERVATION_GROUPS + 1],
        |placed| placed.groups[0] = vec![placed.groups[0][0]; 257],
    ];
    for change in changes {
        let mut large = good.clone();
        change(&mut large.placements[0]);
        let large = judged(&world, &[large]);
        assert!(matches!(large, Err(BlockRefusal::TooLarge(_))), "{large:?}");
    }
    let mut many = good.clone();
    many.placements = vec![many.placements[0].clone(); limits::RESERVATIONS_DECIDED + 1];
    assert!(matches!(
        judged(&world, &[many]),
        Err(BlockRefusal::TooLarge(_))
    ));
    let mut bytes = good.clone();
    bytes.placements[0].groups[0] = vec![
        UnitRun {
            units: 1,
            ..bytes.placements[0].groups[0][0]
        };
        256
    ];
    bytes.placements = vec![bytes.placements[0].clone(); limits::RESERVATIONS_DECIDED];
    assert!(bytes.is_bounded());
    assert!(matches!(
        judged(&world, &[bytes]),
        Err(BlockRefusal::TooLarge(_))
    ));
}

#[test]
fn what_is_to_come_is_what_is_decided() {
    let (mut world, _) = before_the_boundary();
    let coming = world.state.reservations_to_come();
    let effects = world.block(vec![]);
    let [mut record] = <[_; 1]>::try_from(decisions(&world, &effects)).unwrap();
    record.booked = vec![];
    let [mut before] = <[_; 1]>::try_from(coming).unwrap();
    let ranks = record.bids.iter().map(|bid| bid.rank);
    before
        .bids
        .iter_mut()
        .zip(ranks)
        .for_each(|(bid, rank)| bid.rank = rank);
    assert_eq!(before, record, "but for ranks not drawn yet");
}

/// Four members reserve at random, and every boundary has a hint that a part of what stands leads
/// to; how many were taken.
fn reserve_at_random(seed: u64) -> usize {
    let mut policy = policy();
    policy.reservation.fronts = 1;
    let (mut world, mut dice) = (World::with(policy), Dice(seed));
    let offers = vec![world.reservable(1, 1, 3, 10), world.reservable(3, 1, 2, 4)];
    world.all(offers);
    world.until(8);
    let mut sealed = vec![];
    while world.state.height() < 120 {
        let opening = sealed
            .iter()
            .filter(|_| world.state.height().is_multiple_of(4));
        let open = |(n, commit, wish): &(u8, _, _)| world.open(*n, commit, wish);
        let mut entries: Vec<_> = opening.map(open).collect();
        for (lease, _) in world.state.leases() {
            let deliver = [1, 3].map(|n| world.by(n, EntryBody::Deliver { lease: *lease }));
            entries.extend(deliver);
        }
        if world.state.height() % 4 == 1 {
            let mut seal = |n| {
                let wish = random_reservation(&mut world, &mut dice);
                (n, world.commit(n, &wish, 3), wish)
            };
            sealed = (1..=4).map(&mut seal).collect();
            entries.extend(sealed.iter().map(|(_, commit, _)| commit.clone()));
        }
        let hints = random_hints(&world, &mut dice);
        let effects = world.hinted_block(entries, hints);
        decisions(&world, &effects).iter().for_each(check_decision);
    }
    let records = decisions(&world, &world.effects);
    assert!(records.len() > 5);
    records.iter().filter(|r| r.beaten.is_some()).count()
}

#[test]
fn random_hints_never_break_a_decision() {
    let taken: Vec<usize> = (0..20).map(reserve_at_random).collect();
    assert!(taken.iter().sum::<usize>() >= 12, "{taken:?}");
}
