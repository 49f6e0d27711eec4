//! A host on the real disk with a real index: restarts, a torn index, an index of another book.

use crate::world::World;
use gridbay_host::disk::RealDisk;
use gridbay_host::{Host, HostConfig, HostEffect, HostInput, Now};
use std::fs;
use std::path::Path;

/// The only validator of its network, in a directory.
fn open(world: &World, root: &Path) -> Host {
    let config = HostConfig {
        genesis: world.genesis.clone(),
        key: Some(crate::genesis::consensus_key(0)),
        chain: Some(crate::genesis::chain(0)),
        index: Some(root.join("index")),
    };
    let disk = RealDisk::open(&root.join("ledger")).expect("a directory");
    Host::open(config, Box::new(disk)).expect("the host opens")
}

/// Steps at the times the host asks for until its tip is `height`.
fn run(host: &mut Host, clock: &mut u64, height: u64) {
    let mut input = HostInput::Start;
    while host.state().height() < height {
        let now = Now {
            mono_ms: *clock,
            wall_ms: crate::world::EPOCH_MS + *clock,
        };
        let effects = host.step(now, input).expect("no fault");
        let wake = effects.iter().find_map(|effect| match effect {
            HostEffect::WakeAt(at) => Some(*at),
            _ => None,
        });
        *clock = (*clock + 1).max(wake.expect("every step says when to wake"));
        input = HostInput::Tick;
    }
}

fn submit(world: &mut World, host: &mut Host, clock: u64, n: usize) {
    for _ in 0..n {
        let entry = world.transfer(0);
        let now = Now {
            mono_ms: clock,
            wall_ms: crate::world::EPOCH_MS + clock,
        };
        host.step(now, HostInput::Submit(vec![entry]))
            .expect("no fault");
    }
}

/// A network of one validator and a second member, whom it can pay.
fn lonely() -> World {
    let mut world = World::new(1, 0, 1);
    let second = crate::genesis::genesis(2).members.remove(1);
    let second = gridbay_protocol::genesis::Member {
        validator: None,
        ..second
    };
    world.genesis.members.push(second);
    world
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn the_book_survives_and_the_index_is_made_anew_when_it_has_to_be() {
    let mut world = lonely();
    let place = tempfile::tempdir().expect("a directory");
    let root = place.path().join("a");
    let (mut host, mut clock) = (open(&world, &root), 0);
    run(&mut host, &mut clock, 2);
    submit(&mut world, &mut host, clock, 30);
    run(&mut host, &mut clock, 6);
    let account = world.account(0);
    let (root_before, history) = (host.state().root(), host.history(&account, u64::MAX, 100));
    assert!(history.len() >= 30);
    let reopened = |world: &World| {
        let host = open(world, &root);
        assert_eq!(
            (host.state().height(), host.state().root()),
            (6, root_before)
        );
        assert_eq!(host.history(&account, u64::MAX, 100), history);
        let block = host.block(3).expect("no fault").expect("it is there");
        assert_eq!(host.block_height(&block.block.id()), Some(3));
    };
    drop(host);
    reopened(&world);
    // No index.
    fs::remove_dir_all(root.join("index")).expect("removed");
    reopened(&world);
    // A torn index.
    let db = root.join("index").join("index.redb");
    let bytes = fs::read(&db).expect("the index's file");
    fs::write(&db, vec![0x5a; bytes.len()]).expect("written");
    reopened(&world);
    // No directory can be made in its place.
    fs::remove_dir_all(root.join("index")).expect("removed");
    fs::write(root.join("index"), b"in the way").expect("written");
    reopened(&world);
    fs::remove_file(root.join("index")).expect("removed");
    // An index ahead of the book: the book of a restored backup, say.
    let other = place.path().join("b");
    let (mut host, mut clock) = (open(&world, &other), 50_000);
    run(&mut host, &mut clock, 9);
    drop(host);
    fs::rename(other.join("index"), root.join("index")).expect("moved");
    reopened(&world);
}

#[test]
fn an_index_behind_the_book_is_completed() {
    let mut world = lonely();
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("a");
    let (index, old) = (root.join("index"), place.path().join("old"));
    let (mut host, mut clock) = (open(&world, &root), 0);
    host.snapshot_every(2);
    submit(&mut world, &mut host, clock, 10);
    run(&mut host, &mut clock, 3);
    drop(host);
    copy(&index, &old);
    let mut host = open(&world, &root);
    host.snapshot_every(2);
    submit(&mut world, &mut host, clock, 10);
    run(&mut host, &mut clock, 9);
    let account = world.account(0);
    let history = host.history(&account, u64::MAX, 100);
    assert!(history.len() >= 20);
    let ids: Vec<_> = (1..=9)
        .map(|h| host.block(h).unwrap().unwrap().block.id())
        .collect();
    drop(host);
    let whole = || {
        let host = open(&world, &root);
        assert_eq!(host.state().height(), 9);
        assert_eq!(host.history(&account, u64::MAX, 100), history);
        for (height, id) in (1..).zip(&ids) {
            assert_eq!(host.block_height(id), Some(height));
        }
    };
    whole();
    // Behind both snapshots, which are at heights 6 and 8: the blocks from the first on are
    // executed.
    fs::remove_dir_all(&index).unwrap();
    copy(&old, &index);
    whole();
    // Every kind of tear that leaves a directory.
    fs::remove_dir_all(&old).unwrap();
    copy(&index, &old);
    let db = index.join("index.redb");
    for tear in 0..4u8 {
        let mut bytes = fs::read(&db).unwrap();
        match tear {
            0 => fs::write(&db, &bytes[..bytes.len() / 2]).unwrap(),
            1 => fs::write(&db, []).unwrap(),
            2 => fs::remove_file(&db).unwrap(),
            _ => {
                // The head is whole, and the pages it points to are not.
                bytes[4096..].fill(0x5a);
                fs::write(&db, &bytes).unwrap();
            }
        }
        whole();
        fs::remove_dir_all(&index).unwrap();
        copy(&old, &index);
    }
}
