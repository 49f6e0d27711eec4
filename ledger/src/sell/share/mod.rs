//! Sharing the pools at a slot boundary, each by itself, in order of their offers.
//!
//! 1. Every claim on a pool that sells fills its escrow up to one slot at its rate, or ends.
//! 2. The units for sale are the pool's, less those that other firm leases hold. The record
//!    (`protocol::record::share`) is an effect, also if nobody gets a unit.
//! 3. Claims that run and got no unit end their lease as unserved and stand again; the others hold
//!    their units for the whole next slot, firmly. Each claim pays into a pot of its own, so that
//!    the price of undelivered units goes back to the claim that paid it.
//!
//! A pool that sells no more (withdrawn, suspended, or sold otherwise) serves nobody: its claims
//! stand until they time out, or the seller sets it again. The units left of a pool are sold in the
//! clearing of its class that follows.

pub(crate) mod entry;

use crate::record::{Sale, Stage};
use crate::sell::hooks::Sells;
use crate::state::State;
use crate::tenancy::{self, Grant};
use crate::view::Floor;
use crate::work::Work;
use crate::{book, firm, market};
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::ids::{AccountId, Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::{LeaseEnd, Share, lease_id};
use gridbay_protocol::record::ausubel::ClearingOffer;
use gridbay_protocol::record::share::{Sharing, SharingAward, SharingClaim};
use gridbay_protocol::units::Price;
use std::collections::{BTreeMap, BTreeSet};

/// Claims on pools.
pub(crate) struct Shares;

impl Sells for Shares {
    fn at_slot(work: &mut Work<'_>) {
        divide(&mut work.floor());
    }
}

/// See the module.
fn divide(at: &mut Floor<'_, '_>) {
    let mut pools: BTreeMap<OfferId, Vec<OrderId>> = BTreeMap::new();
    for ((offer, _), order) in at.tables.pools.iter() {
        pools.entry(*offer).or_default().push(*order);
    }
    // The leases of one pool do not concern the others.
    let held = market::held(at);
    for (offer, mut claims) in pools {
        claims.sort_unstable();
        let all = held.get(&offer).map_or(0, |held| held.firm);
        let own = claims.iter().map(|id| units(at, id)).sum();
        share(at, &offer, &claims, all.saturating_sub(own));
    }
}

impl State {
    /// How a pool would be shared in the next slot if nothing changed and every claim were funded;
    /// the random draw is still to come. `None` if the offer is no pool that sells.
    pub fn pool(&self, offer: &OfferId) -> Option<Sharing> {
        let work = Work::begin(self, self.time_ms().saturating_add(1), &[0; 32]);
        let first = (*offer, AccountId([0; 32]));
        let last = (*offer, AccountId([255; 32]));
        let claims = work.tables.pools.range(first..=last);
        let mut claims: Vec<OrderId> = claims.map(|(_, order)| *order).collect();
        claims.sort_unstable();
        let all = market::held(&work).get(offer).map_or(0, |held| held.firm);
        let own: u32 = claims.iter().map(|id| units(&work, id)).sum();
        sharing(&work, offer, &claims, all.saturating_sub(own))
    }
}

/// Units of its pool that a claim holds.
fn units(work: &Work<'_>, claim: &OrderId) -> u32 {
    let lease = running(work, claim).and_then(|id| work.tables.leases.get(&id));
    lease.map_or(0, |lease| lease.units())
}

/// Shares one pool, of which others hold so many units firmly.
fn share(at: &mut Floor<'_, '_>, pool: &OfferId, claims: &[OrderId], taken: u32) {
    let sells = at
        .tables
        .offers
        .get(pool)
        .is_some_and(|o| o.pool().is_some());
    let funded = match sells {
        true => claims.iter().copied().filter(|id| fund(at, id)).collect(),
        false => Vec::new(),
    };
    let sharing = sharing(at, pool, &funded, taken);
    let sharing = sharing.filter(|s| s.units > 0 && !s.claims.is_empty());
    let awards = sharing.map_or(Vec::new(), |mut sharing| {
        sharing.awards = sharing.divide();
        at.emit(Effect::Sharing(sharing.clone()));
        sharing.awards
    });
    let served: BTreeSet<OrderId> = awards.iter().map(|a| a.order).collect();
    for order in claims.iter().filter(|id| !served.contains(id)) {
        if let Some(lease) = running(at, order) {
            tenancy::end(at, &lease, LeaseEnd::Unserved);
        }
    }
    for award in &awards {
        serve(at, pool, award);
    }
}

fn running(work: &Work<'_>, order: &OrderId) -> Option<LeaseId> {
    work.tables.orders.get(order).and_then(|o| o.lease)
}

/// Step 1.
fn fund(at: &mut Floor<'_, '_>, order: &OrderId) -> bool {
    let funded = book::fund(&mut at.money(), order);
    match running(at, order) {
        _ if funded => {}
        Some(lease) => tenancy::end(at, &lease, LeaseEnd::Unfunded),
        None => book::end(&mut at.book(), order, OrderEnd::Unfunded),
    }
    funded
}

/// The resources to share among some claims; `None` if the offer is no pool that sells.
fn sharing(work: &Work<'_>, pool: &OfferId, claims: &[OrderId], taken: u32) -> Option<Sharing> {
    let offer = work.tables.offers.get(pool)?;
    let terms = offer.pool()?;
    let units = offer.supply().saturating_sub(taken);
    let entered: Vec<SharingClaim> = claims.iter().filter_map(|id| enter(work, id)).collect();
    Some(Sharing {
        offer: *pool,
        class: offer.terms.class,
        height: work.height(),
        slot: work.calendar().slot(work.height()) + 1,
        units,
        reserve: offer.terms.reserve,
        terms,
        draw: Hash32(work.rank(pool.as_bytes())),
        claims: entered,
        awards: Vec::new(),
    })
}

fn enter(work: &Work<'_>, id: &OrderId) -> Option<SharingClaim> {
    let order = work.tables.orders.get(id)?;
    let claim = &order.share()?.claim;
    Some(SharingClaim {
        order: *id,
        sponsor: sponsor(work, &order.account),
        rate: claim.rate,
        utility: claim.utility,
        weights: claim.weights.clone(),
        tasks: claim.tasks,
    })
}

fn sponsor(work: &Work<'_>, account: &AccountId) -> AccountId {
    let record = work.tables.accounts.get(account);
    record.map_or(*account, |a| a.sponsor)
}

fn serve(at: &mut Floor<'_, '_>, pool: &OfferId, award: &SharingAward) {
    let (order, height) = (award.order, at.height());
    if let Some(Stage::Share(share)) = at.orders().get_mut(&order).map(|o| &mut o.stage) {
        share.portion = Some(award.portion.clone());
    }
    let lease = running(at, &order).unwrap_or_else(|| lease_id(&order, height));
    let slot = at.calendar().slot(height) + 1;
    let units = award.portion.units;
    let grant = Grant {
        order,
        slot,
        shares: vec![Share {
            offer: *pool,
            units,
        }],
        paid: award.pay,
        pot: Hash32(lease.0),
        whole_slot: true,
        firm_through: Some(slot),
    };
    // The sharing has seen to the reserve, over all resources; by units alone it may be less.
    let taken = vec![ClearingOffer {
        offer: *pool,
        units,
        reserve: Price(0),
    }];
    let price = award.pay;
    let heights = at.calendar().slot_heights();
    firm::hold(at, grant, heights, &[Sale { price, taken }]);
}
