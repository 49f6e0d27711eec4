//! `share`: a claim on a pool, open from the start. `crate::sell::share` answers it at every slot
//! boundary.
//!
//! 1. The offer is a pool that sells, and the claim weighs each resource of its class.
//! 2. The account has no other claim on the pool; pool, class and account have room.
//! 3. It stands for a time within the limits; the budget covers one slot at the rate, and so does
//!    the account.

use crate::book;
use crate::money::funds;
use crate::record::{Order, ShareOrder, Stage};
use crate::refusal::Refusal;
use crate::view::Book;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, EntryId};
use gridbay_protocol::order::{Claim, order_of};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;

pub(crate) fn check(work: &Work<'_>, account: &AccountId, claim: &Claim) -> Result<(), Refusal> {
    let offer = work.tables.offers.get(&claim.offer);
    let offer = offer.filter(|o| o.pool().is_some());
    let class = offer.ok_or(Refusal::NoPool(claim.offer))?.terms.class;
    let known = work.class(&class).ok_or(Refusal::NoClass(class))?;
    let resources = known.key.resources().count();
    if claim.weights.len() != resources {
        return Err(Refusal::PoolWeights {
            weights: claim.weights.len(),
            resources,
        });
    }
    book::may_claim(work, &class, account, &claim.offer)?;
    book::may_stand(work, claim.stands_until)?;
    if claim.budget < claim.rate {
        return Err(Refusal::Budget {
            budget: claim.budget,
            slot: claim.rate,
        });
    }
    funds::require(work, Purse::Account(*account), claim.rate)
}

pub(crate) fn enter(at: &mut Book<'_, '_>, id: &EntryId, account: &AccountId, claim: &Claim) {
    let order = order_of(id);
    let offer = at.tables.offers.get(&claim.offer);
    let class = offer.expect("the pool was checked").terms.class;
    let stage = Stage::Share(Box::new(ShareOrder {
        claim: claim.clone(),
        portion: None,
        paid: Credits::ZERO,
        slots_used: 0,
    }));
    let record = Order::new(*account, class, at.round(), stage);
    book::enter(at, order, record);
    let (from, to) = (Purse::Account(*account), Purse::Escrow(order));
    at.post(from, to, claim.rate, Reason::Lock, Some(order))
        .expect("the lock was checked");
}
