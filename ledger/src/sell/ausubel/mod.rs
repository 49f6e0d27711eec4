//! The clearing of a class at the close of a round (CloudBay, Alg. 1, l. 17).
//!
//! | kind | units for sale | bids | time sold |
//! |---|---|---|---|
//! | boundary | all that no firm lease holds | all that stand or run | the whole next slot |
//! | free | all that no lease holds | all that stand | what is left of the slot |
//!
//! 1. A standing bid fills its escrow up to one slot at the bid, or ends.
//! 2. A bid that competes for the first time draws its rank; ties go to the earlier round, then the
//!    smaller rank.
//! 3. Values for a part of a slot are rounded down, reserves up. The auction of many sellers clears
//!    under the policy's rule, with the sponsors of the accounts; at a boundary units that running
//!    bids hold go before others by the policy's switch cost.
//! 4. The record is an effect, also if nobody wins. Nothing happens without bids or without units,
//!    except that bids that run lose their units if there are none to sell.
//! 5. Bids that run and lost end as outbid and stand again; then winners are placed, charged and
//!    get their leases, in order of their orders. One pot holds it all until the slot is settled.

pub(crate) mod amend;

use crate::market::{self, seller};
use crate::record::{Order, Pot, PotOffer, Stake, Way};
use crate::sell::hooks::Sells;
use crate::tenancy::{self, Grant};
use crate::view::{Book, Floor};
use crate::work::Work;
use crate::{book, pot};
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::ids::{ClassId, Hash32, OfferId, OrderId};
use gridbay_protocol::lease::{LeaseEnd, Share};
use gridbay_protocol::mechanism::ausubel::sellers;
use gridbay_protocol::mechanism::placement::{self, Site, Winner};
use gridbay_protocol::order::Step;
use gridbay_protocol::policy::ausubel::AuctionPolicy;
use gridbay_protocol::record::ausubel::{
    Award, ClearingBid, ClearingKind, ClearingOffer, ClearingRecord, Sold, clearing_id,
};
use gridbay_protocol::units::{Credits, Price};
use std::collections::BTreeMap;

/// The auction.
pub(crate) struct Ausubel;

impl Sells for Ausubel {
    fn at_round(work: &mut Work<'_>) {
        for class in &work.constitution.classes {
            clear(&mut work.floor(), &class.key.id());
        }
    }
}

/// The supply of a sale: units by offer, and how much of which slot.
struct Sale {
    class: ClassId,
    kind: ClearingKind,
    slot: u64,
    heights: u64,
    policy: AuctionPolicy,
    offers: Vec<ClearingOffer>,
    held: Vec<Share>,
}

/// Clears one class at the close of a round.
fn clear(at: &mut Floor<'_, '_>, class: &ClassId) {
    let sale = sale(at, class);
    let bids = bids(&mut at.book(), &sale);
    if bids.is_empty() {
        return;
    }
    if sale.offers.is_empty() {
        evict(at, &bids, &[]);
        return;
    }
    let bids: Vec<ClearingBid> = bids
        .iter()
        .map(|id| enter(&mut at.book(), &sale, id))
        .collect();
    let record = compute(at, &sale, bids);
    at.emit(Effect::Clearing(record.clone()));
    let orders: Vec<OrderId> = record.bids.iter().map(|b| b.order).collect();
    let placed = place(at, &record);
    evict(at, &orders, &record.awards);
    award(at, &record, placed);
}

fn sale(work: &Work<'_>, class: &ClassId) -> Sale {
    let calendar = work.calendar();
    let (slot, whole) = (calendar.slot(work.height()), calendar.slot_heights());
    let (kind, slot, heights) = if work.closes_slot() {
        (ClearingKind::Boundary, slot + 1, whole)
    } else {
        let left = calendar.heights_left(work.height());
        (ClearingKind::Free, slot, left)
    };
    let policy = work.constitution.policy.auction.of(kind);
    let held = market::held(work);
    let offers = market::offers(work, class).into_iter();
    let offers = offers.filter_map(|(id, offer)| {
        let held = held.get(&id).copied().unwrap_or_default();
        let taken = match kind {
            ClearingKind::Boundary => held.firm,
            ClearingKind::Free => held.all(),
        };
        let units = offer.auctioned().saturating_sub(taken);
        let wide = u128::from(offer.terms.reserve.0) * u128::from(heights);
        // At most the reserve itself, so it fits.
        let reserve = Price(wide.div_ceil(u128::from(whole)) as u64);
        (units > 0).then_some(ClearingOffer {
            offer: id,
            units,
            reserve,
        })
    });
    let offers: Vec<ClearingOffer> = offers.collect();
    let running = offers.iter().filter_map(|entered| {
        let units = held.get(&entered.offer)?.preemptible.min(entered.units);
        let offer = entered.offer;
        (units > 0).then_some(Share { offer, units })
    });
    Sale {
        class: *class,
        kind,
        slot,
        heights,
        policy,
        held: match kind {
            ClearingKind::Boundary => running.collect(),
            // Units that somebody holds are not for sale then.
            ClearingKind::Free => Vec::new(),
        },
        offers,
    }
}

/// The orders that compete, ascending; step 1.
fn bids(at: &mut Book<'_, '_>, sale: &Sale) -> Vec<OrderId> {
    let mut bids = Vec::new();
    for id in book::of_class(at, &sale.class) {
        let order = at.tables.orders.get(&id);
        let Some(order) = order.filter(|o| o.bid().is_some()) else {
            continue;
        };
        if order.lease.is_some() {
            if sale.kind == ClearingKind::Boundary {
                bids.push(id);
            }
        } else if book::fund(&mut at.money(), &id) {
            bids.push(id);
        } else {
            book::end(at, &id, OrderEnd::Unfunded);
        }
    }
    bids
}

/// A bid as it enters the clearing; steps 2 and 3.
fn enter(at: &mut Book<'_, '_>, sale: &Sale, id: &OrderId) -> ClearingBid {
    let order = at.tables.orders.get(id);
    let order = order.expect("a competing bid is live");
    let sponsor = at.sponsor(&order.account);
    let whole = at.calendar().slot_heights();
    let round = order.round;
    let bid = order.bid().expect("only bids compete");
    let drawn = bid.rank;
    let rank = drawn.unwrap_or_else(|| Hash32(at.rank(id.as_bytes())));
    let prorated = |price: Price| {
        let wide = u128::from(price.0) * u128::from(sale.heights) / u128::from(whole);
        Price(wide as u64)
    };
    let steps = bid.bid.steps.iter().map(|step| Step {
        units: step.units,
        price: prorated(step.price),
    });
    let entered = ClearingBid {
        order: *id,
        sponsor,
        round,
        rank,
        min: bid.bid.min,
        steps: steps.collect(),
    };
    // A record that is written is hashed and stored again, so those that have a rank are only read.
    if drawn.is_none() {
        let bid = at.orders().get_mut(id).and_then(Order::bid_mut);
        bid.expect("it was read above").rank = Some(rank);
    }
    entered
}

fn compute(work: &Work<'_>, sale: &Sale, bids: Vec<ClearingBid>) -> ClearingRecord {
    let mut record = ClearingRecord {
        id: clearing_id(&sale.class, work.height()),
        class: sale.class,
        kind: sale.kind,
        height: work.height(),
        slot: sale.slot,
        heights: sale.heights,
        policy: sale.policy,
        offers: sale.offers.clone(),
        held: sale.held.clone(),
        bids,
        awards: Vec::new(),
        sold: Vec::new(),
    };
    let input = record.input();
    let outcome = sellers::clear(&input);
    let outcome = outcome.expect("the book holds legal bids and offers within the limits");
    let credits = |wide| Credits::from_wide(wide).expect("a class's money for a slot is an amount");
    let awards = outcome.awards.into_iter().map(|a| Award {
        order: a.id.1,
        units: a.units,
        pay: credits(a.pay),
    });
    record.awards = awards.collect();
    record.awards.sort_unstable_by_key(|a| a.order);
    let sold = outcome.sales.into_iter().map(|s| Sold {
        offer: s.offer,
        units: s.units,
        earns: credits(s.earned),
    });
    record.sold = sold.collect();
    let paid = Credits::sum(record.awards.iter().map(|a| a.pay));
    let earned = Credits::sum(record.sold.iter().map(|s| s.earns));
    assert_eq!(paid, earned, "a clearing pays out what was paid");
    record
}

/// The units that each winner gets, by order.
fn place(work: &Work<'_>, record: &ClearingRecord) -> BTreeMap<OrderId, Vec<Share>> {
    let site = |sold: &Sold| Site {
        offer: sold.offer,
        rank: work.rank(sold.offer.as_bytes()),
        units: sold.units,
    };
    let held = |order: &OrderId| -> BTreeMap<OfferId, u32> {
        let lease = work.tables.orders.get(order).and_then(|o| o.lease);
        let lease = lease.and_then(|id| work.tables.leases.get(&id));
        let shares = lease.map_or(&[][..], |l| l.shares.as_slice());
        shares.iter().map(|s| (s.offer, s.units)).collect()
    };
    let winner = |award: &Award| Winner {
        id: award.order,
        rank: work.rank(award.order.as_bytes()),
        units: award.units,
        held: held(&award.order),
    };
    let sites: Vec<_> = record.sold.iter().map(site).collect();
    let winners: Vec<_> = record.awards.iter().map(winner).collect();
    let placed = placement::place(&sites, &winners);
    let placed = placed.expect("as many units are won as sold");
    let shares = |units: BTreeMap<OfferId, u32>| {
        let shares = units.into_iter();
        shares
            .map(|(offer, units)| Share { offer, units })
            .collect()
    };
    placed
        .into_iter()
        .map(|p| (p.id, shares(p.units)))
        .collect()
}

/// Ends the leases of bids that won nothing.
fn evict(at: &mut Floor<'_, '_>, bids: &[OrderId], awards: &[Award]) {
    for order in bids {
        let lease = at.tables.orders.get(order).and_then(|o| o.lease);
        let won = awards.binary_search_by_key(order, |a| a.order).is_ok();
        if let (Some(lease), false) = (lease, won) {
            tenancy::end(at, &lease, LeaseEnd::Outbid);
        }
    }
}

fn award(
    at: &mut Floor<'_, '_>,
    record: &ClearingRecord,
    mut placed: BTreeMap<OrderId, Vec<Share>>,
) {
    if record.awards.is_empty() {
        return;
    }
    let key = Hash32(record.id.0);
    let stakes: Vec<Stake> = record
        .awards
        .iter()
        .map(|award| {
            let shares = placed.remove(&award.order);
            let grant = Grant {
                order: award.order,
                slot: record.slot,
                shares: shares.expect("every winner is placed"),
                paid: award.pay,
                pot: key,
                whole_slot: record.kind == ClearingKind::Boundary,
                firm_through: None,
            };
            tenancy::grant(at, grant)
        })
        .collect();
    let reserve = |offer: &OfferId| {
        let entered = record.offers.binary_search_by_key(offer, |o| o.offer);
        entered.map_or(0, |i| record.offers[i].reserve.0)
    };
    let sold = record.sold.iter().map(|s| PotOffer {
        offer: s.offer,
        class: record.class,
        seller: seller(at, &s.offer),
        units: s.units,
        reserve: reserve(&s.offer),
        earns: s.earns,
    });
    let pot = Pot {
        class: record.class,
        way: Way::Bid,
        slot: record.slot,
        heights: record.heights,
        left: Credits::sum(record.awards.iter().map(|a| a.pay))
            .expect("a class's money for a slot is an amount"),
        sold: sold.collect(),
        stakes,
    };
    pot::enter(at, key, pot);
}
