//! What one part of a buy takes: units of one class.
//!
//! 1. Eligible are offers with a buy price, without reclaim, not about to shrink, and among those named if any are.
//! 2. If q eligible units are free they are taken by (buy price, offer).
//! 3. Otherwise the bids of preemptible leases that lie wholly on eligible units compete anew, each for the units it
//!    holds at whole-slot values, for q units less than are held and free (`ausubel`, the policy's rule). Who gets less loses the
//!    difference, cheapest units first. The value lost is the displaced value. Units are taken by (buy price, offer)
//!    among the free and the vacated.
//!    If all bids giving way would not be enough, buys may be evicted (see `evict`).
//!
//! **Parts do not meet.** They are of different classes, so no unit is eligible for two of them; and whoever gives way for
//! a part lies wholly on units eligible for it, so nobody gives way for two. So each part is as if it were alone.

use super::evict::{self, Evicted};
use crate::market::{self, Held};
use crate::tenancy;
use crate::work::Work;
use gridbay_protocol::clearing::{self, BidId, BoughtPart, ClearingOffer};
use gridbay_protocol::ids::{AccountId, ClassId, LeaseId, OfferId, OrderId};
use gridbay_protocol::mechanism::ausubel::{self, Bidder};
use gridbay_protocol::order::{Buy, BuyPart, unit_prices};
use gridbay_protocol::planted::{self, Planted};
use gridbay_protocol::units::{Credits, Price};
use std::collections::BTreeMap;

/// Eligible units, by (buy price, offer): how many are free.
pub(super) type Shelf = BTreeMap<(Price, OfferId), u32>;

/// A lease that loses units.
pub(super) struct Victim {
    pub(super) lease: LeaseId,
    pub(super) account: AccountId,
    pub(super) losses: BTreeMap<OfferId, u32>,
    pub(super) compensation: Credits,
}

/// What a part takes, before it is known whether the buy can pay.
pub(super) struct Deal {
    class: ClassId,
    pub(super) taken: Vec<ClearingOffer>,
    pub(super) victims: Vec<Victim>,
    displaced_value: Credits,
    pub(super) evicted: Vec<Evicted>,
}

impl Deal {
    /// Price per slot: the larger of what is asked and what is displaced; `None` if that is no amount.
    pub(super) fn price(&self) -> Option<Credits> {
        Some(clearing::asked(&self.taken)?.max(self.displaced_value))
    }
    /// As the record of the buy shows it, at this price.
    pub(super) fn record(&self, price: Credits) -> BoughtPart {
        BoughtPart {
            class: self.class,
            taken: self.taken.clone(),
            displaced: self.victims.iter().map(|v| v.lease).collect(),
            displaced_value: self.displaced_value,
            evicted: self.evicted.iter().map(|e| e.terms).collect(),
            price,
        }
    }
    /// What is due to those it evicts.
    pub(super) fn surcharge(&self) -> Option<Credits> {
        Credits::sum(self.evicted.iter().map(|e| e.terms.surcharge))
    }
}

/// What all parts of a buy take; if one finds too few units, its class.
pub(super) fn deals(
    work: &Work<'_>,
    buyer: &AccountId,
    buy: &Buy,
    displaces: bool,
) -> Result<Vec<Deal>, ClassId> {
    let held = market::held(work);
    let mut surcharge = buy.surcharge;
    let mut deals = Vec::new();
    for part in &buy.parts {
        let shelf = shelf(work, part, &held);
        let found = match displaces {
            true => deal(work, buyer, part, shelf, surcharge),
            false => take(part, shelf),
        };
        match found {
            Some(deal) => {
                let due = deal.surcharge().unwrap_or(Credits::MAX);
                surcharge = surcharge.saturating_sub(due);
                deals.push(deal);
            }
            None if planted::is(Planted::GroupInPart) && buy.is_group() => {}
            None => return Err(part.class),
        }
    }
    match (deals.is_empty(), buy.parts.first()) {
        (true, Some(part)) => Err(part.class),
        _ => Ok(deals),
    }
}

/// Steps 2 and 3; `None` if there are not enough units.
fn deal(
    work: &Work<'_>,
    buyer: &AccountId,
    part: &BuyPart,
    mut shelf: Shelf,
    surcharge: Credits,
) -> Option<Deal> {
    let mut free: u32 = shelf.values().sum();
    if free >= part.units {
        return take(part, shelf);
    }
    let (mut victims, mut evicted) = (Vec::new(), Vec::new());
    let runners = runners(work, part, &shelf);
    let all = free + runners.iter().map(|r| r.holds).sum::<u32>();
    if all < part.units {
        evicted = evict::choose(work, buyer, part, surcharge, &shelf, part.units - all)?;
        for lost in evicted.iter().map(|e| &e.losses) {
            vacate(&mut shelf, lost);
        }
        free = shelf.values().sum();
    }
    let (losses, displaced_value) = displace(work, part, &runners, free)?;
    for (lease, units) in losses {
        let victim = victim(work, buyer, &lease, units, &shelf);
        vacate(&mut shelf, &victim.losses);
        victims.push(victim);
    }
    Some(Deal {
        victims,
        evicted,
        displaced_value,
        ..take(part, shelf)?
    })
}

/// Takes the cheapest units of a shelf; `None` if there are not enough.
fn take(part: &BuyPart, shelf: Shelf) -> Option<Deal> {
    let mut missing = part.units;
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
        class: part.class,
        taken,
        victims: Vec::new(),
        displaced_value: Credits::ZERO,
        evicted: Vec::new(),
    })
}

/// Puts units that somebody loses on the shelf.
fn vacate(shelf: &mut Shelf, losses: &BTreeMap<OfferId, u32>) {
    for (key, room) in shelf {
        *room += losses.get(&key.1).copied().unwrap_or(0);
    }
}

/// Eligible offers with their free units, also those with none.
fn shelf(work: &Work<'_>, part: &BuyPart, held: &BTreeMap<OfferId, Held>) -> Shelf {
    let mut shelf = Shelf::new();
    for (id, offer) in market::offers(work, &part.class) {
        let named = part.offers.is_empty() || part.offers.binary_search(&id).is_ok();
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

fn runners(work: &Work<'_>, part: &BuyPart, shelf: &Shelf) -> Vec<Runner> {
    let eligible = |offer: &OfferId| shelf.keys().any(|(_, id)| id == offer);
    let mut runners = Vec::new();
    for (id, lease) in work.tables.leases.iter() {
        let order = work.tables.orders.get(&lease.order);
        let Some((round, bid)) = order.and_then(|o| Some((o.round, o.bid()?))) else {
            continue;
        };
        let on_eligible =
            lease.class == part.class && lease.shares.iter().all(|s| eligible(&s.offer));
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
    part: &BuyPart,
    runners: &[Runner],
    free: u32,
) -> Option<(Vec<(LeaseId, u32)>, Credits)> {
    let units = free + runners.iter().map(|r| r.holds).sum::<u32>();
    let outcome = ausubel::clear(&ausubel::Input {
        rule: work.constitution.policy.auction.rule,
        supply: units.checked_sub(part.units)?,
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
