//! Crashes: hosts lose power at any moment, and with it all bytes not synced.

use crate::world::World;
use gridbay_host::disk::Disk as _;
use gridbay_host::{Fault, HostInput};

/// Six crashes with loss of messages. The world checks that no host forgets a block it reported and
/// that none contradicts a vote it sent before.
fn six_crashes(seed: u64) -> World {
    let mut world = World::new(4, 0, seed);
    world.loss = 50 + (seed % 4) * 50;
    world.latency = (5, 65);
    world.boot_all();
    for k in 0..6 {
        let host = world.rng.below(4) as usize;
        let at = 500 + k * 1_500 + world.rng.below(900);
        let down = world.rng.below(2_000);
        world.crash_at(at, host);
        world.restart_at(at + down, host);
    }
    for k in 0..40 {
        let at = k * 250 + world.rng.below(250);
        let from = world.rng.below(4) as usize;
        world.transfer_at(at, from);
    }
    let live = world.run(600_000, |w| w.all_at(30));
    assert!(live, "seed {seed} stands still: {:?}", world.hosts);
    world
}

#[test]
fn many_seeds_of_crashes_and_losses() {
    let seeds = std::env::var("GRIDBAY_SEEDS")
        .ok()
        .and_then(|n| n.parse().ok());
    for seed in 0..seeds.unwrap_or(8) {
        six_crashes(seed);
    }
}

#[test]
fn all_hosts_lose_power_at_once_again_and_again() {
    for seed in 0..4 {
        let mut world = World::new(4, 0, seed);
        world.boot_all();
        for k in 1..8 {
            // At any moment of a height, down for less than a second.
            let at = k * 2_000 + world.rng.below(260);
            for host in 0..4 {
                world.crash_at(at, host);
                let down = world.rng.below(900);
                world.restart_at(at + 1 + down, host);
            }
        }
        let live = world.run(120_000, |w| w.all_at(50));
        assert!(live, "seed {seed}: {:?}", world.hosts);
    }
}

#[test]
fn a_lost_block_file_does_not_unbind_the_journal() {
    let mut world = World::new(4, 0, 4);
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(10)));
    world.crash(2);
    world.disks[2].remove("blocks").unwrap();
    world.told[2] = 0;
    world.boot(2);
    assert_eq!(
        (world.tip(2), world.hosts[2].as_ref().unwrap().round()),
        (0, None)
    );
    let tip = world.tip(0);
    let live = world.run(world.now + 10_000, |w| w.all_at(tip + 5));
    assert!(live, "{:?}", world.hosts);
}

#[test]
fn damage_is_refused_with_its_place_and_a_torn_end_is_fetched_again() {
    let mut world = World::new(4, 0, 6);
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(10)));
    world.crash(1);
    let len = world.disks[1].len("blocks").unwrap();
    world.disks[1].damage("blocks", len / 2);
    match world.open(1) {
        Err(Fault::Corrupt { file, offset }) => {
            assert_eq!(file, "blocks");
            assert!(offset <= len / 2 && len / 2 - offset < 4_096);
        }
        other => panic!("{other:?}"),
    }
    // The same byte repaired, the end torn: one block is missing, and its peers have it.
    world.disks[1].damage("blocks", len / 2);
    world.disks[1].truncate("blocks", len - 7).unwrap();
    let tip = world.told[1];
    world.told[1] = tip - 1;
    world.boot(1);
    assert!(world.tip(1) < tip);
    assert!(
        world.run(world.now + 5_000, |w| w.all_at(tip + 3)),
        "{:?}",
        world.hosts
    );
}

#[test]
fn a_host_that_had_a_fault_takes_no_further_step() {
    let mut world = World::new(1, 0, 1);
    world.boot(0);
    assert!(
        world.run(10_000, |w| w.all_at(3)),
        "one validator is a quorum"
    );
    let host = world.hosts[0].as_mut().unwrap();
    // The disk loses the block file under the host.
    world.disks[0].remove("blocks").unwrap();
    let later = gridbay_host::Now {
        mono_ms: world.now + 10_000,
        wall_ms: crate::world::EPOCH_MS + world.now + 10_000,
    };
    let request =
        gridbay_host::message::HostMessage::SyncRequest(gridbay_host::message::SyncRequest {
            from: 1,
        });
    let input = HostInput::Message {
        from: [9; 32],
        message: gridbay_host::Received::Message(request),
    };
    assert!(matches!(host.step(later, input), Err(Fault::Disk(_))));
    assert!(matches!(
        host.step(later, HostInput::Tick),
        Err(Fault::Invariant(_))
    ));
}
