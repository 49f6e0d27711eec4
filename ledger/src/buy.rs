//! Deciding a buy-it-now of q units.
//!
//! 1. Eligible are offers with a buy price, without reclaim, not about to shrink, and among those named if any are.
//! 2. If q eligible units are free they are taken by (buy price, offer).
//! 3. Otherwise the bids of preemptible leases that lie wholly on eligible units compete anew, each for the units it
//!    holds at whole-slot values, for q units less than are held and free (`ausubel`, the policy's rule). Who gets less loses the
//!    difference, cheapest units first. The value lost is the displaced value. Units are taken by (buy price, offer)
//!    among the free and the vacated.
//!    If all bids giving way would not be enough, buys may be evicted (see `evict`).
//! 4. The price per slot is the larger of the sum of buy prices and the displaced value. The first payment is the
//!    price for the rest of the slot, rounded up. It ends as too dear if the price, or the first payment with all
//!    compensations, exceeds the limit. Who is not served may wait (see `queue`).
//! 5. Victims get the unused part of their payment back. A victim of another sponsor whose lease has run a full slot is
//!    also paid, by the buy, what the lost units cost it in this slot and was not returned.
//! 6. What was locked for surcharges and is not due is released at once.

mod evict;
pub(crate) mod queue;

use crate::market::{self, Held};
use crate::tenancy::{self, Grant};
use crate::work::Work;
use crate::{firm, purse};
use evict::Evicted;
use gridbay_protocol::clearing::{BidId, BuyRecord, ClearingOffer};
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::ids::{AccountId, Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent, Share, lease_id};
use gridbay_protocol::mechanism::ausubel::{self, Bidder};
use gridbay_protocol::order::{Buy, unit_prices};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::planted::{self, Planted};
use gridbay_protocol::units::{Credits, Price};
use std::collections::BTreeMap;

/// Eligible units, by (buy price, offer): how many are free.
type Shelf = BTreeMap<(Price, OfferId), u32>;

/// A lease that loses units.
struct Victim {
    lease: LeaseId,
    account: AccountId,
    losses: BTreeMap<OfferId, u32>,
    compensation: Credits,
}

/// What a buy takes, before it is known whether it can pay.
struct Deal {
    taken: Vec<ClearingOffer>,
    victims: Vec<Victim>,
    displaced_value: Credits,
    evicted: Vec<Evicted>,
}

/// Serves a buy, or lets it wait, or ends it. Unless it `displaces` it takes free units only.
pub(crate) fn decide(work: &mut Work<'_>, id: &OrderId, displaces: bool) {
    let order = work.tables.orders.get(id);
    let Some((account, buy)) = order.and_then(|o| Some((o.account, o.buy()?.buy.clone()))) else {
        return;
    };
    let Some(deal) = deal(work, &account, &buy, displaces) else {
        return queue::wait_or_end(work, id, &buy, OrderEnd::NoUnits);
    };
    match price(work, &buy, &deal) {
        Some((price, first)) => serve(work, id, &buy, deal, price, first),
        None => queue::wait_or_end(work, id, &buy, OrderEnd::TooDear),
    }
}

/// Heights of the running slot that are left to sell, and that slot. At a boundary it is the next one.
fn time_left(work: &Work<'_>) -> (u64, u64) {
    let (calendar, height) = (work.calendar(), work.height());
    let slot = calendar.slot(height + 1);
    (slot, calendar.last_of_slot(slot) - height)
}

/// Price per slot and first payment; `None` if too dear.
fn price(work: &Work<'_>, buy: &Buy, deal: &Deal) -> Option<(Credits, Credits)> {
    let asked = deal.taken.iter();
    let asked =
        Credits::sum(asked.map(|t| t.reserve.times(u64::from(t.units)).unwrap_or(Credits::MAX)))?;
    let price = asked.max(deal.displaced_value);
    let (_, left) = time_left(work);
    let first = price.share_ceil(left, work.calendar().slot_heights())?;
    let compensations = Credits::sum(deal.victims.iter().map(|v| v.compensation))?;
    let at_once = first.checked_add(compensations)?;
    (price <= buy.limit && at_once <= buy.limit).then_some((price, first))
}

/// Steps 1 to 3; `None` if there are not enough units.
fn deal(work: &Work<'_>, buyer: &AccountId, buy: &Buy, displaces: bool) -> Option<Deal> {
    let held = market::held(work);
    let mut shelf = shelf(work, buy, &held);
    let mut free: u32 = shelf.values().sum();
    let mut displaced_value = Credits::ZERO;
    let (mut victims, mut evicted) = (Vec::new(), Vec::new());
    if free < buy.units && !displaces {
        return None;
    }
    if free < buy.units {
        let runners = runners(work, buy, &shelf);
        let all = free + runners.iter().map(|r| r.holds).sum::<u32>();
        if all < buy.units {
            evicted = evict::choose(work, buyer, buy, &shelf, buy.units - all)?;
            for lost in evicted.iter().map(|e| &e.losses) {
                vacate(&mut shelf, lost);
            }
            free = shelf.values().sum();
        }
        let (losses, value) = displace(work, buy, &runners, free)?;
        displaced_value = value;
        for (lease, units) in losses {
            let victim = victim(work, buyer, &lease, units, &shelf);
            vacate(&mut shelf, &victim.losses);
            victims.push(victim);
        }
    }
    let mut missing = buy.units;
    let mut taken = Vec::new();
    for ((price, offer), room) in shelf {
        let units = room.min(missing);
        missing -= units;
        if units > 0 {
            taken.push(ClearingOffer {
                offer,
                units,
                reserve: price,
            });
        }
    }
    taken.sort_unstable_by_key(|t| t.offer);
    (missing == 0).then_some(Deal {
        taken,
        victims,
        displaced_value,
        evicted,
    })
}

/// Puts units that somebody loses on the shelf.
fn vacate(shelf: &mut Shelf, losses: &BTreeMap<OfferId, u32>) {
    for (key, room) in shelf {
        *room += losses.get(&key.1).copied().unwrap_or(0);
    }
}

/// Eligible offers with their free units, also those with none.
fn shelf(work: &Work<'_>, buy: &Buy, held: &BTreeMap<OfferId, Held>) -> Shelf {
    let mut shelf = Shelf::new();
    for (id, offer) in market::offers(work, &buy.class) {
        let named = buy.offers.is_empty() || buy.offers.binary_search(&id).is_ok();
        let held = held.get(&id).copied().unwrap_or_default().all();
        let Some(free) = offer.terms.units.checked_sub(held) else {
            continue;
        };
        if let (true, true, Some(price)) = (named, offer.sells_firmly(), offer.terms.buy_price) {
            shelf.insert((price, id), free);
        }
    }
    shelf
}

/// A bid whose lease lies wholly on eligible units.
struct Runner {
    lease: LeaseId,
    holds: u32,
    value: Credits,
    bidder: Bidder<BidId>,
}

fn runners(work: &Work<'_>, buy: &Buy, shelf: &Shelf) -> Vec<Runner> {
    let eligible = |offer: &OfferId| shelf.keys().any(|(_, id)| id == offer);
    let mut runners = Vec::new();
    for (id, lease) in work.tables.leases.iter() {
        let order = work.tables.orders.get(&lease.order);
        let Some((round, bid)) = order.and_then(|o| Some((o.round, o.bid()?))) else {
            continue;
        };
        let on_eligible =
            lease.class == buy.class && lease.shares.iter().all(|s| eligible(&s.offer));
        if !on_eligible {
            continue;
        }
        let holds = lease.units();
        runners.push(Runner {
            lease: *id,
            holds,
            value: bid.bid.value(holds),
            bidder: Bidder {
                id: (bid.rank.unwrap_or_default(), lease.order),
                time: round,
                min: bid.bid.min,
                prices: unit_prices(&bid.bid.steps, holds),
                sponsor: None,
            },
        });
    }
    runners
}

/// Who loses how many units for the buy, in order of orders, and the value they lose; `None` if even all of them do not
/// suffice.
fn displace(
    work: &Work<'_>,
    buy: &Buy,
    runners: &[Runner],
    free: u32,
) -> Option<(Vec<(LeaseId, u32)>, Credits)> {
    let units = free + runners.iter().map(|r| r.holds).sum::<u32>();
    let outcome = ausubel::clear(&ausubel::Input {
        rule: work.constitution.policy.auction.rule,
        supply: units.checked_sub(buy.units)?,
        reserve: 0,
        bidders: runners.iter().map(|r| r.bidder.clone()).collect(),
    });
    let outcome = outcome.expect("the book holds legal bids");
    let kept: BTreeMap<BidId, u32> = outcome.awards.iter().map(|a| (a.id, a.units)).collect();
    let losses = runners.iter().filter_map(|runner| {
        let lost = runner.holds - kept.get(&runner.bidder.id).copied().unwrap_or(0);
        (lost > 0).then_some((runner.bidder.id.1, (runner.lease, lost)))
    });
    let losses: BTreeMap<OrderId, (LeaseId, u32)> = losses.collect();
    let welfare: u128 = runners.iter().map(|r| u128::from(r.value.micros())).sum();
    let value = Credits::from_wide(welfare - outcome.welfare)?;
    Some((losses.into_values().collect(), value))
}

/// Which units a lease loses, cheapest first, and what it is due for them.
fn victim(work: &Work<'_>, buyer: &AccountId, id: &LeaseId, units: u32, shelf: &Shelf) -> Victim {
    let lease = work.tables.leases.get(id).expect("a victim runs");
    let mut losses = BTreeMap::new();
    let mut left = units;
    for (_, offer) in shelf.keys() {
        let lost = lease.units_of(offer).min(left);
        left -= lost;
        if lost > 0 {
            losses.insert(*offer, lost);
        }
    }
    let cost = tenancy::cost(work, id, &losses);
    let due = lease.slots_run >= 1 && work.sponsor(buyer) != work.sponsor(&lease.account);
    Victim {
        lease: *id,
        account: lease.account,
        losses,
        compensation: if due {
            cost.cost.saturating_sub(cost.unused)
        } else {
            Credits::ZERO
        },
    }
}

/// Steps 4 and 5 for a buy that can pay.
fn serve(work: &mut Work<'_>, id: &OrderId, buy: &Buy, deal: Deal, price: Credits, first: Credits) {
    let (slot, left) = time_left(work);
    let whole = work.calendar().slot_heights();
    work.emit(Effect::Buy(BuyRecord {
        order: *id,
        class: buy.class,
        height: work.height(),
        taken: deal.taken.clone(),
        displaced: deal.victims.iter().map(|v| v.lease).collect(),
        displaced_value: deal.displaced_value,
        evicted: deal.evicted.iter().map(|e| e.terms).collect(),
        price,
        slots: buy.slots,
    }));
    for evicted in &deal.evicted {
        evict::evict(work, id, evicted);
    }
    release_surcharge(work, id, buy, &deal);
    for victim in &deal.victims {
        preempt(work, id, victim);
    }
    queue::leave(work, id, &buy.class);
    if let Some(crate::order::Stage::Buy(order)) =
        work.tables.orders.get_mut(id).map(|o| &mut o.stage)
    {
        order.price = price;
        order.taken = deal.taken.clone();
    }
    let shares = deal.taken.iter().map(|t| Share {
        offer: t.offer,
        units: t.units,
    });
    let grant = Grant {
        order: *id,
        slot,
        shares: shares.collect(),
        paid: first,
        pot: Hash32(lease_id(id, work.height()).0),
        whole_slot: left == whole,
        firm_through: Some(work.calendar().slot(work.height()) + u64::from(buy.slots)),
    };
    firm::hold(work, grant, left, &deal.taken);
}

/// Step 6.
fn release_surcharge(work: &mut Work<'_>, id: &OrderId, buy: &Buy, deal: &Deal) {
    let due = Credits::sum(deal.evicted.iter().map(|e| e.terms.surcharge));
    let due = due.expect("surcharges are within what was locked for them");
    let account = work.tables.orders.get(id).map(|o| o.account);
    let to = Purse::Account(account.expect("a buy that is served is live"));
    let rest = buy.surcharge.saturating_sub(due);
    purse::post(
        work,
        Purse::Escrow(*id),
        to,
        rest,
        Reason::Release,
        Some(*id),
    )
    .expect("the surcharge was locked");
}

fn preempt(work: &mut Work<'_>, buy: &OrderId, victim: &Victim) {
    tenancy::stop(work, &victim.lease, &victim.losses);
    let (from, to) = (Purse::Escrow(*buy), Purse::Account(victim.account));
    let amount = victim.compensation;
    purse::post(work, from, to, amount, Reason::Compensation, Some(*buy))
        .expect("compensations are within the limit that was locked");
    if planted::is(Planted::CompensationTwice) {
        let _ = purse::post(work, from, to, amount, Reason::Compensation, Some(*buy));
    }
    let lease = work.tables.leases.get(&victim.lease);
    let lease = lease.expect("a victim runs");
    if lease.shares.is_empty() {
        tenancy::end(work, &victim.lease, LeaseEnd::Preempted);
    } else {
        let terms = lease.terms(victim.lease);
        work.emit(Effect::Lease(LeaseEvent::Renewed(terms)));
    }
}
