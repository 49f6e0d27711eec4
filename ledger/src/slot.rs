//! The slot boundary, before its clearing:
//!
//! 1. every pot is settled and the class purses are empty: the moment for the bank's turn (see
//!    `bank::turn`);
//! 2. leases that ran the whole slot count it if all their units were acknowledged by its end, also
//!    for the job of a contract that they serve;
//! 3. leases end that were cancelled, have used all slots of their order, or were firm through this
//!    slot (as undelivered if that is what they are). Jobs by deadlines count their work and wait
//!    for their plan (see `deadline`), claims on pools are answered anew (see `share`);
//! 4. firm leases pay for the next slot;
//! 5. running bids fill their escrow up to one slot at the bid, or end.
//!
//! **Settling a pot.** For every offer, served unit-heights `s` of those sold:
//!
//! - floor = sum over its parts of `floor(reserve * units * heights served / heights sold)`;
//! - weight = `floor((earns - reserve * units sold) * s / (units sold * heights sold))`.
//!
//! An offer gets its floor and a share of the rest by largest remainder over the weights (if all
//! are zero, over the floors; if those are zero too the rest goes to the bank). Where revenue is
//! shared by all, the bank gets it in the sellers' place. So an offer whose units all ran to the
//! end, in a pot where nothing was interrupted, gets exactly what the clearing said. The part of
//! units whose lease the seller had not acknowledged is not the seller's: `floor(offer's money *
//! units * heights / s)`. It goes back to the lease's buyer, up to what these units cost; the rest
//! to the bank. The bound is needed because leases that share a pot pay different prices for equal
//! units, and a buyer must not gain by units that were not served. The cost of units is their part,
//! in proportion, of what the lease paid and did not get back.
//!
//! **Why a pot covers its floors.** Let a lease lose units in steps 1 to n, after `s_1 <= ... <=
//! s_n` of `H` heights sold; let `c_k` be the cost of the units lost in step k and `r_k` the sum of
//! their reserves, and count the units that run to the end as a last step with `s = H`. Step k
//! leaves `ceil(c_k * s_k / H)` in the pot and adds at most `r_k * s_k / H` to the floors. The cost
//! of the units that still run after a step always covers their reserves (see `tenancy::cost`), so
//! every tail sum `(c_k - r_k) + ... + (c_n - r_n)` is at least 0. Then so is the sum of all
//! `(c_k - r_k) * s_k`: it is the sum over k of that tail times `s_k - s_(k-1)`.

use crate::bank::{earn, figures};
use crate::money::{Payout, above_floors, purse};
use crate::record::{Pot, PotOffer, Ran, Stopped};
use crate::sell::contract;
use crate::view::{Book, Floor, Till};
use crate::work::Work;
use crate::{book, firm, market, pot, retention, tenancy};
use gridbay_protocol::ids::{AccountId, Hash32, LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// Step 1.
pub(crate) fn settle_all(at: &mut Till<'_, '_>) {
    let pots: Vec<Hash32> = at.tables.pots.iter().map(|(id, _)| *id).collect();
    for id in &pots {
        if let Some(pot) = pot::take(&mut at.floor(), id) {
            settle(at, &pot);
        }
    }
    for class in &at.constitution.classes {
        let left = purse::held(at, &Purse::Class(class.key.id()));
        assert_eq!(left, Credits::ZERO, "settled pots leave nothing");
    }
}

/// Steps 2 to 5.
pub(crate) fn turn(at: &mut Till<'_, '_>) {
    for id in market::leases(at) {
        count_and_end(at, &id);
    }
    for id in market::leases(at) {
        firm::renew(&mut at.floor(), &id);
    }
    for id in market::leases(at) {
        fund(&mut at.floor(), &id);
    }
}

/// Units of one offer in one lease, as they were served.
pub(crate) struct Served {
    pub(crate) lease: LeaseId,
    pub(crate) order: OrderId,
    pub(crate) account: AccountId,
    units: u32,
    heights: u64,
    /// Its lease's payments less refunds.
    paid: Credits,
    /// Their earnings.
    worth: Credits,
    /// The earnings of all units of its lease.
    of: Credits,
    pub(crate) delivered: bool,
    /// Whether its buyer has said all about it.
    pub(crate) undisputed: bool,
}

impl Served {
    /// Unit-heights.
    pub(crate) fn extent(&self) -> u64 {
        u64::from(self.units) * self.heights
    }
    /// Their cost.
    pub(crate) fn cost(&self) -> Credits {
        let cost = self
            .paid
            .share_floor(self.worth.micros(), self.of.micros().max(1));
        cost.expect("a part of an amount is an amount")
    }
}

/// The units served of each offer, in order of stakes.
fn served(work: &Work<'_>, pot: &Pot) -> BTreeMap<OfferId, Vec<Served>> {
    let mut served: BTreeMap<OfferId, Vec<Served>> = BTreeMap::new();
    for stake in &pot.stakes {
        let lease = work.tables.leases.get(&stake.lease);
        for part in &stake.parts {
            let running = Stopped {
                served: pot.heights,
                delivered: lease.is_some_and(|l| l.has_delivered(&part.offer)),
                undisputed: false,
            };
            let end = part.stopped.unwrap_or(running);
            served.entry(part.offer).or_default().push(Served {
                lease: stake.lease,
                order: stake.order,
                account: stake.account,
                units: part.units,
                heights: end.served,
                paid: stake.left,
                worth: Credits::ZERO,
                of: Credits::ZERO,
                delivered: end.delivered,
                undisputed: end.undisputed,
            });
        }
    }
    served
}

/// Notes what units earn, as offers earn so much.
fn value(served: &mut BTreeMap<OfferId, Vec<Served>>, sold: &[PotOffer], shares: &[u64]) {
    let mut leases: BTreeMap<LeaseId, Credits> = BTreeMap::new();
    for (offer, share) in sold.iter().zip(shares) {
        let parts = served
            .get_mut(&offer.offer)
            .map_or(&mut [][..], |parts| parts);
        let all = extent(parts).max(1);
        for part in parts {
            let worth = amount(*share).share_floor(part.extent(), all);
            part.worth = worth.expect("a part of an amount is an amount");
            let sum = leases.entry(part.lease).or_default();
            *sum = sum.checked_add(part.worth).expect("all money is an amount");
        }
    }
    for part in served.values_mut().flatten() {
        part.of = leases.get(&part.lease).copied().unwrap_or_default();
    }
}

/// Unit-heights served.
fn extent(served: &[Served]) -> u64 {
    served.iter().map(Served::extent).sum()
}

fn settle(at: &mut Till<'_, '_>, pot: &Pot) {
    let mut served = served(at, pot);
    let of = |offer: &PotOffer| served.get(&offer.offer).map_or(&[][..], Vec::as_slice);
    let floors: Vec<u64> = pot.sold.iter().map(|o| floor(pot, o, of(o))).collect();
    let weights = pot.sold.iter().map(|o| weight(pot, o, extent(of(o))));
    let weights: Vec<u64> = weights.collect();
    let Payout { shares, unearned } = above_floors(pot.left.micros(), &floors, &weights);
    value(&mut served, &pot.sold, &shares);
    for (offer, share) in pot.sold.iter().zip(shares) {
        let served = served.get(&offer.offer).map_or(&[][..], Vec::as_slice);
        pay_out(at, pot, offer, amount(share), served);
    }
    let class = Purse::Class(pot.class);
    at.post(class, Purse::Bank, amount(unearned), Reason::Revenue, None)
        .expect("the class holds what its pots hold");
}

fn amount(micros: u64) -> Credits {
    Credits::from_micros(micros).expect("a part of a pot is an amount")
}

fn floor(pot: &Pot, offer: &PotOffer, served: &[Served]) -> u64 {
    let floors = served.iter().map(|s| {
        let whole = u128::from(offer.reserve) * u128::from(s.units);
        (whole * u128::from(s.heights) / u128::from(pot.heights)) as u64
    });
    floors.sum()
}

fn weight(pot: &Pot, offer: &PotOffer, extent: u64) -> u64 {
    let owed = u128::from(offer.reserve) * u128::from(offer.units);
    let excess = u128::from(offer.earns.micros()).saturating_sub(owed);
    let sold = u128::from(offer.units) * u128::from(pot.heights);
    (excess * u128::from(extent) / sold) as u64
}

/// Pays an offer's money to its seller, or to the bank where revenue is shared by all, except what
/// undelivered units would have earned and what is held for a while (see `retention`).
fn pay_out(at: &mut Till<'_, '_>, pot: &Pot, offer: &PotOffer, money: Credits, served: &[Served]) {
    let class = Purse::Class(pot.class);
    let mut left = money;
    let failed = |s: &&Served| !s.delivered && s.extent() > 0;
    for part in served.iter().filter(failed) {
        left = left.saturating_sub(part.worth);
        refund(&mut at.book(), class, part);
    }
    let delivered = served.iter().filter(|s| s.delivered);
    let delivered = delivered.map(Served::extent).sum();
    figures::sold(&mut at.earned(), offer.class, pot.way, left, delivered);
    let left = retention::hold(at, pot, offer, left, served);
    earn(&mut at.money(), class, offer.seller, left, None);
}

/// Returns the earnings of units that were not served.
fn refund(at: &mut Book<'_, '_>, class: Purse, part: &Served) {
    let back = part.worth.min(part.cost());
    let (to, rest) = (
        Purse::Account(part.account),
        part.worth.saturating_sub(back),
    );
    at.post(class, to, back, Reason::Refund, Some(part.order))
        .expect("the class holds what its pots hold");
    at.post(class, Purse::Bank, rest, Reason::Revenue, None)
        .expect("the class holds what its pots hold");
    tenancy::paid(at, &part.order, |sum| sum.saturating_sub(back));
}

/// Steps 2 and 3.
fn count_and_end(at: &mut Till<'_, '_>, id: &LeaseId) {
    let Some(lease) = at.leases().get_mut(id) else {
        return;
    };
    let delivered = lease.is_delivered();
    let counts = lease.whole_slot && delivered;
    lease.slots_run += u32::from(counts);
    let units = lease.units();
    let (slot, firm_through, order) = (lease.slot, lease.firm_through, lease.order);
    if counts {
        contract::count(&mut at.pacts(), id);
    }
    let order = at.orders().get_mut(&order);
    let order = order.expect("a lease's order is live");
    let ran = Ran {
        units,
        counts,
        firm_over: firm_through.is_some_and(|last| slot >= last),
    };
    let live = order.stage.live_mut();
    let Some(used_up) = live.and_then(|live| live.count(&ran)) else {
        return;
    };
    if used_up && !delivered {
        tenancy::end(&mut at.floor(), id, LeaseEnd::Undelivered);
    } else if used_up {
        tenancy::end(&mut at.floor(), id, LeaseEnd::Expired);
    } else if order.exiting {
        tenancy::end(&mut at.floor(), id, LeaseEnd::Exit);
    }
}

/// Step 5.
fn fund(at: &mut Floor<'_, '_>, id: &LeaseId) {
    let Some(lease) = at.tables.leases.get(id).filter(|l| !l.is_firm()) else {
        return;
    };
    let order = lease.order;
    if !book::fund(&mut at.money(), &order) {
        tenancy::end(at, id, LeaseEnd::Unfunded);
    }
}
