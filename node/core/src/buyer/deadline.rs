//! Jobs by deadlines: a bag of tasks on a number of units that the seller's plan changes from slot to slot. The order is
//! cancelled when all tasks ended, which tells the ledger that it is done.

use super::record::{NewOrder, Terms};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::order::Deadline;

/// What the ledger is asked for; `None` for an order on other terms.
pub fn order_of(order: &NewOrder, work: Hash32) -> Option<Deadline> {
    let Terms::Deadline {
        offer,
        unit_slots,
        soft,
        hard,
        pmax,
        pmin,
        shape,
    } = order.terms
    else {
        return None;
    };
    Some(Deadline {
        class: order.class,
        offer,
        tasks: order.tasks,
        unit_slots,
        soft,
        hard,
        pmax,
        pmin,
        shape,
        work,
    })
}
