use super::shelf::Stall;
use super::*;
use crate::check::fact::tests::decided;
use crate::found::account_key;
use gridbay_protocol::entry::Entry;
use gridbay_protocol::ids::{AccountId, Hash32, LeaseId, NetworkId, OfferId};
use gridbay_protocol::order::Hire;
use gridbay_protocol::record::ausubel::ClearingOffer;
use gridbay_protocol::record::posted::Hired;
use gridbay_protocol::units::{Credits, Price};

const CLASS: ClassId = ClassId([7; 32]);
/// Slots of eight heights.
const CALENDAR: Calendar = Calendar {
    round_heights: 4,
    slot_rounds: 2,
};
/// The block of the hires: three heights before the end of slot 1.
const HEIGHT: u64 = 13;

fn micros(n: u64) -> Credits {
    Credits::from_micros(n).unwrap()
}

fn offer(n: u8, units: u32, price: u64) -> ClearingOffer {
    ClearingOffer {
        offer: OfferId([n; 32]),
        units,
        reserve: Price(price),
    }
}

/// A hire of two slots.
fn hire(n: u8, units: u32, limit: u64) -> SignedEntry {
    let hire = Hire {
        class: CLASS,
        units,
        slots: 2,
        limit: Price(limit),
        work: Hash32([n; 32]),
    };
    let entry = Entry {
        network: NetworkId([1; 32]),
        account: AccountId([2; 32]),
        key: account_key(0).public(),
        valid_until: 50,
        body: EntryBody::Posted(hire),
    };
    SignedEntry::new(entry, &account_key(0))
}

/// Three hires: of two units, of two that would be dearer, of three that are there no more.
fn entries() -> Vec<SignedEntry> {
    vec![hire(1, 2, 20), hire(2, 2, 15), hire(3, 3, 90)]
}

fn orders() -> Vec<OrderId> {
    entries().iter().map(|e| order_of(&e.id())).collect()
}

/// Four units at 10, 20 and 20: a lease holds one of those at 10.
fn shelf() -> Shelf {
    let stall = |n: u8, units, price| {
        let stall = Stall {
            class: CLASS,
            units,
            price: Price(price),
        };
        (OfferId([n; 32]), stall)
    };
    let share = Share {
        offer: OfferId([3; 32]),
        units: 1,
    };
    Shelf {
        height: HEIGHT - 1,
        stalls: [stall(1, 1, 20), stall(2, 2, 20), stall(3, 2, 10)].into(),
        leases: [(LeaseId([9; 32]), vec![share])].into(),
        ..Shelf::default()
    }
}

fn record() -> PostedRecord {
    let limits = [(2, 20), (2, 15), (3, 90)].into_iter();
    let bids = orders().into_iter().zip(limits);
    PostedRecord {
        class: CLASS,
        height: HEIGHT,
        offers: vec![offer(3, 1, 10), offer(1, 1, 20), offer(2, 2, 20)],
        left_out: 0,
        bids: bids
            .map(|(order, (units, limit))| PostedBid {
                order,
                units,
                limit: Price(limit),
            })
            .collect(),
        served: vec![Hired {
            order: orders()[0],
            taken: vec![offer(1, 1, 20), offer(3, 1, 10)],
            price: micros(30),
        }],
    }
}

/// The first hire's lease in a slot.
fn terms(slot: u64, paid: u64) -> LeaseTerms {
    let share = |n: u8| Share {
        offer: OfferId([n; 32]),
        units: 1,
    };
    LeaseTerms {
        lease: LeaseId([1; 32]),
        order: orders()[0],
        account: AccountId([2; 32]),
        class: CLASS,
        slot,
        shares: vec![share(1), share(3)],
        paid: micros(paid),
        firm_through: Some(3),
    }
}

fn started(terms: LeaseTerms) -> Effect {
    Effect::Lease(LeaseEvent::Started(terms))
}

fn ended(n: usize, end: OrderEnd) -> Effect {
    let order = orders()[n];
    Effect::Order { order, end }
}

/// Three of the eight heights of slot 1 are left: 30 * 3 / 8, rounded up.
fn effects() -> Vec<Effect> {
    vec![
        Effect::Posted(record()),
        started(terms(1, 12)),
        ended(1, OrderEnd::TooDear),
        ended(2, OrderEnd::NoUnits),
    ]
}

/// The checker's verdict on a block with these entries and effects.
fn judge(
    checks: &mut Hires,
    entries: Vec<SignedEntry>,
    effects: Vec<Effect>,
) -> Result<(), String> {
    let mut fact = Fact {
        node: 0,
        height: HEIGHT,
        decided: decided(HEIGHT),
        effects,
    };
    fact.decided.block.entries = entries;
    checks.before = Some(shelf());
    checks.block(&fact, &CALENDAR)
}

fn wrong(entries: Vec<SignedEntry>, effects: Vec<Effect>) -> String {
    judge(&mut Hires::default(), entries, effects).expect_err("it is wrong")
}

fn with(change: impl FnOnce(&mut PostedRecord)) -> Vec<Effect> {
    let mut effects = effects();
    let Effect::Posted(record) = &mut effects[0] else {
        panic!("the record is first");
    };
    change(record);
    effects
}

#[test]
fn who_comes_first_is_served_first_from_the_cheapest() {
    assert_eq!(judge(&mut Hires::default(), entries(), effects()), Ok(()));
}

#[test]
fn wrong_records_are_reported() {
    let changes: [fn(&mut PostedRecord); 12] = [
        |r| r.height += 1,
        |r| r.offers[0].units = 2,
        |r| r.offers[1].reserve = Price(21),
        |r| r.offers.truncate(2),
        |r| r.offers.swap(0, 1),
        |r| r.left_out = 1,
        |r| r.bids.swap(0, 1),
        |r| r.bids[1].limit = Price(20),
        |r| r.bids.truncate(2),
        |r| r.served[0].price = micros(31),
        |r| r.served[0].taken = vec![offer(1, 1, 20), offer(2, 1, 20)],
        |r| r.served.clear(),
    ];
    for change in changes {
        wrong(entries(), with(change));
    }
    let second = |r: &mut PostedRecord| {
        let order = orders()[1];
        r.served.push(Hired {
            order,
            taken: vec![offer(2, 2, 20)],
            price: micros(40),
        });
    };
    assert!(wrong(entries(), with(second)).contains("could not be"));
    assert!(wrong(entries(), vec![]).contains("left over"));
    assert!(wrong(vec![], effects()).contains("came"));
}

#[test]
fn wrong_consequences_are_reported() {
    let others: [(usize, Effect); 6] = [
        (1, started(terms(1, 11))),
        (1, started(terms(2, 12))),
        (
            1,
            started(LeaseTerms {
                firm_through: Some(4),
                ..terms(1, 12)
            }),
        ),
        (
            1,
            started(LeaseTerms {
                order: OrderId([5; 32]),
                ..terms(1, 12)
            }),
        ),
        (2, ended(1, OrderEnd::NoUnits)),
        (3, ended(2, OrderEnd::TooDear)),
    ];
    for (at, other) in others {
        let mut effects = effects();
        effects[at] = other;
        wrong(entries(), effects);
    }
    for at in 0..4 {
        let mut effects = effects();
        effects.remove(at);
        wrong(entries(), effects);
    }
}

#[test]
fn a_hire_that_ends_before_the_record_may_only_be_cancelled() {
    let mut effects = with(|r| r.bids.truncate(2));
    effects.pop();
    let mut cancelled = effects.clone();
    cancelled.insert(0, ended(2, OrderEnd::Cancelled));
    assert_eq!(judge(&mut Hires::default(), entries(), cancelled), Ok(()));
    effects.insert(0, ended(2, OrderEnd::NoUnits));
    assert!(wrong(entries(), effects).contains("undecided"));
}

#[test]
fn what_was_agreed_is_kept_slot_by_slot() {
    let lease = |check: &mut Hires, event| check.lease(&event, 16, &CALENDAR);
    let over = |end| LeaseEvent::Ended {
        lease: LeaseId([1; 32]),
        order: orders()[0],
        end,
    };
    let mut check = Hires::default();
    assert_eq!(judge(&mut check, entries(), effects()), Ok(()));
    let served = check.agreed;
    let fresh = || Hires {
        before: None,
        agreed: served.clone(),
    };
    let mut kept = fresh();
    for slot in 2..=3 {
        let renewed = LeaseEvent::Renewed(terms(slot, 30));
        assert_eq!(lease(&mut kept, renewed), Ok(()));
    }
    let mut longer = Hires {
        before: None,
        agreed: kept.agreed.clone(),
    };
    assert!(lease(&mut longer, LeaseEvent::Renewed(terms(4, 30))).is_err());
    assert_eq!(lease(&mut kept, over(LeaseEnd::Expired)), Ok(()));
    assert!(kept.agreed.is_empty());

    assert!(lease(&mut fresh(), LeaseEvent::Renewed(terms(2, 31))).is_err());
    assert!(lease(&mut fresh(), LeaseEvent::Renewed(terms(3, 30))).is_err());
    for end in [LeaseEnd::Expired, LeaseEnd::Preempted, LeaseEnd::Outbid] {
        assert!(lease(&mut fresh(), over(end)).is_err(), "{end:?}");
    }
    assert_eq!(lease(&mut fresh(), over(LeaseEnd::Undelivered)), Ok(()));
}

#[test]
fn units_that_were_lost_in_the_block_may_be_for_hire_or_not() {
    let lost = Effect::Lease(LeaseEvent::Ended {
        lease: LeaseId([9; 32]),
        order: OrderId([9; 32]),
        end: LeaseEnd::Undelivered,
    });
    let mut shelf = shelf();
    shelf.apply(&lost);
    let mut record = record();
    assert!(shelf.compare(&record).is_err(), "two units or none");
    record.offers[0].units = 2;
    assert_eq!(shelf.compare(&record), Ok(()));
    record.offers.remove(0);
    assert_eq!(shelf.compare(&record), Ok(()));
}

#[test]
fn units_out_of_reach_are_counted_and_not_listed() {
    let shelf = shelf();
    let mut record = record();
    // Two of those at 20 are one offer's, which is listed as a whole or not at all.
    let cases = [(10, 1, 3), (9, 0, 4), (20, 3, 0)];
    for (limit, listed, left_out) in cases {
        record.bids[0].limit = Price(limit);
        record.bids.truncate(1);
        record.bids[0].units = 3;
        record.offers = vec![offer(3, 1, 10), offer(1, 1, 20), offer(2, 2, 20)];
        if listed < 3 {
            assert!(shelf.compare(&record).is_err(), "too long for {limit}");
        }
        record.offers.truncate(listed);
        assert!(shelf.compare(&record).is_err() || left_out == 0);
        record.left_out = left_out;
        assert_eq!(shelf.compare(&record), Ok(()), "{limit}");
        let end = match limit {
            20 => continue,
            _ => OrderEnd::TooDear,
        };
        assert_eq!(shelf::serve(&record), [Outcome::Refused(end)]);
        record.left_out = 0;
    }
}
