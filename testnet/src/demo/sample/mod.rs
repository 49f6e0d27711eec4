//! Small evidence that passes all checks; the tests of the checks spoil it.

mod parts;

pub(crate) use parts::{done, id, micros, movement, order, vain};

use crate::demo::evidence::{Account, Auction, Chain, Evidence, Verified};
use crate::demo::scene::SAMPLES;
use crate::demo::stage::Crash;
use gridbay_node::api::types::{AuctionRecord, JobReason, JobState, Movement, Signed};
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{
    AccountId, BlockId, ClassId, ClearingId, Hash32, LeaseId, OfferId, OrderId,
};
use gridbay_protocol::order::Step;
use gridbay_protocol::payment::Reason;
use gridbay_protocol::policy::ausubel::AuctionPolicy;
use gridbay_protocol::record::ausubel::{
    Award, ClearingBid, ClearingKind, ClearingOffer, ClearingRecord, Sold,
};
use gridbay_protocol::record::buy::{BoughtPart, BuyRecord};
use gridbay_protocol::units::Price;
use std::time::Duration;

/// The order of the buy that displaced somebody.
pub(crate) const BUY: OrderId = OrderId([9; 32]);

/// One winner, five losers of whom one resumed later and one never won, one buy.
pub(crate) fn good() -> Evidence {
    let mut orders = vec![done("first", 1), done("late", 2)];
    orders[1]
        .seen
        .push((JobState::Requeued, Some(JobReason::Preempted)));
    orders[1].record.preemptions = 1;
    orders.push(vain(3));
    let mut evidence = Evidence {
        orders,
        accounts: accounts(),
        minted: 2_000,
        bank: Signed(0),
        auctions: vec![clearing(), buy()],
        chains: vec![chain("v1"), chain("v2")],
        crash: Crash {
            node: "v2".into(),
            hosted: vec!["first".into()],
            survived: vec!["first".into()],
            height: 2,
            next_blocks: Duration::from_millis(700),
            head: 20,
            own: 20,
            back: Duration::from_secs(1),
        },
        verified: Verified {
            with_sales: 2,
            verified: 2,
            complaint: None,
        },
        ledgers: vec![("v1".into(), None), ("v2".into(), None)],
        leftovers: vec![],
        records: vec![],
        policy: Policy::local(),
    };
    for add in SAMPLES {
        add(&mut evidence);
    }
    evidence
}

fn accounts() -> Vec<Account> {
    let account = |name: &str, n: u8, moved: i64, reason| Account {
        name: name.into(),
        id: AccountId([n; 32]),
        start: Signed(1_000),
        end: Signed(1_000 + moved),
        held: Signed(0),
        movements: vec![Movement {
            height: 4,
            time_ms: 5,
            amount: Signed(moved),
            reason,
            other: "class small".into(),
            order: Some(id(1)),
        }],
    };
    vec![
        account("v1", 1, 300, Reason::Earning),
        account("b1", 2, -300, Reason::Lock),
    ]
}

fn clearing() -> Auction {
    let bid = |n: u8, price: u64| ClearingBid {
        order: id(n),
        sponsor: AccountId([n; 32]),
        round: 1,
        rank: Hash32([n; 32]),
        min: 2,
        steps: vec![Step {
            units: 2,
            price: Price(price),
        }],
    };
    let record = ClearingRecord {
        id: ClearingId([1; 32]),
        class: ClassId([1; 32]),
        kind: ClearingKind::Free,
        height: 4,
        slot: 0,
        heights: 4,
        policy: AuctionPolicy::default(),
        held: vec![],
        offers: vec![ClearingOffer {
            offer: OfferId([1; 32]),
            units: 2,
            reserve: Price(100),
        }],
        bids: vec![
            bid(1, 200),
            bid(2, 150),
            bid(3, 50),
            bid(4, 10),
            bid(5, 9),
            bid(6, 8),
        ],
        awards: vec![Award {
            order: id(1),
            units: 2,
            pay: micros(300),
        }],
        sold: vec![Sold {
            offer: OfferId([1; 32]),
            units: 2,
            earns: micros(300),
        }],
    };
    Auction {
        id: record.id.to_hex(),
        class: "small".into(),
        record: AuctionRecord::Clearing(record),
    }
}

fn buy() -> Auction {
    let record = BuyRecord {
        order: BUY,
        height: 9,
        parts: vec![BoughtPart {
            class: ClassId([1; 32]),
            taken: vec![ClearingOffer {
                offer: OfferId([1; 32]),
                units: 1,
                reserve: Price(500),
            }],
            displaced: vec![LeaseId([2; 32])],
            displaced_value: micros(150),
            evicted: vec![],
            price: micros(500),
        }],
        price: micros(500),
        slots: 3,
    };
    Auction {
        id: record.order.to_hex(),
        class: "small".into(),
        record: AuctionRecord::Buy(record),
    }
}

fn chain(node: &str) -> Chain {
    Chain {
        node: node.into(),
        height: 2,
        block: BlockId([2; 32]),
        state_root: Hash32([3; 32]),
        headers: vec![vec![1], vec![2]],
    }
}
