//! I16 for delivery: the payments of sellers for a slot, their times, and the changes by
//! complaints.
//!
//! 1. Earnings of sellers are held for as many slots as the policy says, and then paid to the last
//!    micro-credit: at every boundary the held purse of a seller pays the amount that it received
//!    that many boundaries before, less refunds and payments by complaints.
//! 2. Held money goes back to a buyer only in a block with that buyer's own complaint of the
//!    order's lease.
//! 3. A complaint is of a lease that the buyer had at that offer, comes once for a lease and offer,
//!    and leaves it no units of the offer; a later clearing may give it some. No sponsor has more
//!    of them in an epoch than the limit.
//! 4. An offer is withdrawn for complaints of two sponsors, or enough of one, in the epoch.
//! 5. A seller that gave no sign of life in a slot, and whose leases did not change in it, earns
//!    nothing for it.
//! 6. In a world without liars, faults and bad weather, nobody complains.
//! 7. A liar that serves nothing earns, in fair weather without faults, no more of any lease of an
//!    honest node's agent that has a complaint left than what it cost in [`unheard_slots`]: the
//!    slots that pass before the agent is sure.
//! 8. A complaint brings its buyer the slot that it is of and no other, and nothing brings back
//!    more than a slot cost, see [`refunds`].

mod refunds;

use super::{Check, Fact, Sight};
use crate::plan::Weather;
use crate::world::World;
use gridbay_core::buyer::complaint::{RESTART_MS, TRIES};
use gridbay_protocol::calendar;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::ids::{AccountId, LeaseId, OfferId, OrderId};
use gridbay_protocol::lease::LeaseEvent;
use gridbay_protocol::limits::{
    COMPLAINTS_PER_ACCOUNT, COMPLAINTS_PER_SPONSOR, COMPLAINTS_TO_WITHDRAW, INCLUSION_HEIGHTS,
};
use gridbay_protocol::offer::offer_id;
use gridbay_protocol::payment::{Posting, Purse, Reason};
use refunds::Refunds;
use std::collections::{BTreeMap, BTreeSet};

/// The lie of point 7.
const NOTHING: &str = "deliverer_of_nothing";
/// Milliseconds of one question without an answer, and of the pause behind it.
const QUESTION_MS: u64 = 4_000;

/// Slots of a lease that are paid at the most before its buyer's agent complains: its patience with
/// a seller that says nothing, one more question, the slot in which it began, and one in which the
/// complaint came too late.
pub(crate) fn unheard_slots(policy: &Policy) -> u64 {
    let patience = RESTART_MS.max(u64::from(TRIES) * QUESTION_MS) + QUESTION_MS;
    patience.div_ceil(policy.slot_ms()) + 2
}

/// A lease as effects tell of it.
#[derive(Clone, Debug)]
struct Lease {
    order: OrderId,
    buyer: AccountId,
    offers: BTreeSet<OfferId>,
    /// Prices of its slots; only the dearest count.
    paid: Vec<u64>,
    /// Whether an honest node's agent looks after it.
    agent: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Delivery {
    leases: BTreeMap<LeaseId, Lease>,
    /// Leases that are over.
    past: BTreeMap<LeaseId, Lease>,
    sellers: BTreeMap<OfferId, AccountId>,
    /// Held of each seller, by the slot that it was earned in.
    held: BTreeMap<AccountId, BTreeMap<u64, i128>>,
    disputed: BTreeSet<(LeaseId, OfferId)>,
    /// Complaints by epoch and sponsor, and by epoch and offer.
    said: BTreeMap<(u64, AccountId), u32>,
    /// The same by account.
    said_by: BTreeMap<(u64, AccountId), u32>,
    marks: BTreeMap<(u64, OfferId), Vec<AccountId>>,
    /// Sellers that were heard of in the running slot, or whose leases changed.
    heard: BTreeSet<AccountId>,
    /// Earnings of liars by leases, and those that they may have.
    earned: BTreeMap<AccountId, u64>,
    refunds: Refunds,
}

impl Delivery {
    fn entries(&mut self, entries: &[SignedEntry]) {
        for signed in entries {
            let account = signed.entry.account;
            match &signed.entry.body {
                EntryBody::SetOffer(terms) => {
                    let offer = offer_id(&account, terms.label);
                    self.sellers.insert(offer, account);
                }
                EntryBody::Heartbeat { .. } | EntryBody::Deliver { .. } => {
                    self.heard.insert(account);
                }
                _ => {}
            }
        }
    }
    fn touch(&mut self, offers: impl IntoIterator<Item = OfferId>) {
        for offer in offers {
            self.heard.extend(self.sellers.get(&offer));
        }
    }
    fn lease(&mut self, world: &World, event: &LeaseEvent, fact: &Fact) -> Result<(), String> {
        match event {
            LeaseEvent::Started(terms) | LeaseEvent::Renewed(terms) => {
                let before = self.leases.remove(&terms.lease);
                let offers: BTreeSet<OfferId> = terms.shares.iter().map(|s| s.offer).collect();
                let inside = !world.genesis.policy.calendar.closes_slot(fact.height);
                if inside {
                    let old = before.iter().flat_map(|l| l.offers.iter().copied());
                    let old: Vec<OfferId> = old.chain(offers.iter().copied()).collect();
                    self.touch(old);
                }
                let mut lease = before.unwrap_or(Lease {
                    order: terms.order,
                    buyer: terms.account,
                    offers: BTreeSet::new(),
                    paid: Vec::new(),
                    agent: has_agent(world, &terms.order),
                });
                // Units that a clearing gives a lease anew were not there when its buyer
                // complained.
                for anew in offers.difference(&lease.offers) {
                    self.disputed.remove(&(terms.lease, *anew));
                }
                lease.offers = offers;
                lease.paid.push(terms.paid.micros());
                self.leases.insert(terms.lease, lease);
            }
            LeaseEvent::Ended { lease, .. } => {
                if let Some(gone) = self.leases.remove(lease) {
                    self.touch(gone.offers.iter().copied());
                    self.past.insert(*lease, gone);
                }
            }
            LeaseEvent::Disputed { .. } => self.disputed(world, event, fact)?,
        }
        Ok(())
    }
    /// Points 3, 4 and 6.
    fn disputed(&mut self, world: &World, event: &LeaseEvent, fact: &Fact) -> Result<(), String> {
        let LeaseEvent::Disputed {
            lease,
            order,
            offer,
            slot,
            withdrawn,
        } = event
        else {
            return Ok(());
        };
        let plan = &world.plan;
        if plan.liars.is_empty() && plan.faults.is_empty() && plan.weather == Weather::FAIR {
            return Err(format!("a complaint where all are well: {event:?}"));
        }
        let known = self.leases.get(lease).or(self.past.get(lease));
        let known = known.filter(|l| l.order == *order);
        let buyer = known
            .ok_or(format!("nobody had what {event:?} is about"))?
            .buyer;
        let said = fact.decided.block.entries.iter().any(|signed| {
            let body = EntryBody::Complain {
                lease: *lease,
                offer: *offer,
                slot: *slot,
            };
            signed.entry.account == buyer && signed.entry.body == body
        });
        if !said || !self.disputed.insert((*lease, *offer)) {
            return Err(format!("{buyer} did not say, or said before: {event:?}"));
        }
        self.touch([*offer]);
        let epoch = calendar::epoch(fact.height);
        let core = world
            .core(fact.node)
            .ok_or("the node that decided is gone")?;
        let sponsor = core.state().account(&buyer).map_or(buyer, |a| a.sponsor);
        let own = self.said_by.entry((epoch, buyer)).or_default();
        let house = self.said.entry((epoch, sponsor)).or_default();
        (*own, *house) = (*own + 1, *house + 1);
        if *own > COMPLAINTS_PER_ACCOUNT || *house > COMPLAINTS_PER_SPONSOR {
            return Err(format!(
                "{own} complaints of {buyer}, {house} of sponsor {sponsor} in an epoch"
            ));
        }
        let marks = self.marks.entry((epoch, *offer)).or_default();
        marks.push(sponsor);
        let two = marks.iter().any(|by| *by != sponsor);
        if *withdrawn && !two && marks.len() < COMPLAINTS_TO_WITHDRAW {
            return Err(format!("offer {offer} is withdrawn for {marks:?}"));
        }
        Ok(())
    }
    /// Points 1 and 2.
    fn post(&mut self, posting: &Posting, slot: u64, fact: &Fact) -> Result<(), String> {
        let amount = i128::from(posting.amount.micros());
        if let Purse::Retained(seller) = posting.to {
            *self
                .held
                .entry(seller)
                .or_default()
                .entry(slot)
                .or_default() += amount;
            // Point 5.
            if !self.heard.contains(&seller) {
                return Err(format!(
                    "{seller} gave no sign of life in slot {slot}: {posting:?}"
                ));
            }
        }
        if let (Purse::Retained(_) | Purse::Class(_), Purse::Account(seller)) =
            (posting.from, posting.to)
            && posting.reason == Reason::Earning
        {
            *self.earned.entry(seller).or_default() += posting.amount.micros();
        }
        let Purse::Retained(seller) = posting.from else {
            return Ok(());
        };
        if let Purse::Account(buyer) = posting.to
            && posting.reason == Reason::Refund
        {
            let said = fact.decided.block.entries.iter().any(|signed| {
                let lease = match &signed.entry.body {
                    EntryBody::Complain { lease, .. } => lease,
                    _ => return false,
                };
                let order = self
                    .leases
                    .get(lease)
                    .or(self.past.get(lease))
                    .map(|l| l.order);
                signed.entry.account == buyer && order.is_some() && order == posting.order
            });
            if !said {
                return Err(format!("{posting:?} and no complaint"));
            }
        }
        // The oldest first: what a complaint returns or pays of a younger slot is noticed at that
        // slot's own boundary.
        let mut left = amount;
        let slots = self.held.entry(seller).or_default();
        for held in slots.values_mut() {
            let part = left.min(*held);
            (*held, left) = (*held - part, left - part);
        }
        slots.retain(|_, held| *held > 0);
        match left {
            0 => Ok(()),
            _ => Err(format!(
                "{seller} is paid what it has not earned: {posting:?}"
            )),
        }
    }
    fn block(&mut self, world: &World, fact: &Fact) -> Result<(), String> {
        let policy = &world.genesis.policy;
        let slot = policy.calendar.slot(fact.height);
        self.entries(&fact.decided.block.entries);
        for effect in &fact.effects {
            match effect {
                Effect::Lease(event) => {
                    self.refunds.lease(event);
                    self.lease(world, event, fact)?;
                }
                Effect::Posting(posting) => {
                    self.refunds.post(posting, slot)?;
                    self.post(posting, slot, fact)?;
                }
                _ => {}
            }
        }
        if let Some(core) = world.core(fact.node) {
            self.refunds.close(core.state().leases());
        }
        self.units_left(fact)?;
        if policy.calendar.closes_slot(fact.height) {
            self.heard.clear();
            let window = u64::from(policy.dispute_slots);
            for (seller, slots) in &self.held {
                if let Some((of, held)) = slots.iter().find(|(of, _)| **of + window <= slot) {
                    return Err(format!("{held} of slot {of} are still held from {seller}"));
                }
            }
        }
        Ok(())
    }
    /// Point 7: the most that a seller which served nothing may have earned.
    fn allowed(&self, world: &World, seller: &AccountId) -> u64 {
        let policy = &world.genesis.policy;
        let mut most = unheard_slots(policy);
        if world.plan.liars.len() > 1 {
            // A censor keeps a complaint out of some blocks.
            most += INCLUSION_HEIGHTS.div_ceil(policy.calendar.slot_heights());
        }
        let mut allowed = 0;
        for lease in self.leases.values().chain(self.past.values()) {
            let mut sellers = lease.offers.iter().map(|o| self.sellers.get(o));
            if sellers.all(|of| of != Some(seller)) {
                continue;
            }
            let bound = lease.agent && !self.is_spent(&lease.buyer);
            let mut paid = lease.paid.clone();
            paid.sort_unstable_by(|a, b| b.cmp(a));
            paid.truncate(if bound { most as usize } else { paid.len() });
            allowed += paid.iter().sum::<u64>();
        }
        allowed
    }
    /// Whether a buyer, or its house, has used up its complaints.
    fn is_spent(&self, buyer: &AccountId) -> bool {
        let mut own = self.said_by.iter();
        own.any(|((_, by), said)| by == buyer && *said >= COMPLAINTS_PER_ACCOUNT)
            || self.said.values().any(|n| *n >= COMPLAINTS_PER_SPONSOR)
    }
    /// Point 3: after the block no lease that was complained of has units of the offer.
    fn units_left(&self, fact: &Fact) -> Result<(), String> {
        for (lease, offer) in &self.disputed {
            let still = self
                .leases
                .get(lease)
                .is_some_and(|l| l.offers.contains(offer));
            if still {
                let height = fact.height;
                return Err(format!("lease {lease} holds offer {offer} after {height}"));
            }
        }
        Ok(())
    }
}

/// Whether an honest node's agent looks after an order.
fn has_agent(world: &World, order: &OrderId) -> bool {
    let cores = world.honest().filter_map(|n| world.core(n));
    let mut agents = cores.flat_map(|core| core.buyer().orders());
    agents.any(|(_, agent)| agent.id == Some(*order))
}

impl Check for Delivery {
    fn id(&self) -> &'static str {
        "I16"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        match sight {
            Sight::Block(fact) => self.block(world, fact),
            _ => Ok(()),
        }
    }
    /// Point 7.
    fn end(&mut self, world: &World) -> Result<(), String> {
        let plan = &world.plan;
        if !plan.faults.is_empty() || plan.weather != Weather::FAIR {
            return Ok(());
        }
        let liars = plan.liars.iter().filter(|l| l.lie == NOTHING);
        let accounts = liars.filter_map(|liar| world.core(liar.node)?.account());
        for account in accounts {
            let allowed = self.allowed(world, &account);
            let earned = self.earned.get(&account).copied().unwrap_or(0);
            if earned > allowed {
                return Err(format!("who serves nothing earned {earned} of {allowed}"));
            }
        }
        Ok(())
    }
}
