//! A job by a deadline that pays half of its price, with a stake of a quarter.

use crate::demo::evidence::Evidence;
use crate::demo::order::Order;
use crate::demo::sample::{done, micros, movement};
use gridbay_node::api::types::{DeadlineHow, How};
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::payment::Reason;

const ORDER: u8 = 7;

pub(crate) fn add(evidence: &mut Evidence) {
    evidence.orders.push(patient(ORDER));
    let seller = [
        (Reason::Bond, -5),
        (Reason::Earning, 10),
        (Reason::Release, 5),
    ];
    let buyer = [(Reason::Lock, -20), (Reason::Release, 10)];
    let moves = [&seller[..], &buyer[..]];
    for (account, moves) in evidence.accounts.iter_mut().zip(moves) {
        for (reason, amount) in moves {
            movement(account, ORDER, *reason, *amount, "class small");
        }
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
