//! The decision on a buy-it-now (CloudBay, Alg. 1, l. 3 to 12).
//!
//! 1. Each part takes units of its class (see `deal`). If one finds too few, the buy is not served
//!    at all.
//! 2. The price of a part per slot is the larger of the sum of its buy prices and its displaced
//!    value, that of the buy their sum. The first payment is the price of each part for the rest of
//!    the slot, rounded up. The buy ends as too dear if its price, or the first payment with all
//!    compensations, exceeds its limit. A buy that is not served may wait (see `queue`).
//! 3. Victims get the unused part of their payment back. A victim of another sponsor whose lease
//!    has run a full slot also gets, from the buy, the cost of the lost units in this slot that was
//!    not returned.
//! 4. Money locked for surcharges that are not due is released at once.
//! 5. All units are of one lease. It pays from one escrow into one pot; but the units of a part
//!    share the price of that part alone, so that value displaced in one class is not earned in
//!    another.

mod deal;
pub(crate) mod entry;
mod evict;
mod queue;
#[cfg(test)]
mod steps;
mod stock;
mod sums;

use crate::record::{Sale, Stage};
use crate::sell::hooks::Sells;
use crate::tenancy::{self, Grant};
use crate::view::{Floor, Money};
use crate::work::Work;
use crate::{firm, market};
use deal::{Deal, Missing, Victim};
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::ids::{Hash32, OrderId};
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent, Share, lease_id};
use gridbay_protocol::order::Buy;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::record::buy::BuyRecord;
use gridbay_protocol::units::Credits;
use stock::Stocks;

/// Buys.
pub(crate) struct Buys;

impl Sells for Buys {
    fn at_block(work: &mut Work<'_>, fresh: &[OrderId]) {
        queue::jump(&mut work.floor(), fresh);
    }
    fn at_round(work: &mut Work<'_>) {
        queue::close(&mut work.floor());
    }
}

/// Serves a buy, or lets it wait, or ends it. Unless it `displaces` it takes free units only.
fn decide(at: &mut Floor<'_, '_>, stocks: &mut Stocks, id: &OrderId, displaces: bool) {
    let order = at.tables.orders.get(id);
    let Some((account, order)) = order.and_then(|o| Some((o.account, o.buy()?.clone()))) else {
        return;
    };
    let buy = &order.buy;
    let deals = match deal::deals(at, stocks, &account, &order, displaces) {
        Ok(deals) => deals,
        Err(missing) => {
            let end = match missing {
                Missing::Money => OrderEnd::TooDear,
                Missing::Units(class) if buy.is_group() => OrderEnd::Short(class),
                Missing::Units(_) => OrderEnd::NoUnits,
            };
            return queue::wait_or_end(&mut at.book(), id, buy, end);
        }
    };
    let Some(prices) = prices(at, buy, &deals) else {
        return queue::wait_or_end(&mut at.book(), id, buy, OrderEnd::TooDear);
    };
    serve(at, id, buy, &deals, &prices);
    for deal in &deals {
        match deal.sold() {
            (class, Some(taken)) => stocks.sold(class, taken),
            (class, None) => stocks.forget(class),
        }
    }
}

/// Price per slot and first payment of each part; `None` if too dear.
fn prices(work: &Work<'_>, buy: &Buy, deals: &[Deal]) -> Option<Vec<(Credits, Credits)>> {
    let (_, left) = market::time_left(work);
    let whole = work.calendar().slot_heights();
    let price = |deal: &Deal| {
        let price = deal.price()?;
        Some((price, price.share_ceil(left, whole)?))
    };
    let prices = deals.iter().map(price).collect::<Option<Vec<_>>>()?;
    let sum = Credits::sum(prices.iter().map(|(price, _)| *price))?;
    let first = Credits::sum(prices.iter().map(|(_, first)| *first))?;
    let victims = deals.iter().flat_map(|deal| &deal.victims);
    let compensations = Credits::sum(victims.map(|v| v.compensation))?;
    let at_once = first.checked_add(compensations)?;
    (sum <= buy.limit && at_once <= buy.limit).then_some(prices)
}

/// Steps 3 to 5 for a buy that can pay.
fn serve(
    at: &mut Floor<'_, '_>,
    id: &OrderId,
    buy: &Buy,
    deals: &[Deal],
    prices: &[(Credits, Credits)],
) {
    let (slot, left) = market::time_left(at);
    let whole = at.calendar().slot_heights();
    let sales = |price: fn(&(Credits, Credits)) -> Credits| -> Vec<Sale> {
        let sale = |(deal, prices): (&Deal, _)| Sale {
            price: price(prices),
            taken: deal.taken.clone(),
        };
        deals.iter().zip(prices).map(sale).collect()
    };
    let (per_slot, first) = (sales(|p| p.0), sales(|p| p.1));
    let record = deals.iter().zip(prices);
    at.emit(Effect::Buy(BuyRecord {
        order: *id,
        height: at.height(),
        parts: record
            .map(|(deal, (price, _))| deal.record(*price))
            .collect(),
        price: Sale::sum(&per_slot),
        slots: buy.slots,
    }));
    for evicted in deals.iter().flat_map(|deal| &deal.evicted) {
        evict::evict(at, id, evicted);
    }
    release_surcharge(&mut at.money(), id, buy, deals);
    for victim in deals.iter().flat_map(|deal| &deal.victims) {
        preempt(at, id, victim);
    }
    queue::leave(&mut at.book(), id);
    if let Some(Stage::Buy(order)) = at.orders().get_mut(id).map(|o| &mut o.stage) {
        order.sales = per_slot;
    }
    let grant = Grant {
        order: *id,
        slot,
        shares: shares(deals),
        paid: Sale::sum(&first),
        pot: Hash32(lease_id(id, at.height()).0),
        whole_slot: left == whole,
        firm_through: Some(at.calendar().slot(at.height()) + u64::from(buy.slots)),
    };
    firm::hold(at, grant, left, &first);
}

/// The units of all parts, ascending by offer.
fn shares(deals: &[Deal]) -> Vec<Share> {
    let taken = deals.iter().flat_map(|deal| &deal.taken);
    let mut shares: Vec<Share> = taken
        .map(|t| Share {
            offer: t.offer,
            units: t.units,
        })
        .collect();
    shares.sort_unstable_by_key(|share| share.offer);
    shares
}

/// Step 4.
fn release_surcharge(at: &mut Money<'_, '_>, id: &OrderId, buy: &Buy, deals: &[Deal]) {
    let due = deals
        .iter()
        .map(Deal::surcharge)
        .collect::<Option<Vec<_>>>();
    let due = due.and_then(Credits::sum);
    let due = due.expect("surcharges are within what was locked for them");
    let account = at.tables.orders.get(id).map(|o| o.account);
    let to = Purse::Account(account.expect("a buy that is served is live"));
    let rest = buy.surcharge.saturating_sub(due);
    let from = Purse::Escrow(*id);
    at.post(from, to, rest, Reason::Release, Some(*id))
        .expect("the surcharge was locked");
}

fn preempt(at: &mut Floor<'_, '_>, buy: &OrderId, victim: &Victim) {
    tenancy::stop(at, &victim.lease, &victim.losses);
    let (from, to) = (Purse::Escrow(*buy), Purse::Account(victim.account));
    let amount = victim.compensation;
    at.post(from, to, amount, Reason::Compensation, Some(*buy))
        .expect("compensations are within the limit that was locked");
    let lease = at.tables.leases.get(&victim.lease);
    let lease = lease.expect("a victim runs");
    if lease.shares.is_empty() {
        tenancy::end(at, &victim.lease, LeaseEnd::Preempted);
    } else {
        let terms = lease.terms(victim.lease);
        at.emit(Effect::Lease(LeaseEvent::Renewed(terms)));
    }
}
