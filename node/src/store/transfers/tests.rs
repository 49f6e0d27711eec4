use super::*;
use gridbay_host::disk::{FaultPlan, MemDisk};
use gridbay_protocol::entry::Entry;
use gridbay_protocol::ids::{AccountId, NetworkId};
use gridbay_protocol::keys::SecretKey;

fn entry(valid_until: u64) -> SignedEntry {
    let key = SecretKey::from_seed(&[7; 32]);
    let entry = Entry {
        network: NetworkId([1; 32]),
        account: AccountId([2; 32]),
        key: key.public(),
        valid_until,
        body: EntryBody::Transfer {
            to: AccountId([3; 32]),
            amount: "1".parse().unwrap(),
            memo: Hash32::default(),
        },
    };
    SignedEntry::new(entry, &key)
}

fn key(n: usize) -> TransferKey {
    TransferKey::of(&format!("key {n}"))
}

/// Transfers under a range of keys, whose entries are the same: the store does not look at it.
fn transfers(keys: std::ops::Range<usize>, entry: &SignedEntry) -> Vec<Transfer> {
    let one = |n| Transfer {
        key: key(n),
        repeats: true,
        entry: entry.clone(),
    };
    keys.map(one).collect()
}

fn passing(n: usize, entry: &SignedEntry) -> Transfer {
    Transfer {
        key: key(n),
        repeats: false,
        entry: entry.clone(),
    }
}

#[test]
fn many_transfers_are_safe_with_one_sync() {
    let disk = MemDisk::default();
    let store = TransferStore::on(Box::new(disk.clone())).unwrap();
    let before = disk.syncs();
    store.keep(transfers(0..200, &entry(40))).unwrap();
    assert_eq!(disk.syncs(), before + 1);
}

#[test]
fn a_key_has_one_entry_also_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let open = || TransferStore::open(&dir.path().join("transfers")).unwrap();
    let (first, other) = (entry(40), entry(41));
    let store = open();
    store.keep(transfers(1..2, &first)).unwrap();
    store.keep(transfers(1..3, &other)).unwrap();
    assert_eq!(store.get(&key(1)).as_ref(), Some(&first));
    assert_eq!(store.get(&key(2)).as_ref(), Some(&other));
    store.keep(vec![passing(3, &other)]).unwrap();
    drop(store);

    let store = open();
    assert_eq!(store.get(&key(1)).as_ref(), Some(&first));
    assert_eq!(store.get(&key(3)), None, "nobody asks for it again");
    store.forget_refused(&[(key(2), first.id())]).unwrap();
    assert!(store.get(&key(2)).is_some(), "it has another entry");
    store.forget_refused(&[(key(2), other.id())]).unwrap();
    drop(store);
    assert_eq!(open().get(&key(2)), None);
}

#[test]
fn what_is_decided_waits_no_longer() {
    let store = TransferStore::on(Box::new(MemDisk::new())).unwrap();
    let early = entry(40);
    store.keep(transfers(0..WAITING, &early)).unwrap();
    assert_eq!(store.room(39), 0);
    store.decided(&key(7));
    store.decided(&key(7));
    store.decided(&key(WAITING + 1));
    assert_eq!(store.room(39), 1);
    assert_eq!(store.waiting().len(), WAITING - 1);
    store.keep(vec![passing(WAITING, &entry(79))]).unwrap();
    assert_eq!(
        store.get(&key(7)).as_ref(),
        Some(&early),
        "it is remembered"
    );
    // At its last height an entry is in its block or in none.
    assert_eq!(store.room(40), WAITING - 1);
    store.decided(&key(WAITING));
    assert_eq!(store.get(&key(WAITING)), None, "nobody asks for it again");
}

#[test]
fn the_oldest_are_forgotten_first_and_none_that_is_young_or_waits() {
    let disk = MemDisk::new();
    let store = TransferStore::on(Box::new(disk.clone())).unwrap();
    let began = Instant::now();
    let decided = |mut keys: std::ops::Range<usize>, at| {
        keys.all(|n| {
            store.decided_at(&key(n), at);
            true
        })
    };
    store.keep_at(transfers(0..200, &entry(39)), began).unwrap();
    decided(0..200, began);
    for hundred in 2..KEPT / 100 + 10 {
        let keys = hundred * 100..100 + hundred * 100;
        store
            .keep_at(
                transfers(keys.clone(), &entry(40)),
                began + Duration::from_secs(1),
            )
            .unwrap();
        decided(keys, began + Duration::from_secs(1));
    }
    let many = |store: &TransferStore| store.known().entries.len();
    let all = KEPT / 100 * 100 + 1_000;
    assert_eq!(many(&store), all, "all are young");
    store.room_at(1, began + KEPT_FOR);
    assert_eq!(many(&store), all - 200);
    assert_eq!(store.get(&key(199)), None);
    assert!(store.get(&key(200)).is_some());
    let later = began + KEPT_FOR + Duration::from_secs(1);
    store.keep_at(transfers(0..1, &entry(99)), later).unwrap();
    assert_eq!(many(&store), KEPT);
    store.room_at(1, later + KEPT_FOR * 9);
    assert_eq!(many(&store), KEPT, "the last ones stay whatever their age");
    assert!(store.get(&key(0)).is_some(), "it waits");
    // The file has those that are forgotten as well, as long as it is not written anew.
    let again = TransferStore::on(Box::new(disk)).unwrap();
    assert!(again.known().entries.len() >= KEPT);
}

#[test]
fn keys_that_are_free_again_leave_nothing_behind() {
    let store = TransferStore::on(Box::new(MemDisk::new())).unwrap();
    store.keep(transfers(0..1, &entry(40))).unwrap();
    for n in 1..3 * SLACK {
        store.keep(vec![passing(n, &entry(40))]).unwrap();
        store.decided(&key(n));
    }
    assert_eq!(store.known().entries.len(), 1);
    assert!(store.known().order.len() <= SLACK + 3);
}

#[test]
fn a_key_that_waits_stays_however_old_it_is() {
    let store = TransferStore::on(Box::new(MemDisk::new())).unwrap();
    let began = Instant::now();
    store
        .keep_at(transfers(0..1, &entry(1_000)), began)
        .unwrap();
    store
        .keep_at(transfers(1..KEPT + 2, &entry(40)), began)
        .unwrap();
    store.room_at(40, began);
    let long_after = began + KEPT_FOR * 2;
    store.room_at(40, long_after);
    assert!(store.get(&key(0)).is_some(), "its entry may be decided yet");
    assert_eq!(store.known().entries.len(), KEPT + 2);
    store.room_at(1_000, long_after);
    assert!(store.get(&key(0)).is_some(), "it has waited until now");
    assert_eq!(store.known().entries.len(), KEPT, "the others are old");
}

#[test]
fn a_key_is_young_again_when_its_entry_is_decided_or_found() {
    let store = TransferStore::on(Box::new(MemDisk::new())).unwrap();
    let (began, all) = (Instant::now(), KEPT + 2);
    store.keep_at(transfers(0..all, &entry(40)), began).unwrap();
    for n in 1..all {
        store.decided_at(&key(n), began);
    }
    store.decided_at(&key(0), began + KEPT_FOR / 2);
    store.known().renew(&key(1), began + KEPT_FOR / 2);
    store.room_at(1, began + KEPT_FOR);
    assert_eq!(store.known().entries.len(), KEPT);
    for (n, is_known) in [(0, true), (1, true), (2, false), (3, false), (4, true)] {
        assert_eq!(store.get(&key(n)).is_some(), is_known, "{n}");
    }
}

#[test]
fn a_refused_entry_that_another_request_has_found_stays() {
    let store = TransferStore::on(Box::new(MemDisk::new())).unwrap();
    let one = entry(40);
    store.keep(transfers(0..2, &one)).unwrap();
    assert_eq!(store.find(&key(0)).as_ref(), Some(&one));
    let both = [(key(0), one.id()), (key(1), one.id())];
    store.forget_refused(&both).unwrap();
    assert!(store.get(&key(0)).is_some() && store.get(&key(1)).is_none());
    store.forget_lapsed(&both).unwrap();
    assert_eq!(store.get(&key(0)), None, "nobody can send it any more");
}

#[test]
fn beyond_the_most_keys_no_more_are_taken_until_some_are_old() {
    let store = TransferStore::on(Box::new(MemDisk::new())).unwrap();
    let began = Instant::now();
    store
        .keep_at(transfers(0..MOST, &entry(40)), began)
        .unwrap();
    assert_eq!(store.room_at(40, began + KEPT_FOR / 2), 0);
    assert_eq!(
        store.room_at(40, began + KEPT_FOR),
        0,
        "they have just lapsed"
    );
    assert_eq!(store.room_at(40, began + KEPT_FOR * 2), WAITING);
}

#[test]
fn asking_what_is_kept_does_not_wait_for_the_disk() {
    let store = TransferStore::on(Box::new(MemDisk::new())).unwrap();
    store.keep(transfers(0..1, &entry(40))).unwrap();
    let disk_is_busy = store.book();
    assert!(store.get(&key(0)).is_some());
    assert_eq!(store.room(1), WAITING - 1);
    assert_eq!(store.waiting().len(), 1);
    store.decided(&key(0));
    assert_eq!(store.room(1), WAITING);
    drop(disk_is_busy);
}

#[test]
fn a_file_of_what_is_forgotten_is_written_anew_and_nothing_is_lost() {
    let disk = MemDisk::new();
    let store = TransferStore::on(Box::new(disk.clone())).unwrap();
    let stays = entry(90);
    store.keep(transfers(0..3, &stays)).unwrap();
    let mut most = 0;
    for n in 3..9_000 {
        store.keep(transfers(n..n + 1, &stays)).unwrap();
        store.forget_refused(&[(key(n), stays.id())]).unwrap();
        most = most.max(disk.len("entries").unwrap());
    }
    assert!(most < 1 << 21, "{most} bytes");
    assert!(disk.len("entries").unwrap() < most, "it was made shorter");
    let again = TransferStore::on(Box::new(disk)).unwrap();
    let known = again.known();
    assert_eq!(
        known.entries.keys().copied().collect::<BTreeSet<_>>(),
        (0..3).map(key).collect()
    );
}

#[test]
fn a_disk_that_fails_keeps_nothing_and_goes_on_when_it_works() {
    let disk = MemDisk::new();
    let store = TransferStore::on(Box::new(disk.clone())).unwrap();
    let (first, later) = (entry(40), entry(41));
    disk.fail(FaultPlan::forgetful_sync(0));
    assert!(store.keep(transfers(1..2, &first)).is_err());
    assert_eq!(store.get(&key(1)), None);
    store.keep(transfers(1..3, &later)).unwrap();
    disk.crash(|_| 0);
    let again = TransferStore::on(Box::new(disk)).unwrap();
    assert_eq!(again.get(&key(1)).as_ref(), Some(&later));
    assert_eq!(again.get(&key(2)).as_ref(), Some(&later));
}

#[test]
fn files_of_earlier_versions_are_taken_over() {
    let dir = tempfile::tempdir().unwrap();
    let old = entry(40);
    let file = dir.path().join(key(1).0.to_hex());
    fs::write(&file, codec::encode(&old)).unwrap();
    fs::write(dir.path().join(key(2).0.to_hex()), b"torn").unwrap();
    let store = TransferStore::open(dir.path()).unwrap();
    assert_eq!(store.get(&key(1)).as_ref(), Some(&old));
    assert_eq!(store.get(&key(2)), None);
    assert!(!file.exists());
    drop(store);
    let again = TransferStore::open(dir.path()).unwrap();
    assert_eq!(again.get(&key(1)), Some(old));
}
