//! Beacon chains that run out and are renewed.

use crate::genesis::chain;
use crate::world::World;
use gridbay_protocol::genesis::Policy;

/// Short enough to be used up a few times, long enough for a reserve of more than a handful of turns.
const STEPS: u32 = 24;

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
    for _ in 0..200 {
        if (0..4).all(|n| generation(world, n) >= generations) {
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
        heartbeat_ms: 250,
        ..Policy::local()
    };
    let mut world = World::with(4, 0, STEPS, policy);
    grow(&mut world, 2);
    let killed = world.nodes[0].core.state().height();
    world.kill(2);
    world.run(500);
    world.restart(2);
    let before = generation(&world, 2);
    grow(&mut world, before + 1);
    let host = world.nodes[0].core.host();
    let tip = host.state().height();
    // Four take turns, and a chain serves each for 18 at least.
    assert!(tip >= u64::from(before + 1) * 4 * 18, "{tip}");
    let rounds = |h: &u64| host.certificate(*h).expect("reads").expect("decided").round;
    let late: Vec<u64> = (1..=tip).filter(|h| rounds(h) > 0).collect();
    let excused = |h: &u64| (killed..killed + 4).contains(h);
    assert!(
        late.iter().all(excused),
        "turns missed for want of a reveal: {late:?}"
    );
}
