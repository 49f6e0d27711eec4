//! The agent's entries about the jobs of an order under a contract.
//!
//! Every task is a job of one unit. While the contract stands, after every block:
//!
//! 1. tasks whose job the ledger has are noted, by the hash of their work, which each has of its
//!    own;
//! 2. tasks whose job the ledger has decided, though they did not end, are given up: timed out, or
//!    out of slots;
//! 3. jobs are requested, some at a time, in the window of the contract;
//! 4. the job of a task that ended is declared complete;
//! 5. when the order is over for this node, the contract is closed.
//!
//! Entries of 3 to 5 are signed again in every block until they show, but valid until the next
//! multiple of [`EPOCH`] heights: within an epoch they are the same entries, and after it the
//! earlier ones can take effect no more. So the agent need not remember them.

use super::order::OrderAgent;
use super::places::places_of;
use super::record::Finish;
use super::run::Place;
use crate::buy::End;
use crate::signer::Signer;
use gridbay_ledger::{Contract, State};
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{Hash32, OrderId};
use gridbay_protocol::job::JobExit;
use gridbay_protocol::order::ContractEntry;
use gridbay_protocol::record::contract::ContractEvent;
use std::collections::BTreeMap;

/// Heights for which equal words are the same entry.
const EPOCH: u64 = 40;
/// Jobs whose requests are on their way at once.
const REQUESTS: usize = 32;

impl OrderAgent {
    /// Notes an event of its contract.
    pub(super) fn note_contract(&mut self, event: &ContractEvent, height: u64) {
        let end = match event {
            ContractEvent::Signed { .. } => {
                self.record.milestones.opened = height;
                self.dirty = true;
                return;
            }
            ContractEvent::Decided(_) => return,
            ContractEvent::Settled(_) => {
                self.give_up();
                End::Settled
            }
            ContractEvent::Lapsed { .. } => End::NotSigned,
        };
        self.last_end = Some(end);
    }

    /// The tasks whose jobs the ledger has, and these jobs.
    fn live(&self, state: &State, id: &OrderId) -> BTreeMap<u32, OrderId> {
        let jobs = state.contract_jobs(id);
        let task = |(job, found): (&OrderId, &gridbay_ledger::ContractJob)| {
            Some((*self.works.get(&found.work)?, *job))
        };
        jobs.filter_map(task).collect()
    }

    /// See the module.
    pub(super) fn under_contract(
        &mut self,
        state: &State,
        signer: &Signer<'_>,
    ) -> Vec<SignedEntry> {
        let Some((id, contract)) = self.id.and_then(|id| Some((id, state.contract(&id)?))) else {
            return Vec::new();
        };
        self.know_works();
        let live = self.live(state, &id);
        if contract.progress.is_some() {
            self.note_jobs(&live);
        }
        let mut words = self.completions(&id, &live);
        if self.is_over() {
            words.extend(closing(&id, contract));
        } else {
            words.extend(self.requests(&id, contract, state));
        }
        let valid_until = (state.height() / EPOCH + 1) * EPOCH;
        let sign = |word| signer.sign(state, EntryBody::Contract(word), valid_until);
        words.into_iter().map(sign).collect()
    }

    /// The contract is settled: tasks whose job failed with it end here.
    fn give_up(&mut self) {
        for (task, record) in (0u32..).zip(&mut self.tasks.records) {
            let open = record.requested && record.done.is_none();
            if open && !self.tasks.runs.contains_key(&task) {
                record.done = Some(JobExit::Stopped);
            }
        }
        if self.tasks.all_done() {
            self.set_finish(Finish::Done);
        }
    }

    fn know_works(&mut self) {
        if self.works.is_empty() {
            let order = &self.record.order;
            let work = |task| (order.spec.work(&order.task_salt(task)), task);
            self.works = (0..order.tasks).map(work).collect();
        }
    }

    /// Steps 1 and 2.
    fn note_jobs(&mut self, live: &BTreeMap<u32, OrderId>) {
        for (task, record) in (0u32..).zip(&mut self.tasks.records) {
            let is_live = live.contains_key(&task);
            let given_up = record.requested && !is_live && record.done.is_none();
            if is_live && !record.requested {
                record.requested = true;
                self.dirty = true;
            } else if given_up && !self.tasks.runs.contains_key(&task) {
                record.done = Some(JobExit::Stopped);
                self.dirty = true;
            }
        }
        if self.tasks.all_done() {
            self.set_finish(Finish::Done);
        }
    }

    /// Step 3.
    fn requests(&self, id: &OrderId, contract: &Contract, state: &State) -> Vec<ContractEntry> {
        let terms = &contract.terms;
        let slot = state.calendar().slot(state.height() + 1);
        if contract.left() == 0 || !(terms.first..=terms.last).contains(&slot) {
            return Vec::new();
        }
        let works: BTreeMap<u32, Hash32> = self.works.iter().map(|(w, t)| (*t, *w)).collect();
        let waiting = (0u32..).zip(&self.tasks.records);
        let waiting = waiting.filter(|(_, record)| !record.requested && record.done.is_none());
        let request = |(task, _)| {
            let work = *works.get(&task)?;
            let contract = *id;
            Some(ContractEntry::Request { contract, work })
        };
        waiting.filter_map(request).take(REQUESTS).collect()
    }

    /// Step 4. A task that the market or a seller stopped has not ended.
    fn completions(&self, id: &OrderId, live: &BTreeMap<u32, OrderId>) -> Vec<ContractEntry> {
        let ended = |task: &u32| {
            let record = self.tasks.records.get(*task as usize);
            record.and_then(|r| r.done).is_some_and(|exit| {
                matches!(
                    exit,
                    JobExit::Code(_) | JobExit::Signal(_) | JobExit::TimeLimit | JobExit::DiskLimit
                )
            })
        };
        let ended = live.iter().filter(|(task, _)| ended(task));
        let word = |(_, job): (&u32, &OrderId)| ContractEntry::Complete {
            contract: *id,
            job: *job,
        };
        ended.map(word).take(REQUESTS).collect()
    }

    /// A place for each task whose job an order of the provider serves.
    pub(super) fn places_under_contract(&self, state: &State) -> Vec<Place> {
        let Some(id) = self.id else {
            return Vec::new();
        };
        let place = |(task, job): (u32, OrderId)| {
            let order = state.contract_job(&id, &job)?.order?;
            let lease = state.order(&order)?.lease?;
            Some(places_of(state, &lease, Some(task)))
        };
        let places = self.live(state, &id).into_iter().filter_map(place);
        places.flatten().collect()
    }
}

/// Step 5.
fn closing(id: &OrderId, contract: &Contract) -> Option<ContractEntry> {
    let open = contract.progress.is_none() || contract.left() > 0;
    open.then_some(ContractEntry::Close { contract: *id })
}
