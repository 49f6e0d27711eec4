//! Buckets by the letter of the module.

use super::*;
use crate::rng::Rng;

/// A world of keys, node 0 the owner; and the peers of its furthest bucket, which half of all are
/// in.
fn world() -> (Vec<Key>, Vec<Id>) {
    let mut rng = Rng::new(3, "table");
    let keys: Vec<Key> = (0..200).map(|_| Key::draw(&mut rng)).collect();
    let far = |id: &Id| keys[0].distance(&keys[*id as usize]).bucket() == Some(0);
    let peers = (1..200).filter(far).collect();
    (keys, peers)
}

fn add(table: &mut Table, keys: &[Key], peer: Id, now: Millis) -> Inserted {
    table.insert(
        &keys[0],
        (peer, &keys[peer as usize]),
        now,
        |_| true,
        |_| false,
    )
}

#[test]
fn a_bucket_of_connected_peers_turns_others_away() {
    let (keys, far) = world();
    let mut table = Table::default();
    for peer in &far[..K] {
        assert_eq!(add(&mut table, &keys, *peer, 0), Inserted::Yes);
    }
    assert_eq!(add(&mut table, &keys, far[K], 0), Inserted::No);
    assert_eq!(add(&mut table, &keys, far[0], 0), Inserted::Yes, "is in");
    assert_eq!(table.peers().count(), K);
    assert_eq!(table.fill(), (1, 1));
}

#[test]
fn a_newcomer_takes_the_place_of_one_that_stays_away() {
    let (keys, far) = world();
    let mut table = Table::default();
    for peer in &far[..K] {
        add(&mut table, &keys, *peer, 0);
    }
    let distance = |p: Id| keys[0].distance(&keys[p as usize]);
    table.mark(&distance(far[3]), far[3], false);
    assert_eq!(
        add(&mut table, &keys, far[K], 0),
        Inserted::Waits(far[3]),
        "the one that is not connected"
    );
    assert_eq!(add(&mut table, &keys, far[K + 1], 0), Inserted::No);
    table.settle(ms(PENDING) - 1, |_| true);
    assert!(table.peers().all(|p| p != far[K]));
    table.settle(ms(PENDING), |_| true);
    assert!(table.peers().all(|p| p != far[3]) && table.peers().any(|p| p == far[K]));
    // One that connects in time keeps its place.
    table.mark(&distance(far[5]), far[5], false);
    assert_eq!(
        add(&mut table, &keys, far[K + 1], 0),
        Inserted::Waits(far[5])
    );
    table.mark(&distance(far[5]), far[5], true);
    table.settle(ms(PENDING), |_| true);
    assert!(table.peers().any(|p| p == far[5]) && table.peers().all(|p| p != far[K + 1]));
}

#[test]
fn one_that_a_dial_did_not_reach_goes() {
    let (keys, far) = world();
    let mut table = Table::default();
    add(&mut table, &keys, far[0], 0);
    table.remove(&keys[0].distance(&keys[far[0] as usize]), far[0]);
    assert_eq!(table.peers().count(), 0);
}

#[test]
fn two_of_a_site_and_no_more_enter_a_bucket() {
    let (keys, far) = world();
    let mut table = Table::default();
    let mut add = |peer: Id| {
        let key = &keys[peer as usize];
        table.insert(&keys[0], (peer, key), 0, |_| true, |_| true)
    };
    let all: Vec<_> = far[..4].iter().map(|p| add(*p)).collect();
    assert_eq!(
        all,
        [Inserted::Yes, Inserted::Yes, Inserted::No, Inserted::No]
    );
}

#[test]
fn the_closest_are_those_that_a_plain_search_finds() {
    let (keys, _) = world();
    let mut table = Table::default();
    for peer in 1..200 {
        add(&mut table, &keys, peer, 0);
    }
    let mut rng = Rng::new(4, "targets");
    for _ in 0..20 {
        let target = Key::draw(&mut rng);
        let mut plain: Vec<Id> = table.peers().filter(|p| *p != 7).collect();
        plain.sort_by_key(|p| keys[*p as usize].distance(&target));
        plain.truncate(K);
        assert_eq!(table.closest(&keys, &target, 7), plain);
    }
}
