//! Four hosts agree and go on: in peace, with a dead member, over a cut, with newcomers.

use crate::world::World;
use gridbay_host::HostInput;

/// Transfers of all members, one every `every` ms on average.
fn traffic(world: &mut World, until: u64, every: u64) {
    for k in 0..until / every {
        let at = k * every + world.rng.below(every);
        let from = world.rng.below(world.validators() as u64) as usize;
        world.transfer_at(at, from);
    }
}

#[test]
fn a_hundred_heights_in_peace() {
    let mut world = World::new(4, 0, 1);
    world.boot_all();
    traffic(&mut world, 20_000, 100);
    assert!(world.run(60_000, |w| w.all_at(120)), "{:?}", world.hosts);
    assert!(
        world.rounds.values().all(|round| *round == 0),
        "{:?}",
        world.rounds
    );
    // Heights follow one another at the block interval, give or take the latency of a proposal.
    let (first, last) = (world.decided_at[&1], world.decided_at[&101]);
    let mean = (last - first) / 100;
    assert!((245..=275).contains(&mean), "mean {mean} ms");
    // All transfers took effect and every mempool is empty.
    let host = world.hosts[0].as_ref().unwrap();
    let entries: usize = (1..=120)
        .map(|h| host.block(h).unwrap().unwrap().block.entries.len())
        .sum();
    assert_eq!(entries, 200);
    assert_eq!(world.acknowledged.len(), 200);
    assert!(world.hosts.iter().flatten().all(|h| h.mempool_len() == 0));
    assert!(world.penalties.is_empty(), "{:?}", world.penalties);
    for height in 1..=120 {
        let certificate = host.certificate(height).unwrap().unwrap();
        assert_eq!(certificate.block, world.decided[&height].0);
    }
}

#[test]
fn at_most_three_syncs_per_height() {
    let mut world = World::new(4, 0, 3);
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(5)));
    let before: Vec<u64> = world.disks.iter().map(|d| d.syncs()).collect();
    let start: Vec<u64> = (0..4).map(|i| world.tip(i)).collect();
    assert!(world.run(60_000, |w| w.all_at(105)));
    for i in 0..4 {
        let heights = world.tip(i) - start[i];
        let syncs = world.disks[i].syncs() - before[i];
        // The first or last height may be counted in part.
        assert!(
            syncs <= 3 * heights + 3,
            "{syncs} syncs in {heights} heights"
        );
    }
}

#[test]
fn nothing_starts_before_a_quorum_is_there() {
    let mut world = World::new(4, 0, 2);
    world.boot(0);
    world.boot(1);
    world.run(5_000, |_| false);
    assert_eq!(
        (world.tip(0), world.hosts[0].as_ref().unwrap().round()),
        (0, None)
    );
    world.boot(2);
    assert!(world.run(20_000, |w| (0..3).all(|i| w.tip(i) >= 5)));
}

#[test]
fn a_validator_that_never_came_costs_a_round_now_and_then() {
    let mut world = World::new(4, 0, 5);
    for i in 0..3 {
        world.boot(i);
    }
    traffic(&mut world, 10_000, 100);
    assert!(world.run(120_000, |w| (0..3).all(|i| w.tip(i) >= 100)));
    let late = world.rounds.values().filter(|r| **r > 0).count();
    assert!(
        (10..=45).contains(&late),
        "{late} of 100 heights went to a second round"
    );
    assert!(world.rounds.values().all(|r| *r <= 1), "{:?}", world.rounds);
}

#[test]
fn two_halves_wait_and_then_agree() {
    for seed in 0..3 {
        let mut world = World::new(4, 0, seed);
        world.cut = Some((3_000, 20_000, 2));
        world.boot_all();
        traffic(&mut world, 30_000, 200);
        world.run(20_000, |_| false);
        let during = |w: &World| {
            let in_the_cut = 3_200..20_000;
            w.decided_at
                .values()
                .filter(|t| in_the_cut.contains(*t))
                .count()
        };
        assert!(during(&world) <= 1, "seed {seed}");
        let tip = world.decided.len() as u64;
        assert!(
            world.run(40_000, |w| w.all_at(tip + 20)),
            "seed {seed}: {:?}",
            world.hosts
        );
    }
}

#[test]
fn losing_every_tenth_message_costs_time_not_agreement() {
    for seed in 0..3 {
        let mut world = World::new(4, 1, seed);
        world.loss = 100;
        world.boot_all();
        traffic(&mut world, 10_000, 200);
        assert!(
            world.run(120_000, |w| w.all_at(40)),
            "seed {seed}: {:?}",
            world.hosts
        );
    }
}

#[test]
fn a_late_joiner_and_a_late_validator_catch_up_by_certificates() {
    let mut world = World::new(4, 1, 7);
    for i in 0..3 {
        world.boot(i);
    }
    traffic(&mut world, 40_000, 200);
    assert!(world.run(300_000, |w| (0..3).all(|i| w.tip(i) >= 160)));
    let tip = world.tip(0);
    world.boot(3);
    world.boot(4);
    let from = world.now;
    assert!(
        world.run(from + 2_000, |w| w.tip(3) >= tip && w.tip(4) >= tip),
        "{:?}",
        world.hosts
    );
    // The validator takes part from now on: no height needs a second round any more.
    let tip = world.tip(0) + 2;
    assert!(world.run(from + 60_000, |w| w.all_at(tip + 40)));
    assert!(
        world.rounds.range(tip + 1..).all(|(_, r)| *r == 0),
        "{:?}",
        world.rounds
    );
    // Queries answer alike everywhere, also from a book that was fetched.
    let account = world.account(0);
    let history = |i: usize| {
        let host = world.hosts[i].as_ref().unwrap();
        host.history(&account, 100, 50)
    };
    assert!(history(0).len() >= 20 && history(0) == history(4));
}

#[test]
fn a_validator_exactly_one_height_behind_fetches_it() {
    let mut world = World::new(4, 0, 8);
    world.genesis.policy.heartbeat_ms = 600_000;
    world.boot_all();
    world.transfer_at(1_000, 0);
    assert!(world.run(2_000, |w| w.all_at(2)), "{:?}", world.hosts);
    // Host 3 hears nothing while the others decide one more height, after which all is quiet.
    world.cut = Some((2_000, 2_500, 3));
    world.transfer_at(2_010, 0);
    world.run(2_500, |_| false);
    assert_eq!((world.tip(0), world.tip(3)), (3, 2));
    assert!(world.run(6_000, |w| w.tip(3) == 3), "{:?}", world.hosts);
}

#[test]
fn equal_seeds_give_equal_traces() {
    let run = |seed| {
        let mut world = World::new(4, 1, seed);
        world.loss = 50;
        world.boot_all();
        traffic(&mut world, 8_000, 100);
        world.crash_at(2_000, 1);
        world.restart_at(4_000, 1);
        world.run(10_000, |_| false);
        (world.trace(), world.decided.len())
    };
    let first = run(11);
    assert!(first.1 > 20);
    assert_eq!(run(11), first);
    assert_ne!(run(12).0, first.0);
}

#[test]
fn an_entry_is_found_by_its_id_and_so_is_its_block() {
    let mut world = World::new(4, 0, 9);
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(3)));
    let entry = world.transfer(0);
    let tip = world.tip(0);
    world.input(0, HostInput::Submit(vec![entry.clone()]));
    assert!(world.run(world.now + 5_000, |w| w.all_at(tip + 4)));
    let host = world.hosts[3].as_ref().unwrap();
    let at = host.entry_height(&*entry).expect("it is in the book");
    assert!(at <= tip + 3);
    assert_eq!(host.block_height(&world.decided[&at].0), Some(at));
}
