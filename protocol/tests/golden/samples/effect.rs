//! Effects: every variant, every purse, every reason, every end.

use super::{deadline, entry, micros, posted};
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent, LeaseTerms, Share};
use gridbay_protocol::mechanism::ausubel::Rule;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::payment::{Posting, Purse, Reason};
use gridbay_protocol::policy::ausubel::AuctionPolicy;
use gridbay_protocol::record::ausubel::{
    Award, ClearingBid, ClearingKind, ClearingOffer, ClearingRecord, Sold, clearing_id,
};
use gridbay_protocol::record::buy::{BoughtPart, BuyRecord, Eviction};
use gridbay_protocol::record::contract::{ContractEvent, JobRecord, Settlement};
use gridbay_protocol::record::reservation::{
    Booked, BusyChannel, BusyUnit, ReservationBid, ReservationRecord,
};
use gridbay_protocol::record::share::{Sharing, SharingClaim};
use gridbay_protocol::units::{Credits, Price};

const CLASS: ClassId = ClassId([0xc1; 32]);
const ORDER: OrderId = OrderId([0x0d; 32]);
const LEASE: LeaseId = LeaseId([0x1e; 32]);
const OFFER: OfferId = OfferId([0x0f; 32]);
const BUYER: Purse = Purse::Account(entry::ACCOUNT);
const SELLER: Purse = Purse::Account(AccountId([0xa2; 32]));
const ESCROW: Purse = Purse::Escrow(ORDER);
const RETAINED: Purse = Purse::Retained(AccountId([0xa2; 32]));

/// All reasons with a way that money goes for them.
pub(crate) const POSTINGS: [(&str, Reason, Purse, Purse); 19] = [
    ("transfer", Reason::Transfer, BUYER, SELLER),
    ("endowment", Reason::Endowment, Purse::Bank, BUYER),
    ("deposit", Reason::Deposit, BUYER, ESCROW),
    ("release", Reason::Release, ESCROW, BUYER),
    ("forfeit", Reason::Forfeit, ESCROW, Purse::Bank),
    ("lock", Reason::Lock, BUYER, ESCROW),
    ("charge", Reason::Charge, ESCROW, Purse::Class(CLASS)),
    ("earning", Reason::Earning, Purse::Class(CLASS), SELLER),
    ("refund", Reason::Refund, Purse::Class(CLASS), BUYER),
    ("compensation", Reason::Compensation, ESCROW, SELLER),
    ("bond", Reason::Bond, SELLER, Purse::Bond(ORDER)),
    ("damages", Reason::Damages, Purse::Bond(ORDER), BUYER),
    ("cancellation", Reason::Cancellation, ESCROW, SELLER),
    ("revenue", Reason::Revenue, Purse::Class(CLASS), Purse::Bank),
    ("profit", Reason::Profit, Purse::Bank, BUYER),
    ("tax", Reason::Tax, BUYER, Purse::Bank),
    ("arrears", Reason::Arrears, BUYER, Purse::Bank),
    ("relief", Reason::Relief, Purse::Bank, BUYER),
    ("retained", Reason::Retained, Purse::Class(CLASS), RETAINED),
];
/// All ends of an order.
pub(crate) const ORDER_ENDS: [(&str, OrderEnd); 17] = [
    ("not_opened", OrderEnd::NotOpened),
    ("unfunded", OrderEnd::Unfunded),
    ("cancelled", OrderEnd::Cancelled),
    ("timed_out", OrderEnd::TimedOut),
    ("served", OrderEnd::Served),
    ("no_units", OrderEnd::NoUnits),
    ("short", OrderEnd::Short(CLASS)),
    ("too_dear", OrderEnd::TooDear),
    ("evicted", OrderEnd::Evicted),
    ("waived", OrderEnd::Waived),
    ("excused", OrderEnd::Excused),
    ("no_gain", OrderEnd::NoGain),
    ("no_room", OrderEnd::NoRoom),
    ("unstaked", OrderEnd::Unstaked),
    ("missed", OrderEnd::Missed),
    ("amended", OrderEnd::Amended),
    ("lapsed", OrderEnd::Lapsed),
];
/// All ends of a lease.
pub(crate) const LEASE_ENDS: [(&str, LeaseEnd); 9] = [
    ("exit", LeaseEnd::Exit),
    ("expired", LeaseEnd::Expired),
    ("outbid", LeaseEnd::Outbid),
    ("preempted", LeaseEnd::Preempted),
    ("unfunded", LeaseEnd::Unfunded),
    ("undelivered", LeaseEnd::Undelivered),
    ("paused", LeaseEnd::Paused),
    ("unserved", LeaseEnd::Unserved),
    ("disputed", LeaseEnd::Disputed),
];

fn disputed() -> LeaseEvent {
    LeaseEvent::Disputed {
        lease: LEASE,
        order: ORDER,
        offer: OFFER,
        slot: 3,
        withdrawn: true,
    }
}

fn clearing(kind: ClearingKind) -> ClearingRecord {
    let offer = ClearingOffer {
        offer: OFFER,
        units: 32,
        reserve: Price(1_000),
    };
    let bid = ClearingBid {
        order: ORDER,
        sponsor: entry::ACCOUNT,
        round: 3,
        rank: Hash32([0x77; 32]),
        min: 2,
        steps: entry::bid().steps,
    };
    let award = Award {
        order: ORDER,
        units: 4,
        pay: micros(4_000),
    };
    let sold = Sold {
        offer: OFFER,
        units: 4,
        earns: micros(4_000),
    };
    ClearingRecord {
        id: clearing_id(&CLASS, 24),
        class: CLASS,
        kind,
        height: 24,
        slot: 3,
        heights: 8,
        policy: AuctionPolicy {
            rule: Rule::Floor,
            switch_cost: Price(10),
        },
        offers: vec![offer],
        held: vec![Share {
            offer: OFFER,
            units: 2,
        }],
        bids: vec![bid],
        awards: vec![award],
        sold: vec![sold],
    }
}

fn bought() -> BuyRecord {
    let taken = ClearingOffer {
        offer: OFFER,
        units: 3,
        reserve: Price(5_555),
    };
    let part = BoughtPart {
        class: CLASS,
        taken: vec![taken],
        displaced: vec![LEASE],
        displaced_value: micros(300),
        evicted: vec![Eviction {
            lease: LEASE,
            remainder: micros(90_000),
            surcharge: micros(18_000),
        }],
        price: micros(16_665),
    };
    BuyRecord {
        order: ORDER,
        height: 25,
        parts: vec![part],
        price: micros(16_665),
        slots: 60,
    }
}

fn reserved(beaten: Option<Credits>) -> ReservationRecord {
    let share = Share {
        offer: OFFER,
        units: 5,
    };
    ReservationRecord {
        class: CLASS,
        height: 24,
        slot: 3,
        posted: Price(1_000),
        units: vec![share],
        busy: vec![BusyUnit {
            offer: OFFER,
            unit: 1,
            first: 2,
            last: 7,
        }],
        channels: vec![BusyChannel {
            channel: 1,
            first: 2,
            last: 7,
        }],
        bids: vec![ReservationBid::new(
            ORDER,
            1,
            Hash32([0x77; 32]),
            &entry::reservation(),
        )],
        booked: vec![Booked {
            order: ORDER,
            start: 8,
            shares: vec![share],
            channel: Some(2),
            pay: micros(1_000_000),
        }],
        beaten,
    }
}

fn shared() -> Sharing {
    let claim = |n, utility| SharingClaim {
        order: OrderId([n; 32]),
        sponsor: entry::ACCOUNT,
        rate: micros(40_000 * u64::from(n)),
        utility,
        weights: vec![3, 1],
        tasks: 40,
    };
    let mut sharing = Sharing {
        offer: OFFER,
        class: CLASS,
        height: 24,
        slot: 3,
        units: 32,
        reserve: Price(1_000),
        terms: entry::POOL,
        draw: Hash32([0x77; 32]),
        claims: vec![claim(0x0d, Utility::Linear), claim(0x0e, Utility::Log)],
        awards: vec![],
    };
    sharing.awards = sharing.divide();
    assert_eq!(sharing.awards.len(), 2);
    sharing
}

fn terms(firm_through: Option<u64>) -> LeaseTerms {
    LeaseTerms {
        lease: LEASE,
        order: ORDER,
        account: entry::ACCOUNT,
        class: CLASS,
        slot: 4,
        shares: vec![Share {
            offer: OFFER,
            units: 4,
        }],
        paid: micros(4_000),
        firm_through,
    }
}

fn contracts() -> [(&'static str, Effect); 4] {
    let (contract, provider) = (OrderId([0xc0; 32]), AccountId([0xa2; 32]));
    let signed = ContractEvent::Signed {
        contract,
        client: entry::ACCOUNT,
        provider,
        bond: micros(500_000_000),
    };
    let decided = ContractEvent::Decided(JobRecord {
        contract,
        job: OrderId([0x0b; 32]),
        number: 7,
        arrival: 5,
        after: 31,
        done: true,
        pays: micros(2_000_000),
        owes: micros(0),
    });
    let settled = ContractEvent::Settled(Settlement {
        contract,
        client: entry::ACCOUNT,
        provider,
        alpha_ppm: 1_250_000,
        beta16: 32,
        requested: 1_000,
        completed: 500,
        earned: micros(1_000_000_000),
        pays: micros(312_500_000),
        owed: micros(250_000_000),
    });
    let lapsed = ContractEvent::Lapsed {
        contract,
        withdrawn: true,
    };
    [
        ("contract.signed", signed),
        ("contract.decided", decided),
        ("contract.settled", settled),
        ("contract.lapsed", lapsed),
    ]
    .map(|(name, event)| (name, Effect::Contract(event)))
}

/// All samples by name.
pub(crate) fn all() -> Vec<(String, Effect)> {
    let posting = |(name, reason, from, to): (&str, Reason, Purse, Purse)| {
        let order = [from, to].contains(&ESCROW).then_some(ORDER);
        let amount = micros(5_000_000);
        let posting = Posting {
            from,
            to,
            amount,
            reason,
            order,
        };
        (format!("posting.{name}"), Effect::Posting(posting))
    };
    let lease_end = |(name, end): (&str, LeaseEnd)| {
        let ended = LeaseEvent::Ended {
            lease: LEASE,
            order: ORDER,
            end,
        };
        (format!("lease.ended.{name}"), Effect::Lease(ended))
    };
    let order_end = |(name, end): (&str, OrderEnd)| {
        let order = ORDER;
        (format!("order.{name}"), Effect::Order { order, end })
    };
    let lease = |event| Effect::Lease(event);
    let whole = [
        (
            "clearing.boundary",
            Effect::Clearing(clearing(ClearingKind::Boundary)),
        ),
        (
            "clearing.free",
            Effect::Clearing(clearing(ClearingKind::Free)),
        ),
        ("buy", Effect::Buy(bought())),
        ("lease.disputed", lease(disputed())),
        ("planning", Effect::Planning(deadline::planning())),
        ("reservation", Effect::Reservation(reserved(None))),
        (
            "reservation.hinted",
            Effect::Reservation(reserved(Some(micros(999_999)))),
        ),
        ("sharing", Effect::Sharing(shared())),
        ("lease.started", lease(LeaseEvent::Started(terms(Some(64))))),
        ("lease.renewed", lease(LeaseEvent::Renewed(terms(None)))),
    ];
    POSTINGS
        .into_iter()
        .map(posting)
        .chain(whole.map(|(name, effect)| (name.to_owned(), effect)))
        .chain(contracts().map(|(name, effect)| (name.to_owned(), effect)))
        .chain(LEASE_ENDS.into_iter().map(lease_end))
        .chain(ORDER_ENDS.into_iter().map(order_end))
        .chain([("posted".to_owned(), posted::sold())])
        .collect()
}
