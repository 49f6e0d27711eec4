//! Evicting buys for a surcharge, where the policy has one (CloudBay, III.A, footnote 1; off by
//! default).
//!
//! 1. A buy that offers a surcharge may evict others of its class if all bids giving way would not
//!    be enough: buys of other accounts that lie wholly on units eligible for it. Reservations and
//!    jobs by deadlines are never evicted, nor is a buy of several classes, which lies wholly on
//!    the units of none.
//! 2. A running buy's remainder is its unused prepayment: the unused part of its running slot, and
//!    its price for each full slot to come. Those with the least remainder go first, ties by lease,
//!    until there are enough units.
//! 3. The owner gets all of the remainder back, and from the evicting buy the policy's part of it
//!    on top, rounded up; nothing within one sponsor. If that is more than the surcharge offered,
//!    nobody is evicted.

use super::stock::Lots;
use crate::record::Lease;
use crate::tenancy::{self, Cost};
use crate::view::Floor;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::LeaseEnd;
use gridbay_protocol::order::BuyPart;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::record::buy::Eviction;
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// A buy to evict.
pub(super) struct Evicted {
    pub(super) terms: Eviction,
    pub(super) losses: BTreeMap<OfferId, u32>,
    account: AccountId,
}

/// Steps 1 to 3: the buys to evict for so many units of a part, in order of leases; `None` if it
/// cannot be done for the surcharge offered.
pub(super) fn choose(
    work: &Work<'_>,
    buyer: &AccountId,
    part: &BuyPart,
    offered: Credits,
    lots: &Lots,
    missing: u32,
) -> Option<Vec<Evicted>> {
    let policy = work.constitution.policy.buy;
    if !policy.evicts() || offered == Credits::ZERO {
        return None;
    }
    let eligible = |lease: &Lease| {
        lease.class == part.class
            && lease.account != *buyer
            && lease.shares.iter().all(|s| lots.has(&s.offer))
    };
    let leases = work.tables.leases.iter().filter(|(_, l)| eligible(l));
    let mut candidates: Vec<Evicted> = leases
        .filter_map(|(id, lease)| evicted(work, buyer, id, lease))
        .collect();
    candidates.sort_by_key(|c| (c.terms.remainder, c.terms.lease));
    let mut found = 0;
    let enough = candidates.iter().position(|candidate| {
        found += candidate.losses.values().sum::<u32>();
        found >= missing
    });
    candidates.truncate(enough? + 1);
    let due = Credits::sum(candidates.iter().map(|c| c.terms.surcharge))?;
    candidates.sort_by_key(|c| c.terms.lease);
    (due <= offered).then_some(candidates)
}

/// The terms of evicting a lease; `None` if it is not a buy's.
fn evicted(work: &Work<'_>, buyer: &AccountId, id: &LeaseId, lease: &Lease) -> Option<Evicted> {
    let price = work.tables.orders.get(&lease.order)?.buy()?.price();
    let losses = lease.shares.iter().map(|s| (s.offer, s.units)).collect();
    let Cost { unused, .. } = tenancy::cost(work, id, &losses);
    let slots = lease.firm_through?.saturating_sub(lease.slot);
    let remainder = price.checked_mul(slots)?.checked_add(unused)?;
    let surcharge = match work.sponsor(buyer) == work.sponsor(&lease.account) {
        true => Credits::ZERO,
        false => work.constitution.policy.buy.surcharge(remainder)?,
    };
    Some(Evicted {
        terms: Eviction {
            lease: *id,
            remainder,
            surcharge,
        },
        losses,
        account: lease.account,
    })
}

/// Evicts a buy for another one: refund, surcharge, and what lay locked for its further slots.
pub(super) fn evict(at: &mut Floor<'_, '_>, buy: &OrderId, evicted: &Evicted) {
    let lease = &evicted.terms.lease;
    tenancy::stop(at, lease, &evicted.losses);
    let (from, to) = (Purse::Escrow(*buy), Purse::Account(evicted.account));
    let amount = evicted.terms.surcharge;
    at.post(from, to, amount, Reason::Compensation, Some(*buy))
        .expect("surcharges are within what was locked for them");
    tenancy::end(at, lease, LeaseEnd::Preempted);
}
