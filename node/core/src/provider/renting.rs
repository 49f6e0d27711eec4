//! Renting units for jobs.
//!
//! 1. The machine of the schedule has as many processors as the provider counts on units; those
//!    that serve a job are free when it has run its slots.
//! 2. Of the open jobs that nothing serves, oldest first and at most [`PENDING`], those are
//!    admitted that are worth more done than owed: the penalty counts for the job like its bias.
//! 3. FirstProfit schedules them. For those that start now one unit is bought, for the slots that
//!    the job still needs. Its price per slot is at most the job's worth to the contract when it
//!    ends then, plus the penalty saved, over all slots and the rest of the running one, and never
//!    more than the provider's own limit.
//! 4. Only free units are bought, at other sponsors' offers than the provider's (they would prove
//!    nothing) and the client's (who could make a job fail by failing to deliver).

use super::admission::spendable;
use super::{JobKey, Provider, marker};
use crate::signer::Signer;
use gridbay_ledger::{Contract, ContractJob, State};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{AccountId, ClassId, Hash32, OfferId, OrderId};
use gridbay_protocol::limits;
use gridbay_protocol::mechanism::contract::{Job, Machine, admit_job, schedule};
use gridbay_protocol::order::{Buy, BuyPart, ContractEntry};
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// Jobs that are weighed at once.
const PENDING: usize = 256;

/// A job to care for.
pub(super) struct Care<'a> {
    key: JobKey,
    contract: &'a Contract,
    job: &'a ContractJob,
}

impl Care<'_> {
    /// Slots that it still needs.
    fn slots(&self) -> u32 {
        let all = self.contract.terms.job.slots;
        all.saturating_sub(self.job.served).max(1)
    }

    /// As the schedule sees it.
    fn task(&self) -> Option<Job<JobKey>> {
        let terms = &self.contract.terms;
        let failed = self.contract.progress.map_or(0, |p| p.failed);
        let value = terms.job.value.micros();
        let bias = terms.aggregate().bias(terms.jobs, failed, value).ok()?;
        Some(Job {
            len: self.slots().into(),
            bias,
            ..terms.job.at(self.key, self.job.arrival)
        })
    }
}

impl Provider {
    /// Open jobs of the contracts that this provider serves.
    pub(super) fn cares<'a>(&self, state: &'a State, signer: &Signer<'_>) -> Vec<Care<'a>> {
        let own = state.contracts_of(&signer.account);
        let own = own.filter(|(id, c)| {
            c.terms.provider == signer.account
                && !self.abandoned.contains(id)
                && self.terms.classes.contains(&c.terms.class)
        });
        let of = |(id, contract): (&'a OrderId, &'a Contract)| {
            state.contract_jobs(id).map(move |(job_id, job)| Care {
                key: (*id, *job_id),
                contract,
                job,
            })
        };
        own.flat_map(of).collect()
    }

    /// Says what rented orders serve, and cancels those that serve nothing any more.
    pub(super) fn tend(
        &mut self,
        state: &State,
        signer: &Signer<'_>,
        cares: &[Care<'_>],
    ) -> Vec<EntryBody> {
        let markers: BTreeMap<Hash32, &Care<'_>> =
            cares.iter().map(|c| (marker(&c.key), c)).collect();
        let mut words = Vec::new();
        let mut live = std::collections::BTreeSet::new();
        for (id, order) in state.orders_of(&signer.account) {
            let Some(work) = order.buy().map(|b| b.buy.work) else {
                continue;
            };
            live.insert(work);
            let care = markers.get(&work);
            let idle = match (&order.serves, care) {
                (Some(serving), care) => care.is_none_or(|c| c.key != serving.key()),
                (None, Some(care)) if care.job.order.is_none() => {
                    let (contract, job) = care.key;
                    let order = *id;
                    words.push(EntryBody::Contract(ContractEntry::Serve {
                        contract,
                        job,
                        order,
                    }));
                    false
                }
                (None, Some(_)) => true,
                // The owner's own purchases are none of this agent's business.
                (None, None) => self.rented.contains_key(&work),
            };
            if idle && !order.exiting {
                words.push(EntryBody::Cancel { order: *id });
            }
            if let Some(care) = care {
                self.asked.remove(&care.key);
            }
        }
        let asked = &self.asked;
        self.rented
            .retain(|work, key| live.contains(work) || asked.contains_key(key));
        words
    }

    /// The purchases to make now.
    pub(super) fn rent(
        &self,
        state: &State,
        signer: &Signer<'_>,
        cares: &[Care<'_>],
    ) -> Vec<(JobKey, Buy)> {
        let rented: std::collections::BTreeSet<Hash32> = state
            .orders_of(&signer.account)
            .filter_map(|(_, order)| order.buy().map(|b| b.buy.work))
            .collect();
        let mut free = spendable(state, signer);
        let mut buys = Vec::new();
        for class in &self.terms.classes {
            let of_class = cares.iter().filter(|c| c.contract.terms.class == *class);
            let (waiting, served): (Vec<&Care<'_>>, Vec<_>) = of_class.partition(|care| {
                care.job.order.is_none()
                    && !rented.contains(&marker(&care.key))
                    && !self.asked.contains_key(&care.key)
            });
            let mut market = Market::of(state, signer, class);
            for job in self.due(state, &waiting, &served) {
                let care = waiting.iter().find(|care| care.key == job.id);
                let found = care.and_then(|care| self.purchase(state, care, &job, &mut market));
                let Some((buy, lock)) = found.filter(|(_, lock)| *lock <= free) else {
                    continue;
                };
                free = free.saturating_sub(lock);
                buys.push((job.id, buy));
            }
        }
        buys
    }

    /// Steps 1 to 3: the jobs that start now, in the order of the schedule.
    fn due(&self, state: &State, waiting: &[&Care<'_>], served: &[&Care<'_>]) -> Vec<Job<JobKey>> {
        let now = state.calendar().slot(state.height() + 1);
        let busy = served.iter().map(|care| now + u64::from(care.slots()));
        let units = (self.terms.units as usize).saturating_sub(served.len());
        let machine = Machine {
            now,
            cost: self.terms.cost.0,
            free: busy.chain(std::iter::repeat_n(now, units)).collect(),
        };
        if units == 0 || waiting.is_empty() {
            return Vec::new();
        }
        let mut oldest: Vec<Job<JobKey>> = waiting.iter().filter_map(|care| care.task()).collect();
        oldest.sort_unstable_by_key(|job| (job.arrival, job.id));
        oldest.truncate(PENDING);
        let mut admitted: Vec<Job<JobKey>> = Vec::new();
        for job in oldest {
            let saved = i64::try_from(job.penalty).unwrap_or(i64::MAX);
            let weighed = Job {
                bias: job.bias.saturating_add(saved),
                ..job.clone()
            };
            if admit_job(&machine, &admitted, &weighed).unwrap_or(false) {
                admitted.push(job);
            }
        }
        let Ok(plan) = schedule(&machine, &admitted) else {
            return Vec::new();
        };
        let now = plan.rows.iter().filter(|row| row.start == machine.now);
        now.filter_map(|row| admitted.iter().find(|job| job.id == row.id).cloned())
            .collect()
    }

    /// A purchase for a job, and what it locks.
    fn purchase(
        &self,
        state: &State,
        care: &Care<'_>,
        job: &Job<JobKey>,
        market: &mut Market,
    ) -> Option<(Buy, Credits)> {
        let slots = care.slots();
        let after = state.calendar().slot(state.height() + 1) + u64::from(slots) - job.arrival;
        let worth = job.effective(after) + i128::from(job.penalty);
        let worth = u64::try_from(worth.max(0)).unwrap_or(u64::MAX);
        let most = (worth / (u64::from(slots) + 1)).min(self.terms.most.0);
        let limit = Credits::from_micros(most)?;
        let offers = market.take(state, &care.contract.client, limit)?;
        let buy = Buy {
            parts: vec![BuyPart {
                class: care.contract.terms.class,
                units: 1,
                offers,
            }],
            slots,
            limit,
            stands_until: 0,
            surcharge: Credits::ZERO,
            work: marker(&care.key),
        };
        let lock = limit.checked_mul(u64::from(slots) + 1)?;
        Some((buy, lock))
    }
}

/// A free offer: price, id, seller's sponsor, and its free units.
struct Stall {
    price: u64,
    offer: OfferId,
    sponsor: Option<AccountId>,
    free: u32,
}

/// Step 4: the free units of a class, cheapest first.
struct Market(Vec<Stall>);

impl Market {
    fn of(state: &State, signer: &Signer<'_>, class: &ClassId) -> Market {
        let sponsor = |account: &AccountId| state.account(account).map(|a| a.sponsor);
        let own = sponsor(&signer.account);
        let offers = state.offers().filter(|(_, o)| o.terms.class == *class);
        let stall = |(id, offer): (&OfferId, &gridbay_ledger::Offer)| {
            let price = offer.terms.buy_price.filter(|_| offer.sells_firmly())?;
            let stall = Stall {
                price: price.0,
                offer: *id,
                sponsor: sponsor(&offer.seller),
                free: state.occupancy(id).free(),
            };
            (stall.sponsor != own && stall.free > 0).then_some(stall)
        };
        let mut stalls: Vec<Stall> = offers.filter_map(stall).collect();
        stalls.sort_unstable_by_key(|stall| (stall.price, stall.offer));
        Market(stalls)
    }

    /// Offers to name for one unit at this limit, ascending; the cheapest is counted as taken.
    fn take(&mut self, state: &State, client: &AccountId, limit: Credits) -> Option<Vec<OfferId>> {
        let client = state.account(client).map(|a| a.sponsor);
        let good = |stall: &&mut Stall| {
            stall.free > 0 && stall.price <= limit.micros() && stall.sponsor != client
        };
        let mut good: Vec<&mut Stall> = self.0.iter_mut().filter(good).collect();
        good.truncate(limits::OFFERS_PER_ACCOUNT);
        good.first_mut()?.free -= 1;
        let mut offers: Vec<OfferId> = good.iter().map(|stall| stall.offer).collect();
        offers.sort_unstable();
        Some(offers)
    }
}
