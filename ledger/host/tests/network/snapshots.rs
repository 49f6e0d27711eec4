//! Restarts from snapshots: the snapshots used, those passed over, and the bytes read.
//!
//! An index in memory begins after the snapshot that the host started from, so which blocks it
//! knows tells where the host started.

use crate::world::World;
use gridbay_host::disk::{Disk as _, MemDisk};
use gridbay_host::{Fault, Host};

/// A world at height 14 or more with snapshots every 4 blocks; host 0 has stopped.
fn stopped(seed: u64) -> World {
    let mut world = World::new(4, 0, seed);
    world.snapshot_every = Some(4);
    world.boot_all();
    for k in 0..10 {
        world.transfer_at(300 + k * 250, (k % 4) as usize);
    }
    assert!(world.run(60_000, |w| w.all_at(14)));
    world.stop(0);
    world
}

fn snapshots(disk: &MemDisk) -> Vec<String> {
    let mut names = disk.list().unwrap();
    names.retain(|name| name.starts_with("snapshot"));
    names
}

fn height_of(name: &str) -> u64 {
    name.trim_start_matches("snapshot-").parse().unwrap()
}

/// Height of the snapshot that the host started from; 0 for the genesis.
fn base(world: &World, host: &Host) -> u64 {
    let tip = host.state().height();
    let known = |h: &u64| host.block_height(&world.decided[h].0).is_some();
    let first = (1..=tip).find(known).expect("the last blocks are known");
    // The block of the snapshot itself is not executed again.
    first - 1
}

/// Opens host 0, compares its state with the network's, and says where it started.
fn start(world: &World) -> u64 {
    let host = world.open(0).expect("the host opens");
    let tip = host.state().height();
    assert_eq!(host.state().root(), world.decided[&tip].1);
    assert_eq!(host.state().tip(), world.decided[&tip].0);
    base(world, &host)
}

fn copy(from: &MemDisk, name: &str, to: &mut MemDisk, new_name: &str) {
    let len = from.len(name).unwrap() as usize;
    to.remove(new_name).unwrap();
    to.append(new_name, &from.read(name, 0, len).unwrap())
        .unwrap();
    to.sync(new_name).unwrap();
}

#[test]
fn a_restart_begins_at_the_newest_snapshot_and_reads_the_block_file_once() {
    let mut world = stopped(1);
    let names = snapshots(&world.disks[0]);
    assert_eq!(names.len(), 2, "{names:?}");
    let newest = height_of(&names[1]);
    assert!(newest >= 12 && newest.is_multiple_of(4));
    world.disks[0]
        .append("snapshot.new", b"half of one")
        .unwrap();
    let disk = &world.disks[0];
    let all: u64 = disk
        .list()
        .unwrap()
        .iter()
        .map(|f| disk.len(f).unwrap())
        .sum();
    let (before, block_file) = (disk.bytes_read(), disk.len("blocks").unwrap());
    assert_eq!(start(&world), newest);
    let read = world.disks[0].bytes_read() - before;
    // All files once, the few blocks after the snapshot again to execute them.
    assert!(read < all + block_file / 2, "{read} of {all} bytes");
    assert_eq!(snapshots(&world.disks[0]), names);
    world.boot(0);
    let goal = world.tip(1) + 9;
    assert!(world.run(world.now + 30_000, |w| w.all_at(goal)));
    let after = snapshots(&world.disks[0]);
    assert_eq!(after.len(), 2);
    assert!(height_of(&after[1]) > newest);
}

#[test]
fn a_damaged_snapshot_is_passed_over_for_the_one_before_it() {
    let world = stopped(2);
    let names = snapshots(&world.disks[0]);
    let (older, newest) = (height_of(&names[0]), height_of(&names[1]));
    let len = world.disks[0].len(&names[1]).unwrap();
    for byte in (0..len).step_by(97).chain([len - 1]) {
        world.disks[0].damage(&names[1], byte);
        assert_eq!(start(&world), older, "byte {byte}");
        world.disks[0].damage(&names[1], byte);
    }
    assert_eq!(start(&world), newest);
    for end in [0, 19, len / 2, len - 1] {
        let mut disk = world.disks[0].clone();
        let copied = MemDisk::new();
        copy(&disk, &names[1], &mut copied.clone(), "kept");
        disk.truncate(&names[1], end).unwrap();
        disk.sync(&names[1]).unwrap();
        assert_eq!(start(&world), older, "cut at {end}");
        copy(&copied, "kept", &mut disk, &names[1]);
    }
    world.disks[0].damage(&names[0], 40);
    world.disks[0].damage(&names[1], 40);
    assert_eq!(start(&world), 0, "without any, all blocks are executed");
}

#[test]
fn a_snapshot_of_another_network_another_book_or_another_height_is_passed_over() {
    let world = stopped(3);
    let names = snapshots(&world.disks[0]);
    let (older, newest) = (height_of(&names[0]), height_of(&names[1]));
    let mut disk = world.disks[0].clone();
    let mut other_book = World::new(4, 0, 77);
    other_book.snapshot_every = Some(4);
    let mut other_network = World::new(7, 0, 3);
    other_network.snapshot_every = Some(4);
    for other in [&mut other_book, &mut other_network] {
        other.boot_all();
        assert!(other.run(60_000, |w| w.all_at(newest)));
        let found = snapshots(&other.disks[0]);
        let name = found.iter().find(|name| height_of(name) == newest);
        let name = name.expect("a snapshot of that height");
        let kept = MemDisk::new();
        copy(&disk, &names[1], &mut kept.clone(), "kept");
        copy(&other.disks[0], name, &mut disk, &names[1]);
        assert_eq!(start(&world), older);
        copy(&kept, "kept", &mut disk, &names[1]);
    }
    copy(&world.disks[0], &names[0], &mut disk, &names[1]);
    assert_eq!(start(&world), older, "a name that claims another height");
}

#[test]
fn snapshots_ahead_of_a_restored_block_file_are_passed_over_and_replaced() {
    let mut world = stopped(4);
    let names = snapshots(&world.disks[0]);
    // A backup that ends before both: its last blocks are cut until neither is reached.
    let first = height_of(&names[0]);
    while world.open(0).unwrap().state().height() >= first {
        let len = world.disks[0].len("blocks").unwrap();
        world.disks[0].truncate("blocks", len - 1).unwrap();
        world.disks[0].sync("blocks").unwrap();
    }
    assert_eq!(start(&world), 0);
    world.told[0] = 0;
    world.disks[0].remove("journal").unwrap();
    world.snapshot_every = Some(3);
    world.boot(0);
    let goal = world.tip(1) + 8;
    assert!(world.run(world.now + 30_000, |w| w.all_at(goal)));
    let heights: Vec<u64> = snapshots(&world.disks[0])
        .iter()
        .map(|n| height_of(n))
        .collect();
    assert_eq!(heights.len(), 2);
    world.stop(0);
    assert_eq!(start(&world), heights[1]);
}

#[test]
fn a_damaged_block_below_the_snapshot_is_refused_by_its_first_bad_byte() {
    let world = stopped(5);
    let len = world.disks[0].len("blocks").unwrap();
    for place in [3, len / 7, len / 3] {
        world.disks[0].damage("blocks", place);
        match world.open(0) {
            Err(Fault::Corrupt { file, offset }) => {
                assert_eq!(file, "blocks");
                assert!(
                    offset <= place && place - offset < 4_096,
                    "{offset} {place}"
                );
            }
            other => panic!("{other:?}"),
        }
        world.disks[0].damage("blocks", place);
    }
    assert!(start(&world) > 0);
}
