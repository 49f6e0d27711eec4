//! Earnings that are held for a while, because their buyers may say that they were not served.
//!
//! 1. *Held.* What units earn for a slot goes from the class to the seller's retained purse, lease
//!    by lease: of an offer's money each lease brings `floor(money * unit-heights / unit-heights of
//!    all its leases)`; the remainder of the division is paid at once. So from its first slot on a
//!    seller has a bond with every buyer: the slots before the running one.
//! 2. *Paid.* At a boundary the seller is paid its earnings of [`window`] boundaries before. A
//!    buyer's silence delays pay by no more than that.
//! 3. *Complained of.* The buyer says of one slot that an offer did not serve its lease: of the
//!    running slot, while the lease holds acknowledged units there, or of a slot whose earnings are
//!    held. That slot is the buyer's: held earnings go back at once, up to the cost of the units
//!    (see `slot`), the rest of them to the bank; units that run are taken as not acknowledged, so
//!    their price goes back, the unused part at once and the rest at the boundary.
//! 4. *Over.* The complaint ends the matter between the two. Units that run leave the lease, as
//!    when their seller fails them (the lease ends, or a reservation goes on without them);
//!    earnings of other slots are paid, at once or at the next boundary, and cannot be complained
//!    of. A taken job by a deadline ends with the slot as one cancelled after its seller failed it.
//!    So nobody gains more than one slot of a lease by a lie, and never another's stake; but of
//!    such a job it also saves the price of the slots to come.
//! 5. *Limits.* The accounts of one sponsor complain [`COMPLAINTS_PER_SPONSOR`] times an epoch at
//!    the most, and one account [`COMPLAINTS_PER_ACCOUNT`] times: no user spends the complaints of
//!    its whole house.
//! 6. *Withdrawn.* An offer of which the accounts of two sponsors, or one sponsor's
//!    [`COMPLAINTS_TO_WITHDRAW`] times, complained in an epoch is withdrawn until its seller sets
//!    it again, and starts anew; unless it has taken jobs by deadlines, which must not suffer for
//!    others' complaints. So a liar alone withdraws `COMPLAINTS_PER_SPONSOR /
//!    COMPLAINTS_TO_WITHDRAW` offers an epoch, and needs as many leases for each.
//!
//! With a window of 0 nothing is held and nobody complains.

use crate::bank::earn;
use crate::record::{Complaints, Lease, Pot, PotOffer, Retained, Stake};
use crate::refusal::Refusal;
use crate::sell::{self, deadline};
use crate::slot::Served;
use crate::view::Till;
use crate::work::Work;
use crate::{catalogue, holdings, lease, tenancy};
use gridbay_protocol::calendar;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{AccountId, Hash32, LeaseId, OfferId};
use gridbay_protocol::lease::{LeaseEnd, LeaseEvent};
use gridbay_protocol::limits::{
    COMPLAINTS_PER_ACCOUNT, COMPLAINTS_PER_SPONSOR, COMPLAINTS_TO_WITHDRAW,
};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// A buyer's complaint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) lease: LeaseId,
    pub(crate) offer: OfferId,
    pub(crate) slot: u64,
}

/// Slots for which earnings are held.
pub(crate) fn window(work: &Work<'_>) -> u64 {
    u64::from(work.constitution.policy.dispute_slots)
}

/// Step 1 for an offer of a pot that is settled. Returns what is paid at once.
pub(crate) fn hold(
    at: &mut Till<'_, '_>,
    pot: &Pot,
    offer: &PotOffer,
    earned: Credits,
    served: &[Served],
) -> Credits {
    if window(at) == 0 {
        return earned;
    }
    let delivered = || served.iter().filter(|s| s.delivered);
    let all: u64 = delivered().map(Served::extent).sum();
    let mut held = Credits::ZERO;
    for part in delivered().filter(|s| s.extent() > 0 && !s.undisputed) {
        let amount = earned.share_floor(part.extent(), all);
        let amount = amount.expect("a part of an amount is an amount");
        if amount == Credits::ZERO {
            continue;
        }
        held = held
            .checked_add(amount)
            .expect("parts are no more than the whole");
        let key = (offer.offer, part.lease, pot.slot);
        let before = at.tables.retained.get(&key);
        let before = before.map_or_else(Default::default, |r| (r.amount, r.back));
        let plus = |sum: Credits, part| sum.checked_add(part).expect("all money is an amount");
        let retained = Retained {
            order: part.order,
            buyer: part.account,
            seller: offer.seller,
            amount: plus(before.0, amount),
            back: plus(before.1, amount.min(part.cost())),
        };
        if before.0 == Credits::ZERO {
            holdings::enter(&mut at.counts(), &retained);
        }
        at.retained().insert(key, retained);
    }
    let (from, to) = (Purse::Class(pot.class), Purse::Retained(offer.seller));
    at.post(from, to, held, Reason::Retained, None)
        .expect("the class holds what its pots hold");
    earned.saturating_sub(held)
}

/// Step 2, at a boundary, before the slot that ends is settled.
pub(crate) fn release(at: &mut Till<'_, '_>) {
    let (window, slot) = (window(at), at.calendar().slot(at.height()));
    let due = |at: u64| at.saturating_add(window) <= slot;
    let keys = at.tables.retained.iter().map(|(key, _)| *key);
    let due: Vec<(OfferId, LeaseId, u64)> = keys.filter(|(_, _, at)| due(*at)).collect();
    let mut sums: BTreeMap<AccountId, Credits> = BTreeMap::new();
    for key in &due {
        if let Some(retained) = take(at, key) {
            let sum = sums.entry(retained.seller).or_default();
            *sum = sum
                .checked_add(retained.amount)
                .expect("all money is an amount");
        }
    }
    for (seller, sum) in sums {
        earn(&mut at.money(), Purse::Retained(seller), seller, sum, None);
    }
}

/// Takes a record away whose money moves now.
fn take(at: &mut Till<'_, '_>, key: &(OfferId, LeaseId, u64)) -> Option<Retained> {
    let retained = at.retained().remove(key)?;
    holdings::leave(&mut at.counts(), &retained);
    Some(retained)
}

/// The lease, if it holds units of the offer now.
fn running<'w>(work: &'w Work<'_>, lease: &LeaseId, offer: &OfferId) -> Option<&'w Lease> {
    let lease = work.tables.leases.get(lease);
    lease.filter(|lease| lease.units_of(offer) > 0)
}

/// Whether an account may say so.
pub(crate) fn check(work: &Work<'_>, buyer: &AccountId, said: &Complaint) -> Result<(), Refusal> {
    let Complaint { lease, offer, slot } = *said;
    let runs = running(work, &lease, &offer);
    let runs =
        runs.is_some_and(|l| l.account == *buyer && l.slot == slot && l.has_delivered(&offer));
    let held = work.tables.retained.get(&(offer, lease, slot));
    let held = held.is_some_and(|retained| retained.buyer == *buyer);
    if window(work) == 0 || !(runs || held) {
        return Err(Refusal::NothingToComplain { lease, offer, slot });
    }
    let sponsor = work.sponsor(buyer);
    let limits = [
        (*buyer, count(work, buyer).own, COMPLAINTS_PER_ACCOUNT),
        (sponsor, count(work, &sponsor).house, COMPLAINTS_PER_SPONSOR),
    ];
    let spent = limits.into_iter().find(|(_, said, limit)| said >= limit);
    spent.map_or(Ok(()), |(account, _, limit)| {
        Err(Refusal::ComplaintQuota { account, limit })
    })
}

/// Complaints of an account and its house in the running epoch.
fn count(work: &Work<'_>, account: &AccountId) -> Complaints {
    let epoch = calendar::epoch(work.height());
    let known = work.tables.complaints.get(account).copied();
    let none = Complaints {
        epoch,
        ..Complaints::default()
    };
    known.filter(|known| known.epoch == epoch).unwrap_or(none)
}

/// Counts one more complaint of an account, for itself and for its sponsor.
fn add(at: &mut Till<'_, '_>, buyer: &AccountId, sponsor: &AccountId) {
    let mut own = count(at, buyer);
    own.own += 1;
    at.complaints().insert(*buyer, own);
    let mut house = count(at, sponsor);
    house.house += 1;
    at.complaints().insert(*sponsor, house);
}

/// Steps 3 to 6.
pub(crate) fn complain(at: &mut Till<'_, '_>, buyer: &AccountId, said: &Complaint) {
    let Complaint { lease, offer, slot } = *said;
    let sponsor = at.sponsor(buyer);
    add(at, buyer, &sponsor);
    let running = running(at, &lease, &offer).cloned();
    let order = match &running {
        Some(running) => running.order,
        None => {
            at.tables
                .retained
                .get(&(offer, lease, slot))
                .expect("the complaint was checked")
                .order
        }
    };
    let withdrawn = mark(at, &offer, sponsor);
    at.emit(Effect::Lease(LeaseEvent::Disputed {
        lease,
        order,
        offer,
        slot,
        withdrawn,
    }));
    settle(at, said);
    if let Some(running) = running {
        leave(at, said, &running);
    }
    close(at, said);
}

/// Held earnings of a lease at an offer: those of the slot complained of go back, the others are
/// paid.
fn settle(at: &mut Till<'_, '_>, said: &Complaint) {
    let (first, last) = (
        (said.offer, said.lease, 0),
        (said.offer, said.lease, u64::MAX),
    );
    let held = at.tables.retained.range(first..=last);
    let held: Vec<_> = held.map(|(key, _)| *key).collect();
    for key in held {
        let Some(retained) = take(at, &key) else {
            continue;
        };
        let Retained {
            order,
            buyer,
            seller,
            amount,
            back,
        } = retained;
        let from = Purse::Retained(seller);
        if key.2 == said.slot {
            let (to, rest) = (Purse::Account(buyer), amount.saturating_sub(back));
            at.post(from, to, back, Reason::Refund, Some(order))
                .expect("what is held lies ready");
            at.post(from, Purse::Bank, rest, Reason::Revenue, None)
                .expect("what is held lies ready");
            tenancy::paid(&mut at.book(), &order, |sum| sum.saturating_sub(back));
        } else {
            earn(&mut at.money(), from, seller, amount, None);
        }
    }
}

/// Units that run leave their lease.
fn leave(at: &mut Till<'_, '_>, said: &Complaint, running: &Lease) {
    lease::change(&mut at.floor(), &said.lease, |lease| {
        if lease.slot == said.slot {
            lease.delivered.retain(|offer| *offer != said.offer);
        }
    });
    if let Some(order) = at.orders().get_mut(&running.order) {
        order.exiting |= order.is_taken();
    }
    sell::lost(
        &mut at.floor(),
        &said.lease,
        &[said.offer],
        LeaseEnd::Disputed,
    );
}

/// Units of the lease that stopped in the running slot are paid when the slot is settled.
fn close(at: &mut Till<'_, '_>, said: &Complaint) {
    let of = |stake: &Stake| {
        let mut stopped = stake.parts.iter().filter(|part| part.stopped.is_some());
        stake.lease == said.lease && stopped.any(|part| part.offer == said.offer)
    };
    let pots = at.tables.pots.iter();
    let pots = pots.filter(|(_, pot)| pot.stakes.iter().any(of));
    let pots: Vec<Hash32> = pots.map(|(id, _)| *id).collect();
    for id in pots {
        let stakes = at.pots().get_mut(&id).into_iter();
        let stakes = stakes.flat_map(|pot| &mut pot.stakes);
        let parts = stakes
            .filter(|stake| stake.lease == said.lease)
            .flat_map(|stake| &mut stake.parts);
        for part in parts.filter(|part| part.offer == said.offer) {
            if let Some(stopped) = &mut part.stopped {
                stopped.undisputed = true;
            }
        }
    }
}

/// Step 6. Whether the offer is withdrawn.
fn mark(at: &mut Till<'_, '_>, id: &OfferId, sponsor: AccountId) -> bool {
    let epoch = calendar::epoch(at.height());
    let binds = deadline::binds(at, id);
    let Some(offer) = at.offers().get_mut(id) else {
        return false;
    };
    if offer.disputed_in != epoch {
        (offer.disputed_in, offer.disputed_by) = (epoch, Vec::new());
    }
    let another = offer.disputed_by.iter().any(|by| *by != sponsor);
    if offer.disputed_by.len() < COMPLAINTS_TO_WITHDRAW {
        offer.disputed_by.push(sponsor);
    }
    let enough = another || offer.disputed_by.len() >= COMPLAINTS_TO_WITHDRAW;
    let withdrawn = enough && offer.active && !binds;
    if withdrawn {
        offer.disputed_by.clear();
        catalogue::suspend(&mut at.shelf(), id);
    }
    withdrawn
}
