//! Beacon chains that run out and are renewed.

use crate::genesis::chain;
use crate::world::World;
use gridbay_protocol::genesis::Policy;

/// Enough for half of all heights of the two epochs that a registration waits, and a quarter more.
const STEPS: u32 = 2_000;
/// Both have to sign every block.
const VALIDATORS: usize = 2;

/// Generation of the chain that holds the tip which node 0 knows of a validator.
fn generation(world: &World, n: usize) -> u32 {
    let state = world.nodes[0].core.state();
    let own = world.nodes[n].core.host().validator().expect("validates");
    let tip = state.beacon_tip(&own).expect("registered");
    let first = chain(n, STEPS);
    let mut generations = 0..20;
    let found = generations.find(|g| first.generation(*g).remaining(&tip).is_some());
    found.expect("the tip is one of the validator's own")
}

/// Runs until all chains have been renewed so often.
fn grow(world: &mut World, generations: u32) {
    for _ in 0..2_000 {
        if (0..VALIDATORS).all(|n| generation(world, n) >= generations) {
            return;
        }
        world.run(1_000);
    }
    panic!("a beacon chain was not renewed {generations} times");
}

#[test]
fn the_chain_goes_on_over_many_beacon_chains_and_a_restart() {
    // Heights pass whether work is due or not.
    let policy = Policy {
        block_interval_ms: 25,
        heartbeat_ms: 25,
        ..Policy::local()
    };
    let mut world = World::with(VALIDATORS, 0, STEPS, policy);
    // The next chain is registered, and waits, while the process ends and starts again.
    let waits = |world: &World, n: usize| {
        let own = world.nodes[n].core.host().validator().expect("validates");
        let state = world.nodes[0].core.state();
        state.beacon_successor(&own).is_some()
    };
    while !waits(&world, 1) {
        world.run(500);
        assert!(world.nodes[0].core.state().height() < 2 * u64::from(STEPS));
    }
    let killed = world.nodes[0].core.state().height();
    world.kill(1);
    world.run(500);
    world.restart(1);
    assert_eq!(generation(&world, 1), 0);
    grow(&mut world, 1);
    world.run(2_000);
    let host = world.nodes[0].core.host();
    let tip = host.state().height();
    assert!(tip > 2 * gridbay_protocol::limits::EPOCH_HEIGHTS, "{tip}");
    let rounds = |h: &u64| host.certificate(*h).expect("reads").expect("decided").round;
    let late: Vec<u64> = (1..=tip).filter(|h| rounds(h) > 0).collect();
    let excused = |h: &u64| (killed..killed + 4).contains(h);
    assert!(
        late.iter().all(excused),
        "turns missed for want of a reveal: {late:?}"
    );
}
