//! The parts of evidence: orders, amounts, movements of money.

use crate::demo::evidence::{Account, Evidence};
use crate::demo::order::{LONG, Order, Wish};
use crate::demo::work::{Output, Work};
use gridbay_node::api::types::{
    How, JobId, JobReason, JobRecord, JobState, Movement, RankExit, Signed, Why, WhyCheck,
};
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::job::JobExit;
use gridbay_protocol::payment::Reason;
use gridbay_protocol::units::Credits;

/// An order by name.
pub(crate) fn order<'a>(evidence: &'a mut Evidence, name: &str) -> &'a mut Order {
    let mut named = evidence.orders.iter_mut().filter(|o| o.wish.name == name);
    named.next().unwrap()
}

/// Moves money of an account, for an order.
pub(crate) fn movement(account: &mut Account, n: u8, reason: Reason, amount: i64, other: &str) {
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

pub(crate) fn micros(n: u64) -> Credits {
    Credits::from_micros(n).unwrap()
}

pub(crate) fn id(n: u8) -> OrderId {
    OrderId([n; 32])
}

pub(crate) fn done(name: &'static str, n: u8) -> Order {
    let wish = Wish {
        name,
        buyer: "b1",
        class: "small",
        nodes: 1,
        max_price: None,
        how: How::BID,
        seconds: LONG,
        work: Work::Sleep(1),
    };
    let record = JobRecord {
        project: None,
        user: None,
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
            dropped: 0,
        }],
        files: vec![],
        paid: micros(10),
        locked: Credits::ZERO,
        price: None,
        preemptions: 0,
        share: None,
        checkpoint: None,
        attempts: Vec::new(),
        lost_seconds: 0,
        networks: Vec::new(),
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

pub(crate) fn vain(n: u8) -> Order {
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
        stall: None,
        closes_ms: None,
    });
    order
}
