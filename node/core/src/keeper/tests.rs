use super::*;
use gridbay_protocol::checkpoint::Snapshot;
use gridbay_protocol::ids::ContentId;
use gridbay_protocol::keys::SecretKey;

const NETWORK: NetworkId = NetworkId([7; 32]);
const LEASE: LeaseId = LeaseId([1; 32]);
const MOST: u64 = 1_000;
const EVERY_MS: u64 = 10_000;
const BOUNDS: Bounds = Bounds {
    units: 2,
    most: MOST,
    share: 3 * MOST,
};

fn key(n: u8) -> SecretKey {
    SecretKey::from_seed(&[n; 32])
}
fn node(n: u8) -> PublicKey {
    key(n).public()
}
fn copy(task: u32, bytes: u64, taken_ms: u64) -> Copy {
    Copy {
        job: RunId {
            lease: LEASE,
            task,
            attempt: 0,
        },
        snapshot: Snapshot {
            manifest: ContentId([task as u8; 32]),
            manifest_bytes: 1,
            files: 1,
            bytes,
        },
        taken_ms,
    }
}
fn signed(copy: Copy, by: u8) -> Signed<Copy> {
    Signed::new(&NETWORK, copy, &key(by))
}
fn known() -> Known {
    Known {
        buyer: node(9),
        every_ms: EVERY_MS,
    }
}

/// Offers a copy of a task of seller 1 who holds two units; the slot it goes to.
fn take(keeper: &mut Keeper, task: u32, bytes: u64, now_ms: u64) -> Result<u32, KeepRefusal> {
    let offered = signed(copy(task, bytes, now_ms), 1);
    let taken = keeper.take(node(1), offered, known(), BOUNDS, now_ms)?;
    match taken {
        Effect::PullCopy { slot, .. } => Ok(slot),
        other => panic!("{other:?}"),
    }
}
fn end(keeper: &mut Keeper, slot: u32, whole: bool) -> Option<Snapshot> {
    let mut effects = Vec::new();
    keeper.pulled(slot, whole, &mut effects);
    let saved = matches!(effects[0], Effect::SaveCopies(_));
    assert_eq!(saved, whole, "first of all, and only if anything is new");
    match effects.last() {
        Some(Effect::KeepCopy { keep, .. }) => *keep,
        other => panic!("{other:?}"),
    }
}

#[test]
fn other_sellers_come_first_and_not_everybody_takes_the_same() {
    let mut nodes: Vec<PublicKey> = (1..=4).map(node).collect();
    nodes.sort();
    let account = |n: u8| Some(AccountId([n; 32]));
    // The third and the fourth are of one seller.
    let sellers = [account(1), account(2), account(3), account(3)];
    let all = || sellers.iter().copied().zip(nodes.iter().copied());
    let of = |n: usize| keepers((sellers[n], nodes[n]), all());
    assert_eq!(of(0), [nodes[1], nodes[2], nodes[3]]);
    assert_eq!(of(1), [nodes[2], nodes[3], nodes[0]]);
    assert_eq!(of(2), [nodes[0], nodes[1], nodes[3]], "its own one last");
    let alone = [all().next().unwrap(); 2].into_iter();
    assert!(keepers((sellers[0], nodes[0]), alone).is_empty());
}

#[test]
fn a_seller_has_one_copy_for_each_unit_and_each_after_its_time() {
    let mut keeper = Keeper::default();
    assert_eq!(
        take(&mut keeper, 0, MOST + 1, 0),
        Err(KeepRefusal::TooLarge)
    );
    let first = take(&mut keeper, 0, MOST, 100).unwrap();
    assert_eq!(take(&mut keeper, 0, 5, 90_000), Err(KeepRefusal::TooSoon));
    assert_eq!(
        end(&mut keeper, first, true),
        Some(copy(0, MOST, 0).snapshot)
    );
    assert_eq!(
        take(&mut keeper, 0, 5, 100 + EVERY_MS / 2 - 1),
        Err(KeepRefusal::TooSoon)
    );
    let second = take(&mut keeper, 1, 5, 200).unwrap();
    assert_ne!(first, second);
    assert_eq!(end(&mut keeper, second, true), Some(copy(1, 5, 0).snapshot));
    // A third task on two units: it waits until the first one's time is over, and takes its place.
    assert_eq!(take(&mut keeper, 2, 5, 300), Err(KeepRefusal::TooSoon));
    assert_eq!(take(&mut keeper, 2, 5, 100 + EVERY_MS), Ok(first));
    assert_eq!(keeper.held().len(), 2);
    // It does not come: what was there stays, and is read by the buyer's node alone.
    assert_eq!(
        end(&mut keeper, first, false),
        Some(copy(0, MOST, 0).snapshot)
    );
    let job = copy(0, MOST, 0).job;
    assert_eq!(
        keeper.shows(&node(9), &job, &node(1)).map(|(slot, _)| slot),
        Some(first)
    );
    for stranger in [1, 2] {
        assert!(keeper.shows(&node(stranger), &job, &node(1)).is_none());
    }
    let other = copy(2, 5, 0).job;
    assert!(keeper.shows(&node(9), &other, &node(1)).is_none());
}

#[test]
fn a_seller_that_names_a_rivals_run_hides_nothing() {
    let mut keeper = Keeper::default();
    // The rogue is first, so that its place is the lower one.
    let (rogue, rival) = (2, 1);
    for (seller, bytes) in [(rogue, 7), (rival, 5)] {
        let offered = signed(copy(0, bytes, 0), seller);
        let taken = keeper.take(node(seller), offered, known(), BOUNDS, 0);
        let Ok(Effect::PullCopy { slot, .. }) = taken else {
            panic!("{taken:?}");
        };
        end(&mut keeper, slot, true);
    }
    let job = copy(0, 5, 0).job;
    for (seller, bytes) in [(rogue, Some(7)), (rival, Some(5)), (3, None)] {
        let shown = keeper.shows(&node(9), &job, &node(seller));
        let shown = shown.map(|(_, copy)| copy.said.snapshot.bytes);
        assert_eq!(shown, bytes, "of {seller}");
    }
}

#[test]
fn copies_of_a_lease_have_the_room_of_the_keepers_own_units_and_make_room_for_jobs() {
    let mut keeper = Keeper::default();
    let mut offer = |task: u32, bytes: u64, now_ms: u64| {
        let bounds = Bounds {
            units: COPIES as u32,
            ..BOUNDS
        };
        let offered = signed(copy(task, bytes, now_ms), 1);
        let taken = keeper.take(node(1), offered, known(), bounds, now_ms);
        if let Ok(Effect::PullCopy { slot, .. }) = taken {
            keeper.pulled(slot, true, &mut Vec::new());
        }
        taken.err()
    };
    for task in 0..3 {
        assert_eq!(offer(task, MOST, 0), None);
    }
    assert_eq!(offer(3, 1, 0), Some(KeepRefusal::Full), "bytes");
    // A new copy takes the place of the last one of the same task, also in the sum.
    assert_eq!(offer(2, MOST, EVERY_MS), None);
    for task in 3..COPIES_OF_LEASE as u32 {
        assert_eq!(offer(task, 0, 0), None);
    }
    let next = COPIES_OF_LEASE as u32;
    assert_eq!(offer(next, 0, 0), Some(KeepRefusal::Full), "copies");
    assert_eq!(keeper.held().len(), COPIES_OF_LEASE);
    let under_way = take(&mut keeper, 0, 5, 2 * EVERY_MS).unwrap();
    let mut effects = Vec::new();
    keeper.make_room(&mut effects);
    assert!(keeper.held().is_empty());
    assert!(matches!(effects[0], Effect::SaveCopies(_)));
    assert_eq!(effects.len(), 1 + COPIES_OF_LEASE);
    assert!(keeper.slots.keys().eq([&under_way]), "that ends by itself");
}

#[test]
fn all_copies_together_are_bounded_and_remembered() {
    let mut keeper = Keeper::default();
    let mut offer = |seller: u8, lease: u16, bytes| {
        let mut copy = copy(0, bytes, 0);
        copy.job.lease.0[..2].copy_from_slice(&lease.to_le_bytes());
        let bounds = Bounds {
            units: 1,
            most: CHECKPOINT_BYTES,
            share: CHECKPOINT_BYTES,
        };
        let taken = keeper.take(node(seller), signed(copy, seller), known(), bounds, 0);
        if let Ok(Effect::PullCopy { slot, .. }) = taken {
            keeper.pulled(slot, true, &mut Vec::new());
        }
        taken.err()
    };
    let large = (COPIES_BYTES / CHECKPOINT_BYTES) as u16;
    for lease in 0..large {
        assert_eq!(offer(1, lease, CHECKPOINT_BYTES), None);
    }
    assert_eq!(offer(1, large, 1), Some(KeepRefusal::Full), "bytes");
    for lease in large..COPIES as u16 {
        assert_eq!(offer(1, lease, 0), None);
    }
    assert_eq!(
        offer(1, COPIES as u16, 0),
        Some(KeepRefusal::Full),
        "copies"
    );
    let Effect::SaveCopies(bytes) = keeper.save() else {
        panic!("it saves");
    };
    let held = Held::decode_all(&bytes).unwrap();
    assert_eq!((held.len(), &held), (COPIES, &keeper.held()));
    assert_eq!(Keeper::new(held).held(), keeper.held());
    assert!(Held::decode_all(&bytes[1..]).is_err());
}

#[test]
fn only_the_sellers_own_word_counts_and_the_newest_of_it() {
    let told = |copy: Copy, by: u8| Some(AgentReply::Copy(Box::new(signed(copy, by))));
    let (dead, job) = (node(1), copy(0, 5, 0).job);
    let ask = |than, replies: Vec<Option<AgentReply>>| {
        let replies = (2..).map(node).zip(replies).collect();
        ranked(&NETWORK, (&dead, &job), (than, MOST), replies)
    };
    let replies = || {
        vec![
            None,
            Some(AgentReply::NotFound),
            told(copy(0, 5, 100), 1),
            told(copy(0, 5, 300), 1),
            told(copy(0, 5, 900), 5),
            told(copy(1, 5, 900), 1),
            told(copy(0, MOST + 1, 900), 1),
        ]
    };
    let found = ask(None, replies());
    assert_eq!(
        found,
        [(copy(0, 5, 300), node(5)), (copy(0, 5, 100), node(4))]
    );
    assert_eq!(ask(Some(100), replies()), [(copy(0, 5, 300), node(5))]);
    assert!(ask(Some(300), replies()).is_empty());
    let elsewhere = Signed::new(&NetworkId([8; 32]), copy(0, 5, 900), &key(1));
    let elsewhere = Some(AgentReply::Copy(Box::new(elsewhere)));
    assert!(ask(None, vec![elsewhere]).is_empty());
}
