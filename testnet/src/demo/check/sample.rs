//! Small evidence that passes all checks; the tests of the checks spoil it.

mod batch;
mod booking;
mod hire;

use crate::demo::evidence::{Account, Auction, Chain, Evidence, Verified};
use crate::demo::order::{Order, Wish};
use crate::demo::scene::{CLAIMS, Crash};
use crate::demo::work::{Output, Work};
use gridbay_node::api::types::{
    AuctionRecord, DeadlineHow, How, JobId, JobReason, JobRecord, JobState, Movement, RankExit,
    Signed, Why, WhyCheck,
};
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{
    AccountId, BlockId, ClassId, ClearingId, Hash32, LeaseId, OfferId, OrderId,
};
use gridbay_protocol::job::JobExit;
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::offer::PoolTerms;
use gridbay_protocol::order::Step;
use gridbay_protocol::payment::Reason;
use gridbay_protocol::policy::ausubel::AuctionPolicy;
use gridbay_protocol::record::ausubel::{
    Award, ClearingBid, ClearingKind, ClearingOffer, ClearingRecord, Sold,
};
use gridbay_protocol::record::buy::{BoughtPart, BuyRecord};
use gridbay_protocol::record::share::{Sharing, SharingClaim};
use gridbay_protocol::units::{Credits, Price};
use std::time::Duration;

/// The order of the buy that displaced somebody.
pub(super) const BUY: OrderId = OrderId([9; 32]);

/// An order by name.
pub(super) fn order<'a>(evidence: &'a mut Evidence, name: &str) -> &'a mut Order {
    let mut named = evidence.orders.iter_mut().filter(|o| o.wish.name == name);
    named.next().unwrap()
}

/// One winner, five losers of whom one resumed later and one never won, one buy.
pub(crate) fn good() -> Evidence {
    let mut orders = vec![done("first", 1), done("late", 2)];
    orders[1]
        .seen
        .push((JobState::Requeued, Some(JobReason::Preempted)));
    orders[1].record.preemptions = 1;
    orders.push(vain(3));
    orders.push(patient(7));
    orders.extend([done(CLAIMS[0], 20), done(CLAIMS[1], 21)]);
    let mut evidence = Evidence {
        orders,
        accounts: accounts(),
        minted: 2_000,
        bank: Signed(0),
        auctions: vec![clearing(), buy(), sharing()],
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
    booking::add(&mut evidence);
    batch::add(&mut evidence);
    hire::add(&mut evidence);
    evidence
}

/// Moves money of an account, for an order.
fn movement(account: &mut Account, n: u8, reason: Reason, amount: i64, other: &str) {
    account.end.0 += amount;
    account.movements.push(Movement {
        height: 4,
        time_ms: 5,
        amount: Signed(amount),
        reason,
        other: other.into(),
        order: Some(id(n)),
    });
}

fn micros(n: u64) -> Credits {
    Credits::from_micros(n).unwrap()
}

fn id(n: u8) -> OrderId {
    OrderId([n; 32])
}

fn done(name: &'static str, n: u8) -> Order {
    let wish = Wish {
        name,
        buyer: "b1",
        class: "small",
        nodes: 1,
        max_price: None,
        how: How::BID,
        work: Work::Sleep(1),
    };
    let record = JobRecord {
        worth: None,
        left_seconds: None,
        id: JobId::from_bytes([n; 8]),
        order: Some(id(n)),
        name: name.into(),
        argv: wish.work.argv(),
        class: "small".into(),
        nodes: 1,
        how: How::BID,
        max_price: Credits::ZERO,
        seconds: 60,
        budget: Credits::ZERO,
        state: JobState::Done,
        reason: None,
        accepted_ms: 1_000,
        committed_height: Some(1),
        opened_height: Some(2),
        won_height: Some(4),
        lease: None,
        sellers: vec![],
        running_ms: Some(2_500),
        ended_ms: Some(4_000),
        exits: vec![RankExit {
            rank: 0,
            exit: JobExit::Code(0),
        }],
        files: vec![],
        paid: micros(10),
        locked: Credits::ZERO,
        price: None,
        preemptions: 0,
        share: None,
    };
    Order {
        seen: vec![(JobState::Done, None)],
        wish,
        record,
        why: None,
        outputs: vec![Output {
            stdout: "rank 0 of 1\nrank 0 slept 1\n".into(),
            ..Output::default()
        }],
        given_up: false,
    }
}

fn patient(n: u8) -> Order {
    let mut order = done("patient", n);
    order.wish.how = How::Deadline(DeadlineHow {
        soft_seconds: 2,
        hard_seconds: 9,
        pay: micros(20),
        late_pay: micros(5),
        shape: Shape::Linear,
        offer: None,
        seller: None,
    });
    order
}

fn vain(n: u8) -> Order {
    let mut order = done("vain", n);
    order.record.state = JobState::Cancelled;
    order.record.exits.clear();
    order.outputs.clear();
    order.seen = vec![(JobState::Bidding, Some(JobReason::Outbid))];
    order.given_up = true;
    order.why = Some(Why {
        id: order.record.id.clone(),
        state: JobState::Bidding,
        reason: Some(JobReason::Outbid),
        refusal: None,
        summary: "others bid more".into(),
        checks: vec![WhyCheck {
            condition: "price".into(),
            met: false,
            figures: "3 of 4".into(),
        }],
        remedies: vec![],
    });
    order
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
    let mut accounts = vec![
        account("v1", 1, 300, Reason::Earning),
        account("b1", 2, -300, Reason::Lock),
    ];
    // The job by a deadline pays 10 of 20, with a stake of 5.
    let seller = [
        (Reason::Bond, -5),
        (Reason::Earning, 10),
        (Reason::Release, 5),
    ];
    let buyer = [(Reason::Lock, -20), (Reason::Release, 10)];
    let moves = [&seller[..], &buyer[..]];
    for (account, moves) in accounts.iter_mut().zip(moves) {
        for (reason, amount) in moves {
            account.end.0 += amount;
            account.movements.push(Movement {
                reason: *reason,
                amount: Signed(*amount),
                order: Some(id(7)),
                ..account.movements[0].clone()
            });
        }
    }
    accounts
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

/// Two claims on a pool of two nodes: one each.
fn sharing() -> Auction {
    let claim = |n| SharingClaim {
        order: id(n),
        sponsor: AccountId([n; 32]),
        rate: micros(1_000),
        utility: Utility::Log,
        weights: vec![1, 1],
        tasks: 6,
    };
    let mut record = Sharing {
        offer: OfferId([3; 32]),
        class: ClassId([1; 32]),
        height: 8,
        slot: 1,
        units: 2,
        reserve: Price(100),
        terms: PoolTerms {
            cap_ppm: 1_000_000,
            sixteenths: 8,
        },
        draw: Hash32([5; 32]),
        claims: vec![claim(20), claim(21)],
        awards: vec![],
    };
    record.awards = record.divide();
    Auction {
        id: record.id().to_hex(),
        class: "small".into(),
        record: AuctionRecord::Sharing(record),
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
