//! Progress that survives: a task's checkpoint is fetched while it runs and when it was stopped,
//! and its next attempt starts with it.
//!
//! 1. A run that keeps its progress is asked for it every so often, as its job declares. Only what
//!    has come as a whole, and was found in order, counts.
//! 2. A run that lost its unit, or was stopped, is *leaving*: its task is not placed anew before
//!    the run has used its grace and what it kept has come, or cannot come any more.
//! 3. So does a run that was under way before this node was restarted, and whose unit is gone when
//!    it is back: its seller knows its last state for some time.
//! 4. Of a run whose seller says nothing more, others may have a copy (`copies`).
//! 5. The last checkpoint of a task is forgotten when a newer one is recorded on disk, or the task
//!    needs none any more.

use super::Buyer;
use super::attempts::{AttemptEnd, Kept};
use super::copies::{Seek, Sellers};
use super::leaving::{ARRIVE_MS, LEAVE_MS, Leaving};
use super::order::OrderAgent;
use super::record::TaskRecord;
use super::run::{Place, Run};
use super::tasks::Tasks;
use crate::agent::{Phase, RunId};
use crate::buy::End;
use crate::effect::Effect;
use crate::input::Now;
use crate::key::OrderKey;
use gridbay_ledger::State;
use gridbay_protocol::checkpoint::{Checkpoint, Snapshot};
use gridbay_protocol::ids::OfferId;

impl Tasks {
    /// The tasks as they were recorded before a restart. Their last runs may still be alive at
    /// their sellers: they are asked for again, as the same ones. Those that were seen running and
    /// `keeps` their progress count already, so that it is asked for if their units are gone; and
    /// of an `open` order those that ended, whose output is still to come.
    pub(super) fn recall(records: Vec<TaskRecord>, keeps: bool, open: bool) -> Tasks {
        let mut tasks = Tasks::new(records);
        for (task, record) in (0..).zip(&mut tasks.records) {
            record.ended = record.ended.filter(|_| open);
            let counts = keeps || record.ended.is_some();
            let known = record.history.under_way().filter(|_| counts);
            let known = known.filter(|a| a.number.checked_add(1) == Some(record.attempt));
            let place = known.and_then(|attempt| {
                Some(Place {
                    lease: attempt.lease?,
                    task: Some(task),
                    offer: attempt.offer,
                    node: attempt.node,
                    units: 1,
                })
            });
            let attempt = record.attempt.saturating_sub(1);
            match place {
                Some(place) => {
                    let lease = place.lease;
                    let job = RunId {
                        lease,
                        task,
                        attempt,
                    };
                    let mut run = Run::new(job, &place);
                    run.accepted = record.ended.is_some();
                    tasks.runs.insert(task, run);
                }
                None => (record.attempt, record.ended) = (attempt, None),
            }
        }
        tasks
    }

    /// Whether an attempt was seen running, be it before a restart.
    pub(super) fn was_under_way(&self, job: &RunId) -> bool {
        let record = self.records.get(job.task as usize);
        let attempt = record.and_then(|record| record.history.under_way());
        attempt.is_some_and(|attempt| attempt.number == job.attempt)
    }

    /// The progress from which the next attempt at a task goes on.
    pub(super) fn progress(&self, task: u32) -> Option<Snapshot> {
        let record = self.records.get(task as usize)?;
        record.history.checkpoint.map(|kept| kept.snapshot)
    }

    /// The run, whether it counts still or leaves.
    pub(super) fn any_run(&mut self, job: &RunId) -> Option<&mut Run> {
        let leaving = self.leaving.get_mut(&job.task).map(|l| &mut l.run);
        let present = self.runs.get_mut(&job.task);
        { present.into_iter().chain(leaving) }.find(|r| r.job == *job)
    }

    /// Whether a run leaves.
    pub(super) fn is_leaving(&self, job: &RunId) -> bool {
        let leaving = self.leaving.get(&job.task);
        leaving.is_some_and(|l| l.run.job == *job)
    }

    /// A run that was taken off its task leaves, if there can be something to wait for: then its
    /// task waits.
    pub(super) fn leave(
        &mut self,
        mut run: Run,
        keeps: Option<&Checkpoint>,
        end: (AttemptEnd, Option<End>),
        now: Now,
    ) {
        let began = matches!(run.phase, Phase::Running { .. } | Phase::Ended { .. });
        let began = began || self.was_under_way(&run.job);
        // Its seller is asked about it also if it did not agree again after a restart.
        run.accepted |= began;
        // A fetch on its way may succeed, though the seller knows nothing more of the run.
        let fetching = run.asking.since_wall_ms.is_some();
        let (end, market) = end;
        match keeps.filter(|_| began || fetching) {
            Some(keeps) => {
                let grace = u64::from(keeps.grace_seconds) * 1_000;
                let leaving = Leaving {
                    run,
                    until_ms: now.mono_ms + grace + LEAVE_MS,
                    most_ms: now.mono_ms + grace + ARRIVE_MS,
                    given_up: false,
                    sought: false,
                    fetch_wall_ms: None,
                    end,
                    market,
                };
                self.leaving.insert(run.job.task, leaving);
            }
            None => self.settle(&run, end, market, now),
        }
    }

    /// Nothing more comes of a run that left.
    pub(super) fn arrive(&mut self, task: u32, now: Now) {
        if let Some(left) = self.leaving.remove(&task) {
            self.settle(&left.run, left.end, left.market, now);
        }
    }

    fn settle(&mut self, run: &Run, end: AttemptEnd, market: Option<End>, now: Now) {
        match end {
            AttemptEnd::UnitLost => self.end_attempt(run, end, market, now),
            _ => self.lose_run(run, end, now),
        }
    }

    /// Ends the waiting for runs that had their time; before, others are asked for copies. Whether
    /// there were any, and the runs that others are to be asked about.
    pub(super) fn give_up_waiting(&mut self, seller: Sellers<'_>, now: Now) -> (bool, Vec<Seek>) {
        let mut seeks = Vec::new();
        let late =
            |(task, l): (&u32, &Leaving)| (l.waits_until_ms() <= now.mono_ms).then_some(*task);
        let late: Vec<u32> = self.leaving.iter().filter_map(late).collect();
        for task in &late {
            let heard = self.leaving.get(task).map_or(0, |l| l.run.heard_ms);
            let heard_wall = now
                .wall_ms
                .saturating_sub(now.mono_ms.saturating_sub(heard));
            let number = self.leaving.get(task).map_or(0, |l| l.run.job.attempt);
            if let Some(record) = self.records.get_mut(*task as usize) {
                record.history.stands_still(number, heard_wall);
            }
            match self.seek(*task, seller, now) {
                Some(seek) => seeks.push(seek),
                None => self.arrive(*task, now),
            }
        }
        (!late.is_empty(), seeks)
    }

    /// The runs whose progress is to be asked for now: those that were not asked for a while, and
    /// those that leave and have come to their end.
    fn due_for_checkpoint(&mut self, every_ms: u64, now: Now) -> Vec<Run> {
        let mut due = Vec::new();
        for run in self.runs.values_mut() {
            let runs = matches!(run.phase, Phase::Running { .. });
            if runs && run.asking.from_ms == 0 {
                run.asking.from_ms = now.mono_ms + every_ms;
            }
            let idle = run.asking.since_wall_ms.is_none();
            if runs && idle && run.asking.from_ms <= now.mono_ms {
                run.asking.from_ms = now.mono_ms + every_ms;
                run.asking.since_wall_ms = Some(now.wall_ms);
                due.push(*run);
            }
        }
        for left in self.leaving.values_mut() {
            let over = matches!(left.run.phase, Phase::Ended { .. });
            // A run that leaves is asked once when it stands still, whatever came before.
            if over && !left.run.last_asked && left.run.asking.since_wall_ms.is_none() {
                left.most_ms = now.mono_ms + ARRIVE_MS;
                left.run.last_asked = true;
                left.run.asking.since_wall_ms = Some(now.wall_ms);
                due.push(left.run);
            }
        }
        due
    }
}

impl OrderAgent {
    /// Takes runs off units that are not in `places` any more; they leave. Returns them, to be
    /// stopped.
    pub(super) fn take_off(&mut self, places: &[Place], state: &State, now: Now) -> Vec<Run> {
        let keeps = self.order().spec.checkpoint.clone();
        let over = self.is_over();
        if over {
            self.tasks.stop_collecting();
            self.tasks.leaving.clear();
        }
        let market = |run: &Run| {
            let ended = state.lease(&run.job.lease).is_none();
            self.last_end.clone().filter(|_| ended)
        };
        // A seller may have heard of the loss first, and stopped the run.
        for left in self.tasks.leaving.values_mut() {
            let here = |p: &Place| (p.lease, p.offer) == (left.run.job.lease, left.run.offer);
            if left.end == AttemptEnd::Stopped && !places.iter().any(here) {
                (left.end, left.market) = (AttemptEnd::UnitLost, market(&left.run));
            }
        }
        let gone = self.tasks.unplace(places);
        for run in &gone {
            let market = market(run);
            let keeps = keeps.as_ref().filter(|_| !over);
            let end = (AttemptEnd::UnitLost, market);
            self.tasks.leave(*run, keeps, end, now);
        }
        if keeps.is_some() && !gone.is_empty() {
            self.touch();
        }
        gone
    }

    /// Forgets the progress of tasks once the order is over; returns those that had any, or earlier
    /// attempts.
    pub(super) fn drop_progress(&mut self) -> Vec<u32> {
        if self.finish().is_none() || std::mem::replace(&mut self.dropped, true) {
            return Vec::new();
        }
        let mut had = Vec::new();
        for (task, record) in (0u32..).zip(&mut self.tasks.records) {
            if record.history.checkpoint.take().is_some() || record.attempt > 1 {
                had.push(task);
            }
        }
        had
    }
}

impl Buyer {
    /// Asks for the progress of the runs of an order whose time has come.
    pub(super) fn ask_checkpoints(
        &mut self,
        key: OrderKey,
        state: &State,
        now: Now,
        effects: &mut Vec<Effect>,
    ) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        let Some(keeps) = agent.order().spec.checkpoint.clone() else {
            return;
        };
        let seller = |offer: &OfferId| state.offer(offer).map(|offer| offer.seller);
        let (gave_up, seeks) = agent.tasks.give_up_waiting(&seller, now);
        Buyer::ask_keepers(key, seeks, effects);
        for run in agent.tasks.due_for_checkpoint(keeps.every_ms(), now) {
            effects.push(Effect::FetchCheckpoint {
                order: key,
                job: run.job,
                from: run.node,
            });
        }
        if gave_up {
            self.after_loss(key);
        }
    }

    /// The checkpoint of a run is here, or was not to be had, from its seller's node or as a copy.
    pub fn checkpointed(
        &mut self,
        key: OrderKey,
        job: &RunId,
        (kept, copy): (Option<(Snapshot, u64)>, bool),
        now: Now,
        effects: &mut Vec<Effect>,
    ) {
        let Some(agent) = self.orders.get_mut(&key) else {
            return;
        };
        let Some(run) = agent.tasks.any_run(job) else {
            // Of an attempt that counts no more. The next answer clears up after it, if there is
            // one.
            if agent.finish().is_some() {
                effects.push(Effect::KeepCheckpoint {
                    order: key,
                    task: job.task,
                    keep: None,
                });
            }
            return;
        };
        let (last, failed) = (run.last_asked, kept.is_none());
        let Some(asked) = agent.tasks.answered(job, copy, !failed) else {
            return;
        };
        let record = agent.tasks.records.get_mut(job.task as usize);
        let mut keep = None;
        if let (Some(record), Some((snapshot, age_ms))) = (record, kept) {
            let before = record.history.checkpoint.map(|k| k.snapshot);
            if before != Some(snapshot) {
                let taken_ms = asked.saturating_sub(age_ms);
                record.history.checkpoint = Some(Kept {
                    snapshot,
                    attempt: job.attempt,
                    taken_ms,
                });
                // It goes forward: its losses so far do not make it hopeless.
                record.lost = 0;
            }
            keep = Some(snapshot);
        }
        if failed {
            // What came of this one is of no use: only the last whole one stays.
            effects.push(Effect::KeepCheckpoint {
                order: key,
                task: job.task,
                keep: agent.tasks.progress(job.task),
            });
        }
        match agent.tasks.leaving.get(&job.task) {
            Some(left) if left.run.job != *job || !(last || left.given_up) => {}
            Some(left) if failed && !left.sought => agent.tasks.give_up(job.task),
            Some(_) => agent.tasks.arrive(job.task, now),
            None => {}
        }
        agent.touch();
        self.after_loss(key);
        self.save_changed(effects);
        if let Some(keep) = keep {
            let (order, task) = (key, job.task);
            effects.push(Effect::KeepCheckpoint {
                order,
                task,
                keep: Some(keep),
            });
        }
    }
}
