//! `deadline`: a job for a seller that plans. Locks its highest price; decided at the next slot
//! boundary (see `crate::sell::deadline`).
//!
//! 1. The offer is of the class, planned, for sale, and not about to be reduced or withdrawn.
//! 2. All its units could do the work by the hard deadline, and even then the price covers the
//!    reserve.
//! 3. Account, class and offer have room for the job.
//! 4. The account can pay the highest price.

use crate::money::funds;
use crate::record::{DeadlineOrder, Order, Scarce, Stage};
use crate::refusal::Refusal;
use crate::sell::deadline::{is_leaving, least_price, of_offer};
use crate::view::Book;
use crate::work::Work;
use crate::{book, scarce};
use gridbay_protocol::ids::{AccountId, EntryId, OrderId};
use gridbay_protocol::limits;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::order::{Deadline, order_of};
use gridbay_protocol::payment::{Purse, Reason};

pub(crate) fn check(
    work: &Work<'_>,
    account: &AccountId,
    deadline: &Deadline,
) -> Result<(), Refusal> {
    let Deadline { class, offer, .. } = *deadline;
    if work.class(&class).is_none() {
        return Err(Refusal::NoClass(class));
    }
    let found = work.tables.offers.get(&offer);
    let found = found.filter(|o| o.terms.class == class && o.active);
    let found = found.ok_or(Refusal::NotPlanned(offer))?;
    let planned = matches!(found.terms.mechanism, Primary::Deadline(_));
    if !planned || is_leaving(found) {
        return Err(Refusal::NotPlanned(offer));
    }
    let room = u64::from(found.terms.units) * u64::from(deadline.hard);
    if deadline.unit_slots > room {
        return Err(Refusal::TooMuchWork {
            offer,
            unit_slots: deadline.unit_slots,
            room,
        });
    }
    let least = least_price(&found.terms, deadline.unit_slots);
    if deadline.pmin < least {
        return Err(Refusal::BelowReserve { offer, least });
    }
    book::has_room(work, &class, account)?;
    has_room(work, account, deadline)?;
    funds::require(work, Purse::Account(*account), deadline.pmax)
}

fn has_room(work: &Work<'_>, account: &AccountId, deadline: &Deadline) -> Result<(), Refusal> {
    let own = |id: &OrderId| {
        let order = work.tables.orders.get(id);
        order.is_some_and(|o| o.account == *account)
    };
    let (mut all, mut mine) = (0, 0);
    for id in of_offer(work, &deadline.offer) {
        all += 1;
        mine += usize::from(own(&id));
    }
    if mine >= limits::JOBS_PER_OFFER_ACCOUNT
        || all >= limits::JOBS_PER_OFFER
        || scarce::check(work, Scarce::Jobs(deadline.class), account, 0, 1).is_err()
    {
        return Err(Refusal::JobQuota {
            account: *account,
            offer: deadline.offer,
        });
    }
    Ok(())
}

pub(crate) fn enter(at: &mut Book<'_, '_>, id: &EntryId, account: &AccountId, deadline: &Deadline) {
    let order = order_of(id);
    let stage = Stage::Deadline(Box::new(DeadlineOrder {
        deadline: deadline.clone(),
        taken: None,
    }));
    let record = Order::new(*account, deadline.class, at.round(), stage);
    book::enter(at, order, record);
    let (from, to) = (Purse::Account(*account), Purse::Escrow(order));
    let amount = deadline.pmax;
    at.post(from, to, amount, Reason::Lock, Some(order))
        .expect("the lock was checked");
}
