//! Disks that fail while the power stays: errors, full disks, syncs that fail and forget.

use crate::world::World;
use gridbay_host::disk::{Disk as _, FaultPlan, Operation};
use gridbay_host::{Fault, HostInput, Sought};

/// Four hosts; the disk of host 0 follows the plan from height 2 on. Returns the world when host 0
/// has stopped, or `None` if the plan did not strike by height 8.
fn until_fault(plan: FaultPlan, seed: u64) -> Option<World> {
    let mut world = World::new(4, 0, seed);
    world.faults = Some(vec![]);
    world.snapshot_every = Some(2);
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(2)));
    for k in 0..8 {
        world.transfer_at(world.now + k * 100, 0);
    }
    world.disks[0].fail(plan);
    world.run(60_000, |w| w.hosts[0].is_none() || w.all_at(8));
    world.hosts[0].is_none().then_some(world)
}

/// Host 0 is opened on the cured disk as it is, loses power soon after, and is there again.
fn recovers(mut world: World, case: &str) {
    let told = world.told[0];
    world.run(world.now + 300, |_| false);
    assert_eq!(world.told[0], told, "{case}: a stopped host says nothing");
    world.disks[0].cure();
    world.boot(0);
    let entry = world.transfer(0);
    let sought = Sought::from(&*entry);
    world.input(0, HostInput::Submit(vec![entry]));
    let goal = world.tip(1) + 3;
    let live = world.run(world.now + 30_000, |w| w.all_at(goal));
    assert!(live, "{case}: {:?}", world.hosts);
    let host = world.hosts[0].as_ref().unwrap();
    assert!(host.entry_height(sought).is_some(), "{case}: takes entries");
    world.disks[0].crash(|_| 0);
    world.stop(0);
    world.boot(0);
    let live = world.run(world.now + 30_000, |w| w.all_at(goal + 3));
    assert!(live, "{case}: {:?}", world.hosts);
}

fn strikes(operation: Operation, forgetful: bool) {
    let mut struck = 0;
    for before in 0..14 {
        let plan = FaultPlan {
            forgetful,
            lasting: before % 2 == 0,
            ..FaultPlan::once(operation, before)
        };
        let Some(world) = until_fault(plan, before) else {
            break;
        };
        struck += 1;
        let case = format!("{operation:?} {before}, forgetful: {forgetful}");
        let faults = world.faults.as_ref().unwrap();
        assert!(
            matches!(faults[..], [(0, Fault::Disk(_))]),
            "{case}: {faults:?}"
        );
        recovers(world, &case);
    }
    assert!(struck > 0, "{operation:?} never happened");
}

#[test]
fn a_failed_append_stops_the_host_and_a_cured_disk_lets_it_go_on() {
    strikes(Operation::Append, false);
}

#[test]
fn a_failed_sync_stops_the_host_and_a_cured_disk_lets_it_go_on() {
    strikes(Operation::Sync, false);
}

#[test]
fn bytes_that_a_failed_sync_forgot_are_not_relied_upon_afterwards() {
    strikes(Operation::Sync, true);
}

#[test]
fn a_failed_rename_or_removal_stops_the_host_and_a_cured_disk_lets_it_go_on() {
    strikes(Operation::Rename, false);
    strikes(Operation::Remove, false);
}

#[test]
fn a_full_disk_stops_the_host_before_it_says_anything_and_space_lets_it_go_on() {
    for room in (0..20_000).step_by(2_003) {
        let world = until_fault(FaultPlan::full_after(room), room).expect("the disk fills up");
        match &world.faults.as_ref().unwrap()[..] {
            [(0, Fault::Disk(error))] => {
                assert_eq!(error.source.kind(), std::io::ErrorKind::StorageFull);
            }
            other => panic!("{other:?}"),
        }
        recovers(world, &format!("room for {room}"));
    }
}

#[test]
fn a_disk_that_fails_while_the_host_opens_is_said_and_the_next_opening_is_whole() {
    let mut world = World::new(4, 0, 3);
    world.snapshot_every = Some(2);
    world.boot_all();
    assert!(world.run(60_000, |w| w.all_at(7)));
    world.crash(0);
    let kinds = [Operation::Read, Operation::Rewrite, Operation::Sync];
    for kind in kinds {
        for before in 0..3 {
            let plan = FaultPlan {
                forgetful: true,
                ..FaultPlan::once(kind, before)
            };
            world.disks[0].fail(plan);
            let struck = world.disks[0].faults();
            let opened = world.open(0);
            if world.disks[0].faults() > struck && before < 2 {
                let failed = matches!(opened, Err(Fault::Disk(_)));
                assert!(failed, "{kind:?} {before}");
            }
            world.disks[0].cure();
        }
    }
    world.boot(0);
    world.disks[0].crash(|_| 0);
    assert!(world.disks[0].len("blocks").unwrap() > 0);
    world.stop(0);
    world.boot(0);
    let goal = world.tip(1) + 3;
    assert!(world.run(world.now + 30_000, |w| w.all_at(goal)));
}
