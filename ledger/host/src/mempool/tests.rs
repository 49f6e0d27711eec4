//! The bounds of the mempool.

use super::*;
use gridbay_protocol::entry::{Entry, EntryBody, SignedEntry};
use gridbay_protocol::ids::{ClassId, Hash32, NetworkId};
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::order::{Bid, Open, Step};
use gridbay_protocol::stage::WellFormed;
use gridbay_protocol::units::{Credits, Price};
use std::collections::BTreeSet;

/// A transfer of account `n`, unlike all with another number.
fn entry(n: u8, number: usize) -> Arc<Authentic> {
    let mut memo = Hash32::default();
    memo.0[..8].copy_from_slice(&number.to_le_bytes());
    let body = EntryBody::Transfer {
        to: AccountId([255; 32]),
        amount: Credits::from_micros(1).unwrap(),
        memo,
    };
    signed(n, body)
}
/// An opening of account `n`.
fn opening(n: u8) -> Arc<Authentic> {
    let bid = Bid {
        class: ClassId([1; 32]),
        steps: vec![Step {
            units: 1,
            price: Price(10),
        }],
        min: 1,
        slots: 1,
        budget: Credits::from_micros(100).unwrap(),
        stands_until: 100,
        work: Hash32([3; 32]),
    };
    let open = Open {
        commit: EntryId([n; 32]),
        wish: bid.into(),
        salt: [8; 32],
    };
    signed(n, EntryBody::Open(open))
}
fn signed(n: u8, body: EntryBody) -> Arc<Authentic> {
    let (key, network) = (SecretKey::from_seed(&[n; 32]), NetworkId([9; 32]));
    let entry = Entry {
        network,
        account: AccountId([n; 32]),
        key: key.public(),
        valid_until: 10,
        body,
    };
    let formed = WellFormed::check(&network, SignedEntry::new(entry, &key)).unwrap();
    Arc::new(formed.authenticate().unwrap())
}
fn full(n: u8) -> Result<(), MempoolRefusal> {
    Err(MempoolRefusal::Full {
        account: AccountId([n; 32]),
    })
}

/// Adds an entry of account `n`, whose house is `house`.
fn add(
    mempool: &mut Mempool,
    house: u8,
    n: u8,
    number: usize,
    ready: bool,
) -> Result<(), MempoolRefusal> {
    let house = AccountId([house; 32]);
    mempool.insert(1, house, entry(n, number), Source::Other, ready)
}

#[test]
fn an_account_has_its_share_of_the_pool_and_of_what_waits() {
    let mut mempool = Mempool::default();
    for number in 0..limits::MEMPOOL_WAITING_PER_ACCOUNT {
        assert_eq!(add(&mut mempool, 1, 1, number, false), Ok(()));
    }
    let waiting = limits::MEMPOOL_WAITING_PER_ACCOUNT;
    assert_eq!(add(&mut mempool, 1, 1, waiting, false), full(1));
    for number in waiting..limits::MEMPOOL_PER_ACCOUNT {
        assert_eq!(add(&mut mempool, 1, 1, number, true), Ok(()));
    }
    assert_eq!(
        add(&mut mempool, 1, 1, limits::MEMPOOL_PER_ACCOUNT, true),
        full(1)
    );
    // One that becomes ready makes room for another that waits.
    mempool.remove(&entry(1, waiting).id());
    assert_eq!(add(&mut mempool, 1, 1, waiting, false), full(1));
    mempool.mark_ready(&entry(1, 0).id(), 1);
    assert_eq!(add(&mut mempool, 1, 1, waiting, false), Ok(()));
    assert_eq!(mempool.waiting.len(), waiting);
}

#[test]
fn a_house_that_fills_the_pool_yields_its_newest_to_others() {
    let mut mempool = Mempool::default();
    let of = |number: usize| 1 + (number / limits::MEMPOOL_PER_ACCOUNT) as u8;
    for number in 0..limits::MEMPOOL_ENTRIES {
        assert_eq!(add(&mut mempool, 200, of(number), number, true), Ok(()));
    }
    let first = entry(1, 0).id();
    mempool.bind(&first, Promised::Owed);
    assert_eq!(
        add(&mut mempool, 200, 100, 0, true),
        full(100),
        "not to its own"
    );
    for number in 0..3 {
        assert_eq!(add(&mut mempool, 50, 50, number, true), Ok(()));
    }
    let newest = (1..4).map(|back| limits::MEMPOOL_ENTRIES - back);
    let newest: Vec<_> = newest.map(|n| entry(of(n), n).id()).collect();
    let left: Vec<_> = mempool
        .take_evicted()
        .into_iter()
        .map(|(id, _)| id)
        .collect();
    assert_eq!((left, mempool.len()), (newest, limits::MEMPOOL_ENTRIES));
    assert!(mempool.contains(&first));
    // Others' entries are promised and insisted on all the same, not those of the house.
    let (own, other) = (entry(2, limits::MEMPOOL_PER_ACCOUNT), entry(50, 0));
    mempool.promise(&own.id());
    mempool.promise(&other.id());
    let owed: BTreeSet<_> = mempool.owed().iter().map(|p| p.entry.id()).collect();
    assert_eq!(owed, BTreeSet::from([first, other.id()]));
    let due: Vec<_> = mempool.due(9).iter().map(|e| e.entry().account).collect();
    assert!(
        due.contains(&AccountId([50; 32])) && due.len() == 3,
        "{due:?}"
    );
}

#[test]
fn what_waits_has_a_quarter_and_the_largest_house_yields() {
    let mut mempool = Mempool::default();
    let quarter = limits::MEMPOOL_ENTRIES / 4;
    for number in 0..quarter {
        let account = 1 + (number / limits::MEMPOOL_WAITING_PER_ACCOUNT) as u8;
        assert_eq!(add(&mut mempool, 200, account, number, false), Ok(()));
    }
    assert_eq!(add(&mut mempool, 200, 199, 0, false), full(199));
    assert_eq!(add(&mut mempool, 201, 201, 0, false), Ok(()));
    assert_eq!((mempool.waiting.len(), mempool.len()), (quarter, quarter));
    assert_eq!(add(&mut mempool, 200, 199, 0, true), Ok(()), "it is ready");
}

#[test]
fn a_house_has_a_quarter_of_the_promises() {
    let mut mempool = Mempool::default();
    let most = limits::PROMISES / limits::PROMISES_PARTS;
    for number in 0..=most {
        let account = 1 + (number / limits::PROMISES_PER_ACCOUNT) as u8;
        assert_eq!(add(&mut mempool, 200, account, number, true), Ok(()));
        mempool.promise(&entry(account, number).id());
    }
    assert_eq!((mempool.owed().len(), mempool.unpromised()), (most, vec![]));
    assert_eq!(add(&mut mempool, 50, 50, 0, true), Ok(()));
    assert_eq!(mempool.unpromised(), [entry(50, 0).id()]);
    mempool.promise(&entry(50, 0).id());
    assert_eq!(mempool.owed().len(), most + 1);
}

#[test]
fn an_account_has_its_share_of_its_houses_promises_and_openings_beside_it() {
    let (mut mempool, house) = (Mempool::default(), AccountId([200; 32]));
    for number in 0..limits::PROMISES / limits::PROMISES_PARTS {
        let account = 1 + (number / limits::MEMPOOL_PER_ACCOUNT) as u8;
        assert_eq!(add(&mut mempool, 200, account, number, true), Ok(()));
        mempool.promise(&entry(account, number).id());
    }
    assert_eq!(mempool.owed().len(), 2 * limits::PROMISES_PER_ACCOUNT);
    assert_eq!(mempool.unpromised(), []);
    for opening in [opening(2), opening(3)] {
        let id = opening.id();
        assert_eq!(mempool.insert(1, house, opening, Source::Own, true), Ok(()));
        assert_eq!(mempool.unpromised(), [id]);
        mempool.promise(&id);
        assert_eq!(mempool.unpromised(), []);
    }
    mempool.remove(&entry(1, 0).id());
    let next = mempool.unpromised();
    assert!(!next.is_empty());
    next.iter().for_each(|id| mempool.promise(id));
    assert_eq!(mempool.owed().len(), 2 * limits::PROMISES_PER_ACCOUNT + 2);
}

#[test]
fn what_only_a_validator_sent_is_told_to_all_before_it_is_due() {
    let mut mempool = Mempool::default();
    let many = limits::MEMPOOL_PER_ACCOUNT - 1;
    for (n, count) in [(1, many), (2, many), (3, 1)] {
        for number in 0..count {
            let house = AccountId([n; 32]);
            let entry = entry(n, number);
            assert_eq!(
                mempool.insert(7, house, entry, Source::Validator, true),
                Ok(())
            );
        }
    }
    let of = |told: &[SignedEntry], n| {
        let own = |e: &&SignedEntry| e.entry.account == AccountId([n; 32]);
        told.iter().filter(own).count()
    };
    assert_eq!(mempool.overdue(7), [], "no block left it out");
    let told = mempool.overdue(8);
    assert_eq!(told.len(), limits::TOLD_AGAIN_ENTRIES);
    assert_eq!(of(&told, 3), 1, "the houses one after the other");
    assert!(of(&told, 1).abs_diff(of(&told, 2)) <= 1);
    assert_eq!(
        (mempool.due(8).len(), mempool.due(9).len()),
        (0, told.len())
    );
    let rest = mempool.overdue(9);
    assert_eq!(told.len() + rest.len(), mempool.len());
    assert_eq!(
        (mempool.due(9).len(), mempool.overdue(10)),
        (told.len(), vec![])
    );
    assert_eq!(mempool.due(10).len(), mempool.len());
}

#[test]
fn what_waited_is_told_to_all_again_before_it_is_due() {
    for source in [Source::Own, Source::Validator, Source::Other] {
        let mut mempool = Mempool::default();
        let (house, entry) = (AccountId([1; 32]), entry(1, 0));
        let id = entry.id();
        assert_eq!(mempool.insert(1, house, entry, source, true), Ok(()));
        mempool.bind(&id, Promised::Owed);
        mempool.mark_waiting(&id);
        assert_eq!(mempool.overdue(2), [], "nobody would keep it");
        mempool.mark_ready(&id, 20);
        assert_eq!((mempool.due(20).len(), mempool.overdue(20).len()), (0, 0));
        assert_eq!((mempool.due(21).len(), mempool.overdue(21).len()), (0, 1));
        assert_eq!((mempool.due(21).len(), mempool.due(22).len()), (0, 1));
        assert_eq!(mempool.owed()[0].height, 1, "as it was promised");
    }
}

#[test]
fn what_becomes_unready_has_a_quarter_as_well() {
    let mut mempool = Mempool::default();
    let quarter = limits::MEMPOOL_ENTRIES / 4;
    let of = |number: usize| 1 + (number / limits::MEMPOOL_PER_ACCOUNT) as u8;
    for number in 0..quarter + 3 {
        assert_eq!(add(&mut mempool, 200, of(number), number, true), Ok(()));
    }
    assert_eq!(add(&mut mempool, 50, 50, 0, true), Ok(()));
    let bound = entry(of(quarter + 2), quarter + 2).id();
    mempool.bind(&bound, Promised::Owed);
    for number in 0..quarter + 3 {
        mempool.mark_waiting(&entry(of(number), number).id());
    }
    assert_eq!(
        (mempool.waiting.len(), mempool.len()),
        (quarter + 1, quarter + 2)
    );
    assert!(mempool.contains(&bound));
    mempool.mark_waiting(&entry(50, 0).id());
    assert!(
        mempool.contains(&entry(50, 0).id()),
        "the larger house yields"
    );
    assert_eq!(mempool.waiting.len(), quarter);
}
