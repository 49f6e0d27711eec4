//! The end of a taken job.
//!
//! 1. Done, with no work left: it pays its price for the slot that ends.
//! 2. Cancelled: the buyer says that it is done, and it pays the same. So declaring too much work
//!    costs nothing but the seller's consent, and a buyer gains nothing by taking a seller's units
//!    from others and giving them back: the price never rises.
//! 3. Cancelled after the seller failed it in some slot: it pays for the work that was done only,
//!    in proportion.
//! 4. Missed: it pays nothing, and the seller's stake is the buyer's.
//!
//! Otherwise the stake goes back. The rest of the escrow is the buyer's.

use super::{job_of, record};
use crate::bank::{earn, figures};
use crate::market::seller;
use crate::record::{DeadlineOrder, Taken, Way};
use crate::view::Floor;
use crate::{book, tenancy};
use gridbay_protocol::effect::OrderEnd;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::record::deadline::{Finished, Planning};
use gridbay_protocol::units::Credits;

/// Ends a taken job that is done or cancelled; lists it among the jobs to plan otherwise.
pub(super) fn finish(at: &mut Floor<'_, '_>, id: &OrderId, slot: u64, planning: &mut Planning) {
    let order = at.tables.orders.get(id);
    let exiting = order.is_some_and(|o| o.exiting);
    let Some((job, taken)) = job_of(order).and_then(|job| Some((job, job.taken.as_ref()?))) else {
        return;
    };
    let now = record(id, job, taken, slot);
    let end = match (now.left, exiting) {
        (0, _) => OrderEnd::Served,
        (_, true) => OrderEnd::Cancelled,
        (_, false) => return planning.jobs.push(now),
    };
    let finished = Finished {
        order: *id,
        end,
        age: now.elapsed,
        pay: price(job, taken, now.left, now.elapsed),
        bond: taken.bond,
    };
    close(at, &finished, planning);
}

/// Ends a job that cannot be done in time any more.
pub(super) fn miss(at: &mut Floor<'_, '_>, id: &OrderId, slot: u64, planning: &mut Planning) {
    let order = at.tables.orders.get(id);
    let Some((job, taken)) = job_of(order).and_then(|job| Some((job, job.taken.as_ref()?))) else {
        return;
    };
    let finished = Finished {
        order: *id,
        end: OrderEnd::Missed,
        age: record(id, job, taken, slot).elapsed,
        pay: Credits::ZERO,
        bond: taken.bond,
    };
    close(at, &finished, planning);
}

/// Rules 1 to 3.
fn price(job: &DeadlineOrder, taken: &Taken, left: u64, age: u32) -> Credits {
    let price = job.deadline.price(age);
    let price = price.expect("a job that cannot be done in time has ended before");
    if left == 0 || !taken.failed {
        return price;
    }
    let part = price.share_floor(taken.done, job.deadline.unit_slots);
    part.expect("a part of an amount is an amount")
}

/// Moves the money, ends lease and order.
fn close(at: &mut Floor<'_, '_>, finished: &Finished, planning: &mut Planning) {
    let id = finished.order;
    let order = at.tables.orders.get(&id);
    let order = order.expect("a job that ends is in the book");
    let (buyer, lease) = (order.account, order.lease);
    let seller = seller(at, &planning.offer);
    let (class, done) = (order.class, order.deadline().and_then(|job| job.taken));
    let extent = done.map_or(0, |taken| taken.done) * at.calendar().slot_heights();
    figures::sold(&mut at.earned(), class, Way::Deadline, finished.pay, extent);
    earn(
        &mut at.money(),
        Purse::Escrow(id),
        seller,
        finished.pay,
        Some(id),
    );
    let (to, reason) = match finished.end {
        OrderEnd::Missed => (Purse::Account(buyer), Reason::Damages),
        _ => (Purse::Account(seller), Reason::Release),
    };
    at.post(Purse::Bond(id), to, finished.bond, reason, Some(id))
        .expect("the bond holds what was staked");
    if let Some(lease) = lease {
        let why = match finished.end {
            OrderEnd::Served => LeaseEnd::Expired,
            OrderEnd::Cancelled => LeaseEnd::Exit,
            _ => LeaseEnd::Undelivered,
        };
        tenancy::end(at, &lease, why);
    }
    book::end(&mut at.book(), &id, finished.end);
    planning.finished.push(*finished);
}
