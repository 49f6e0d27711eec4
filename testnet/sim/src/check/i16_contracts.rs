//! I16 for contracts: locks and stakes, each job's pay and penalty, and the settlement follow from
//! the proposal and from both sides' entries. They are worked out here a second time and more
//! plainly.
//!
//! 1. A proposal locks `floor(jobs * value * f(1))`, a signature stakes `jobs * penalty`.
//! 2. A job is decided once, after the slots from its request to the block. Done, it pays by the
//!    time it took; it was done by its client's word, or as many whole slots have passed as it
//!    needs in which a lease served it. Failed, its time was over, and it pays nothing and owes its
//!    penalty.
//! 3. A contract is settled when all requested jobs are decided and no more can come. It pays the
//!    sum of the jobs' payments times f(done / requested), and all penalties; the rest of both goes
//!    back, and nothing is left.
//! 4. A proposal that lapses gives everything back; it is withdrawn exactly if its client said so.

use super::{Check, Fact, Sight};
use crate::world::World;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::lease::LeaseEvent;
use gridbay_protocol::order::{ContractEntry, ContractTerms, JobTerms, order_of};
use gridbay_protocol::payment::{Posting, Purse, Reason};
use gridbay_protocol::record::contract::{ContractEvent, JobRecord, Settlement};
use std::collections::{BTreeMap, BTreeSet};

/// One with 32 bits behind the point.
const ONE: u128 = 1 << 32;

/// A requested job.
#[derive(Clone, Debug)]
struct Job {
    number: u32,
    arrival: u64,
    /// Slots that may count for it.
    slots: u64,
}

/// A live contract.
#[derive(Clone, Debug)]
struct Live {
    client: AccountId,
    terms: ContractTerms,
    signed: bool,
    closed: bool,
    requested: u32,
    sums: Sums,
    open: BTreeMap<OrderId, Job>,
    escrow: i128,
    bond: i128,
    /// The money that went to its parties when it ended: to the provider, and to the client for
    /// penalties.
    paid: u128,
    damages: u128,
}

/// The sums over the jobs that are decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    completed: u32,
    earned: u128,
    owed: u128,
}

impl Sums {
    pub(super) fn add(&mut self, job: &JobRecord) {
        self.completed += u32::from(job.done);
        self.earned += u128::from(job.pays.micros());
        self.owed += u128::from(job.owes.micros());
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Contracts {
    live: BTreeMap<OrderId, Live>,
    /// By serving order: contract, job, slot in which the provider said so.
    serving: BTreeMap<OrderId, (OrderId, OrderId, u64)>,
    /// By order: first slot in which its lease runs from the beginning.
    leases: BTreeMap<OrderId, u64>,
    /// Jobs that clients said to be complete, and contracts that they closed, in this block.
    said: BTreeSet<OrderId>,
}

/// The square root of a fraction of [`ONE`], by bisection.
fn root(x: u128) -> u128 {
    let (mut low, mut high) = (0_u128, 1 << 48);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if middle * middle <= x << 32 {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// `alpha * (done / all)^beta` with 32 bits behind the point: whole powers one by one, then the
/// roots for the sixteenths.
fn aggregate(terms: &ContractTerms, done: u32, all: u32) -> u128 {
    let share = (u128::from(done) << 32) / u128::from(all.max(1));
    let mut power = ONE;
    for _ in 0..terms.beta16 / 16 {
        power = power * share / ONE;
    }
    let mut part = share;
    for bit in [8, 4, 2, 1] {
        part = root(part);
        if terms.beta16 % 16 / bit % 2 == 1 {
            power = power * part / ONE;
        }
    }
    (u128::from(terms.alpha_ppm) << 32) / 1_000_000 * power / ONE
}

/// The worth of a job that ends after so many slots: its value, less the part that the decay has
/// taken.
fn worth(job: &JobTerms, after: u64) -> i128 {
    let late = after.saturating_sub(job.hold.into());
    let value = i128::from(job.value.micros());
    value - value * i128::from(late) / i128::from(job.decay)
}

/// The last slot after the request's in which it may end.
fn patience(job: &JobTerms) -> u64 {
    let penalty = i128::from(job.penalty.micros());
    let mut after = u64::from(job.hold);
    while worth(job, after + 1) > -penalty {
        after += 1;
    }
    after
}

/// Step 2 for the money of a job.
pub(super) fn is_priced(terms: &JobTerms, record: &JobRecord) -> Result<(), String> {
    let worth = match record.done {
        true => worth(terms, record.after),
        false => -i128::from(terms.penalty.micros()),
    };
    let (pays, owes) = (worth.max(0) as u128, (-worth).max(0) as u128);
    if (pays, owes) != (record.pays.micros().into(), record.owes.micros().into()) {
        return Err(format!("{pays} is paid and {owes} owed, not {record:?}"));
    }
    Ok(())
}

impl Contracts {
    fn entries(&mut self, entries: &[SignedEntry], slot: u64) {
        self.said.clear();
        for signed in entries {
            let EntryBody::Contract(word) = &signed.entry.body else {
                continue;
            };
            match word {
                ContractEntry::Propose(terms) => {
                    let live = Live {
                        client: signed.entry.account,
                        terms: (**terms).clone(),
                        signed: false,
                        closed: false,
                        requested: 0,
                        sums: Sums::default(),
                        open: BTreeMap::new(),
                        escrow: 0,
                        bond: 0,
                        paid: 0,
                        damages: 0,
                    };
                    self.live.insert(order_of(&signed.id()), live);
                }
                ContractEntry::Request { contract, .. } => {
                    if let Some(live) = self.live.get_mut(contract) {
                        let job = Job {
                            number: live.requested,
                            arrival: slot,
                            slots: 0,
                        };
                        live.requested += 1;
                        live.open.insert(order_of(&signed.id()), job);
                    }
                }
                ContractEntry::Serve {
                    contract,
                    job,
                    order,
                } => {
                    self.serving.insert(*order, (*contract, *job, slot));
                }
                ContractEntry::Complete { job, .. } => drop(self.said.insert(*job)),
                ContractEntry::Close { contract } => {
                    self.said.insert(*contract);
                    if let Some(live) = self.live.get_mut(contract) {
                        live.closed = true;
                    }
                }
                ContractEntry::Sign { .. } => {}
            }
        }
    }
    fn lease(&mut self, event: &LeaseEvent, next: u64, boundary: bool) {
        match event {
            // A lease that begins inside a slot has the next one as its first whole one.
            LeaseEvent::Started(terms) => {
                let first = if boundary { next } else { next + 1 };
                self.leases.insert(terms.order, first);
            }
            LeaseEvent::Renewed(_) | LeaseEvent::Disputed { .. } => {}
            LeaseEvent::Ended { order, .. } => drop(self.leases.remove(order)),
        }
    }
    /// At the end of a slot: notes the slots that may count for the jobs served in it.
    fn count(&mut self, slot: u64) {
        for (order, (contract, job, since)) in &self.serving {
            let whole = self.leases.get(order).is_some_and(|first| *first <= slot);
            let job = self
                .live
                .get_mut(contract)
                .and_then(|c| c.open.get_mut(job));
            if let Some(job) = job.filter(|_| whole && *since < slot) {
                job.slots += 1;
            }
        }
    }
    fn post(&mut self, posting: &Posting) {
        let amount = i128::from(posting.amount.micros());
        for (purse, sign) in [(&posting.from, -1), (&posting.to, 1)] {
            match purse {
                Purse::Escrow(id) => {
                    if let Some(live) = self.live.get_mut(id) {
                        live.escrow += sign * amount;
                    }
                }
                Purse::Bond(id) => {
                    if let Some(live) = self.live.get_mut(id) {
                        live.bond += sign * amount;
                    }
                }
                Purse::Account(_) | Purse::Class(_) | Purse::Bank | Purse::Retained(_) => {}
            }
        }
        let (Purse::Escrow(id) | Purse::Bond(id)) = posting.from else {
            return;
        };
        let Some(live) = self.live.get_mut(&id) else {
            return;
        };
        let (provider, client) = (live.terms.provider, live.client);
        let amount = u128::from(posting.amount.micros());
        match posting.reason {
            Reason::Earning if posting.to == Purse::Account(provider) => live.paid += amount,
            Reason::Damages if posting.to == Purse::Account(client) => live.damages += amount,
            _ => {}
        }
    }
    fn event(
        &mut self,
        event: &ContractEvent,
        height: u64,
        calendar: &Calendar,
    ) -> Result<(), String> {
        let (slot, next) = (calendar.slot(height), calendar.slot(height + 1));
        match event {
            ContractEvent::Signed { contract, bond, .. } => {
                let live = self.live.get_mut(contract);
                let live = live.ok_or(format!("{contract} is signed and was not proposed"))?;
                live.signed = true;
                let stake =
                    i128::from(live.terms.job.penalty.micros()) * i128::from(live.terms.jobs);
                if live.bond != stake || i128::from(bond.micros()) != stake {
                    return Err(format!(
                        "{} is the stake, not {stake}: {event:?}",
                        live.bond
                    ));
                }
                Ok(())
            }
            ContractEvent::Decided(job) => self.decided(job, slot, next),
            ContractEvent::Settled(settled) => {
                let live = self.live.remove(&settled.contract);
                let live = live.ok_or(format!("{settled:?} of nothing"))?;
                settlement(&live, settled, next).map_err(|wrong| format!("{wrong}: {live:?}"))
            }
            ContractEvent::Lapsed {
                contract,
                withdrawn,
            } => {
                let live = self.live.remove(contract);
                let live = live.ok_or(format!("{contract} lapses and was not proposed"))?;
                let right = !live.signed && live.escrow == 0 && live.bond == 0 && live.paid == 0;
                if !right || *withdrawn != self.said.contains(contract) {
                    return Err(format!("{event:?}: {live:?}"));
                }
                Ok(())
            }
        }
    }
    /// Step 2.
    fn decided(&mut self, record: &JobRecord, slot: u64, next: u64) -> Result<(), String> {
        let live = self.live.get_mut(&record.contract);
        let live = live.ok_or(format!("{record:?} of nothing"))?;
        let job = live.open.remove(&record.job);
        let job = job.ok_or(format!("{record:?} is not open"))?;
        let terms = &live.terms.job;
        let last = patience(terms);
        let after = match record.done {
            true => slot - job.arrival,
            false => last + 1,
        };
        let in_time = match record.done {
            true => {
                let ran = job.slots >= u64::from(terms.slots);
                record.after <= last && (ran || self.said.contains(&record.job))
            }
            false => next > job.arrival + last,
        };
        let said = (record.number, record.arrival, record.after);
        if said != (job.number, job.arrival, after) || !in_time {
            return Err(format!("{record:?} of {job:?} in slot {slot}"));
        }
        is_priced(terms, record)?;
        live.sums.add(record);
        Ok(())
    }
    fn block(&mut self, fact: &Fact, calendar: &Calendar) -> Result<(), String> {
        let (height, slot) = (fact.height, calendar.slot(fact.height));
        let (next, boundary) = (calendar.slot(height + 1), calendar.closes_slot(height));
        self.entries(&fact.decided.block.entries, slot);
        if boundary {
            self.count(slot);
        }
        // Words are about money that is posted before them.
        for effect in &fact.effects {
            match effect {
                Effect::Posting(posting) => {
                    self.post(posting);
                    self.locked(posting)?;
                }
                Effect::Contract(event) => self.event(event, height, calendar)?,
                Effect::Lease(event) => self.lease(event, next, boundary),
                Effect::Order { order, .. } => drop(self.serving.remove(order)),
                _ => {}
            }
        }
        Ok(())
    }
    /// Step 1 for a proposal.
    fn locked(&self, posting: &Posting) -> Result<(), String> {
        let (Purse::Escrow(id), Reason::Lock) = (posting.to, posting.reason) else {
            return Ok(());
        };
        let Some(live) = self.live.get(&id) else {
            return Ok(());
        };
        let all = u128::from(live.terms.job.value.micros()) * u128::from(live.terms.jobs);
        let lock = all * aggregate(&live.terms, 1, 1) / ONE;
        if live.signed || u128::from(posting.amount.micros()) != lock {
            return Err(format!("{lock} are locked for {id}, not {posting:?}"));
        }
        Ok(())
    }
}

/// Step 3.
fn settlement(live: &Live, settled: &Settlement, next: u64) -> Result<(), String> {
    let terms = &live.terms;
    let no_more = live.closed || live.requested == terms.jobs || next > terms.last;
    if !live.signed || !no_more || !live.open.is_empty() {
        return Err(format!("settled too early: {settled:?}"));
    }
    if settled.client != live.client {
        return Err(format!("{} is the client, not {settled:?}", live.client));
    }
    follows(terms, live.requested, &live.sums, settled)?;
    let (pays, owed) = (u128::from(settled.pays.micros()), live.sums.owed);
    let posted = (live.paid, live.damages, live.escrow, live.bond);
    if posted != (pays, owed, 0, 0) {
        return Err(format!(
            "{pays} and {owed} were due: {posted:?} posted or left"
        ));
    }
    Ok(())
}

/// Step 3 for the record: it is on these jobs, under these terms, and pays what follows.
pub(super) fn follows(
    terms: &ContractTerms,
    requested: u32,
    sums: &Sums,
    settled: &Settlement,
) -> Result<(), String> {
    let pays = match requested {
        0 => 0,
        all => sums.earned * aggregate(terms, sums.completed, all) / ONE,
    };
    let counts = (settled.requested, settled.completed) == (requested, sums.completed);
    let shape = (settled.alpha_ppm, settled.beta16) == (terms.alpha_ppm, terms.beta16);
    let [earned, paid, owed] = [settled.earned, settled.pays, settled.owed];
    let said = [earned, paid, owed].map(|amount| u128::from(amount.micros()));
    if !counts
        || !shape
        || settled.provider != terms.provider
        || said != [sums.earned, pays, sums.owed]
    {
        return Err(format!("{pays} is paid, not {settled:?}"));
    }
    Ok(())
}

impl Check for Contracts {
    fn id(&self) -> &'static str {
        "I16"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        match sight {
            Sight::Block(fact) => self.block(fact, &world.genesis.policy.calendar),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
