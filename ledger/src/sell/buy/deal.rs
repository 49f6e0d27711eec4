//! One part of a buy: the units that it takes of one class.
//!
//! 1. An offer is eligible if it has a buy price, no reclaim, is not about to shrink, and is among
//!    those named if any are.
//! 2. If q eligible units are free they are taken by (buy price, offer).
//! 3. Otherwise the bids of preemptible leases that lie wholly on eligible units compete anew, each
//!    for the units it holds at whole-slot values, for q units less than are held and free
//!    (`ausubel`, the policy's rule). A bid that gets less loses the difference, cheapest units
//!    first. The value lost is the displaced value. Units are taken by (buy price, offer) among the
//!    free and the vacated. If all bids giving way would not be enough, buys may be evicted (see
//!    `evict`).
//!
//! **Parts do not meet.** They are of different classes, so no unit is eligible for two of them;
//! and a lease that gives way for a part lies wholly on units eligible for it, so none gives way
//! for two. Each part is decided as if it were alone.

use super::evict::{self, Evicted};
use super::stock::{Lots, Stocks};
use crate::record::BuyOrder;
use crate::tenancy;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, ClassId, LeaseId, OfferId, OrderId};
use gridbay_protocol::mechanism::ausubel::{self, Bidder};
use gridbay_protocol::order::{Buy, BuyPart, unit_prices};
use gridbay_protocol::record::ausubel::{BidId, ClearingOffer};
use gridbay_protocol::record::buy::{BoughtPart, asked};
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

/// The units that a part takes, before it is known whether the buy can pay.
pub(super) struct Deal {
    class: ClassId,
    pub(super) taken: Vec<ClearingOffer>,
    pub(super) victims: Vec<Victim>,
    displaced_value: Credits,
    pub(super) evicted: Vec<Evicted>,
}

impl Deal {
    /// Its class; with the units that it takes if nobody gives way for them.
    pub(super) fn sold(&self) -> (&ClassId, Option<&[ClearingOffer]>) {
        let free = self.victims.is_empty() && self.evicted.is_empty();
        (&self.class, free.then_some(&self.taken))
    }
    /// Price per slot: the larger of what is asked and what is displaced; `None` if that is no
    /// amount.
    pub(super) fn price(&self) -> Option<Credits> {
        Some(asked(&self.taken)?.max(self.displaced_value))
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
    /// The surcharges for those it evicts.
    pub(super) fn surcharge(&self) -> Option<Credits> {
        Credits::sum(self.evicted.iter().map(|e| e.terms.surcharge))
    }
}

/// Why a buy is not served.
pub(super) enum Missing {
    /// A class has too few units.
    Units(ClassId),
    /// Any units that it could take would be too dear.
    Money,
}

/// A part of which there is enough, if others give way where it is `short` of free units.
struct Choice<'b> {
    part: &'b BuyPart,
    short: bool,
}

/// The units that all parts of a buy take.
pub(super) fn deals(
    work: &Work<'_>,
    stocks: &mut Stocks,
    buyer: &AccountId,
    buy: &BuyOrder,
    displaces: bool,
) -> Result<Vec<Deal>, Missing> {
    let (is_new, buy) = (!buy.waits, &buy.buy);
    let choices = choices(work, stocks, buy, displaces)?;
    let short = choices.iter().filter(|choice| choice.short);
    let short: Vec<ClassId> = short.map(|choice| choice.part.class).collect();
    if let (Some(class), true) = (short.first(), is_new)
        && !stocks.may_search(&short)
    {
        return Err(Missing::Units(*class));
    }
    let mut surcharge = buy.surcharge;
    let mut deals = Vec::new();
    for Choice { part, short } in choices {
        let lots = stocks.of(work, &part.class).lots(part);
        let found = match short {
            true => displacing(work, buyer, part, &lots, surcharge),
            false => take(part, lots.cheapest(part.units)),
        };
        match found {
            Some(deal) => {
                let due = deal.surcharge().unwrap_or(Credits::MAX);
                surcharge = surcharge.saturating_sub(due);
                deals.push(deal);
            }
            None => return Err(Missing::Units(part.class)),
        }
    }
    match (deals.is_empty(), buy.parts.first()) {
        (true, Some(part)) => Err(Missing::Units(part.class)),
        _ => Ok(deals),
    }
}

/// Looks at what the parts cost at least, before anything is searched for.
fn choices<'b>(
    work: &Work<'_>,
    stocks: &mut Stocks,
    buy: &'b Buy,
    displaces: bool,
) -> Result<Vec<Choice<'b>>, Missing> {
    let evicts = work.constitution.policy.buy.evicts() && buy.surcharge > Credits::ZERO;
    let mut choices = Vec::new();
    let mut least: u128 = 0;
    for part in &buy.parts {
        let stock = stocks.of(work, &part.class);
        let lots = stock.lots(part);
        let short = lots.free() < u64::from(part.units);
        let cost = match (short, displaces, evicts) {
            (false, _, _) => lots.cost(part.units),
            (true, false, _) => None,
            (true, true, false) => stock.least(part, &lots),
            // The buys to evict are not known yet.
            (true, true, true) => Some(0),
        };
        match cost {
            Some(cost) => {
                least = least.saturating_add(cost);
                choices.push(Choice { part, short });
            }
            None => return Err(Missing::Units(part.class)),
        }
    }
    match least <= u128::from(buy.limit.micros()) {
        true => Ok(choices),
        false => Err(Missing::Money),
    }
}

/// Step 3; `None` if there are not enough units.
fn displacing(
    work: &Work<'_>,
    buyer: &AccountId,
    part: &BuyPart,
    lots: &Lots,
    surcharge: Credits,
) -> Option<Deal> {
    let mut shelf = lots.shelf();
    let mut free: u32 = shelf.values().sum();
    let (mut victims, mut evicted) = (Vec::new(), Vec::new());
    let runners = runners(work, part, lots);
    let all = free + runners.iter().map(|r| r.holds).sum::<u32>();
    if all < part.units {
        evicted = evict::choose(work, buyer, part, surcharge, lots, part.units - all)?;
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

/// A bid whose lease lies wholly on eligible units.
struct Runner {
    lease: LeaseId,
    holds: u32,
    value: Credits,
    bidder: Bidder<BidId>,
}

fn runners(work: &Work<'_>, part: &BuyPart, lots: &Lots) -> Vec<Runner> {
    let mut runners = Vec::new();
    for (id, lease) in work.tables.leases.iter() {
        let order = work.tables.orders.get(&lease.order);
        let Some((round, bid)) = order.and_then(|o| Some((o.round, o.bid()?))) else {
            continue;
        };
        let on_eligible =
            lease.class == part.class && lease.shares.iter().all(|s| lots.has(&s.offer));
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

/// The leases that lose units for the buy, in order of orders, and the value they lose; `None` if
/// even all of them do not suffice.
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

/// The units that a lease loses, cheapest first, and the compensation for them.
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
