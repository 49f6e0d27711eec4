//! Tests that the journal survives heights, cuts and crashes.

use super::*;
use crate::consensus::{Timer, TimerKind};
use crate::disk::MemDisk;
use crate::guard::Guard;
use gridbay_protocol::block::Header;
use gridbay_protocol::entry::{Entry, EntryBody};
use gridbay_protocol::ids::{AccountId, Hash32, NetworkId, ValidatorId};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::validator::validator_id;
use gridbay_protocol::vote::{Vote, VoteKind};

fn timeout(round: u32) -> Stimulus {
    Stimulus::Timeout(Timer {
        kind: TimerKind::Propose,
        round,
    })
}

#[test]
fn only_the_last_height_is_recovered_also_from_a_new_file() {
    let mut disk = MemDisk::new();
    let (mut journal, found) = Journal::open(&mut disk).unwrap();
    assert_eq!(found.height, 0);
    for height in 1..=30u64 {
        journal.begin(&mut disk, height, Vec::new).unwrap();
        for round in 0..10_000 {
            journal.stimulus(&mut disk, timeout(round)).unwrap();
        }
        assert!(journal.file.bytes() < limits::JOURNAL_BYTES + 2_000_000);
    }
    journal.begin(&mut disk, 30, Vec::new).unwrap();
    journal.stimulus(&mut disk, timeout(7)).unwrap();
    journal.sync(&mut disk).unwrap();
    journal.stimulus(&mut disk, timeout(8)).unwrap();
    disk.crash(|_| 0);
    let (_, found) = Journal::open(&mut disk).unwrap();
    assert_eq!((found.height, found.stimuli.len()), (30, 10_001));
    assert_eq!(found.stimuli.last(), Some(&timeout(7)));
    assert_eq!(disk.list().unwrap(), [FILE]);
}

fn block(time_ms: u64) -> Block {
    let none = Hash32([0; 32]);
    let header = Header {
        format: 1,
        rules: 1,
        network: NetworkId([1; 32]),
        height: 3,
        time_ms,
        parent: BlockId([2; 32]),
        proposer: ValidatorId([3; 32]),
        entries_root: none,
        effects_root: none,
        state_root: none,
        validators: none,
        next_validators: none,
        log_root: none,
        last_commit: none,
        beacon_reveal: none,
        evidence_root: none,
        hints_root: none,
    };
    Block {
        header,
        entries: vec![],
        last_commit: None,
        evidence: vec![],
        hints: vec![],
    }
}

#[test]
fn a_cut_within_a_height_keeps_all_but_bodies_let_go_and_a_crash_loses_nothing() {
    for operations in 0..16 {
        let mut disk = MemDisk::new();
        let (mut journal, _) = Journal::open(&mut disk).unwrap();
        journal.begin(&mut disk, 2, Vec::new).unwrap();
        journal.stimulus(&mut disk, timeout(1)).unwrap();
        journal.begin(&mut disk, 3, Vec::new).unwrap();
        journal.promise(&mut disk, promise(1)).unwrap();
        let (kept, gone) = (block(1), block(2));
        for body in [&gone, &kept] {
            journal.body(&mut disk, body).unwrap();
        }
        journal.stimulus(&mut disk, timeout(7)).unwrap();
        journal.sync(&mut disk).unwrap();
        let before = journal.file.bytes();
        disk.fail(crate::disk::FaultPlan::power_for(operations));
        let open = vec![promise(1)];
        let cut = journal.cut(&mut disk, open, |id| *id == kept.id());
        disk.crash(|at_stake| at_stake / 2);
        let (journal, found) = Journal::open(&mut disk).unwrap();
        assert_eq!((found.height, &found.stimuli[..]), (3, &[timeout(7)][..]));
        assert_eq!(found.promises, [promise(1)]);
        let ids: Vec<BlockId> = found.bodies.iter().map(|(id, _)| *id).collect();
        if cut.is_ok() {
            assert_eq!(ids, [kept.id()]);
            assert!(journal.file.bytes() < before);
            let (_, place) = found.bodies[0];
            assert_eq!(journal.read_body(&disk, place).unwrap(), kept);
            assert!(operations > 3);
            return;
        }
        assert_eq!(ids, [gone.id(), kept.id()]);
    }
    panic!("it was never cut");
}

fn promise(n: u8) -> Promise {
    let key = SecretKey::from_seed(&[n; 32]);
    let entry = Entry {
        network: NetworkId([1; 32]),
        account: AccountId([n; 32]),
        key: key.public(),
        valid_until: 9,
        body: EntryBody::WithdrawOffer { label: 1 },
    };
    Promise {
        entry: SignedEntry::new(entry, &key),
        height: u64::from(n),
    }
}

#[test]
fn promises_outlive_heights_and_open_ones_also_the_file() {
    let mut disk = MemDisk::new();
    let (mut journal, _) = Journal::open(&mut disk).unwrap();
    journal.begin(&mut disk, 1, Vec::new).unwrap();
    journal.promise(&mut disk, promise(1)).unwrap();
    journal.promise(&mut disk, promise(2)).unwrap();
    journal.begin(&mut disk, 2, Vec::new).unwrap();
    let (_, found) = Journal::open(&mut disk.clone()).unwrap();
    assert_eq!(found.promises, [promise(1), promise(2)]);
    while journal.file.bytes() <= limits::JOURNAL_BYTES {
        journal.stimulus(&mut disk, timeout(0)).unwrap();
    }
    // The first is in a block by now.
    let open = || vec![promise(2)];
    journal.begin(&mut disk, 3, open).unwrap();
    journal.promise(&mut disk, promise(3)).unwrap();
    journal.sync(&mut disk).unwrap();
    disk.crash(|_| 0);
    let (_, found) = Journal::open(&mut disk).unwrap();
    assert_eq!(found.promises, [promise(2), promise(3)]);
}

#[test]
fn after_a_crash_the_guard_refuses_what_the_journal_contradicts() {
    let key = SecretKey::from_seed(&[7; 32]);
    let network = NetworkId([1; 32]);
    let mut disk = MemDisk::new();
    let mut guard = Guard::new(network, key.clone(), 3);
    let vote = |block| Vote {
        kind: VoteKind::Prevote,
        height: 3,
        round: 0,
        block,
        validator: validator_id(&key.public()),
    };
    let (mut journal, _) = Journal::open(&mut disk).unwrap();
    journal.begin(&mut disk, 3, Vec::new).unwrap();
    let signed = guard.sign_vote(vote(Some(BlockId([1; 32])))).unwrap();
    journal
        .statement(&mut disk, Statement::Vote(signed))
        .unwrap();
    journal.sync(&mut disk).unwrap();
    disk.crash(|_| 0);
    let (_, found) = Journal::open(&mut disk).unwrap();
    let mut guard = Guard::new(network, key.clone(), 3);
    for statement in &found.statements {
        guard.recall(statement);
    }
    assert!(guard.sign_vote(vote(None)).is_err());
    assert_eq!(guard.sign_vote(signed.vote).unwrap(), signed);
}

#[test]
fn a_record_of_another_height_is_refused_with_its_place() {
    let stimulus = || Record::Stimulus(timeout(0));
    for (height, record) in [
        (2, stimulus()),
        (4, stimulus()),
        (3, Record::Begin { promises: vec![] }),
        (2, Record::Begin { promises: vec![] }),
    ] {
        let mut disk = MemDisk::new();
        let (mut journal, _) = Journal::open(&mut disk).unwrap();
        journal.begin(&mut disk, 3, Vec::new).unwrap();
        journal.stimulus(&mut disk, timeout(0)).unwrap();
        let line = Line::encode(height, record);
        let place = journal.file.append(&mut disk, &line).unwrap();
        match Journal::open(&mut disk) {
            Err(Fault::Foreign { offset, .. }) => assert_eq!(offset, place),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_crash_between_the_new_file_and_its_name_leaves_the_old_one() {
    for operations in 0..4 {
        let mut disk = MemDisk::new();
        let (mut journal, _) = Journal::open(&mut disk).unwrap();
        journal.begin(&mut disk, 1, Vec::new).unwrap();
        let body = timeout(9);
        while journal.file.bytes() <= limits::JOURNAL_BYTES {
            journal.stimulus(&mut disk, body.clone()).unwrap();
        }
        journal.sync(&mut disk).unwrap();
        // To start afresh takes a removal, an append, a sync and a rename.
        disk.fail(crate::disk::FaultPlan::power_for(operations));
        journal.begin(&mut disk, 2, Vec::new).unwrap_err();
        disk.crash(|at_stake| at_stake / 2);
        let (_, found) = Journal::open(&mut disk).unwrap();
        assert_eq!(found.height, 1, "{operations}");
    }
}
