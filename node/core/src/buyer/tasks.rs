//! The tasks of one order and the units they run on.
//!
//! Planning, after every block and every report:
//!
//! 1. a task on a unit that left the lease is taken off it and will start anew elsewhere;
//! 2. tasks that wait are put on free units in the order of their index, so that an order with
//!    fewer units than tasks runs the lowest indices first and the others as units become free.
//!
//! A run that ended by itself has no unit any more; its output comes without (`collecting`).

pub use super::run::{Place, Progress, Run};

use super::attempts::{AttemptEnd, attempts_told};
use super::leaving::Leaving;
use super::pace::COLLECT_MS;
use super::record::TaskRecord;
use crate::agent::{JobReport, Phase, PollJob, RunId};
use crate::input::{Fetch, Now};
use gridbay_protocol::ids::{LeaseId, OfferId};
use gridbay_protocol::job::JobExit;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeMap;

/// Runs of one task that may be lost (not stopped by the market) before the order is given up.
pub const ATTEMPTS_LOST: u32 = 5;

/// Times that a seller may not give the output files of a run before it counts as lost: in about a
/// minute, in which a node may restart.
const FETCHES: u32 = 8;

/// Milliseconds a task rests after its first loss; twice as long after each further one.
pub(super) const REST_MS: u64 = 250;

/// The tasks of an order.
#[derive(Clone, Debug)]
pub struct Tasks {
    /// The records kept on disk.
    pub records: Vec<TaskRecord>,
    /// Runs by task.
    pub runs: BTreeMap<u32, Run>,
    /// Runs whose last checkpoint is waited for, by task.
    pub(super) leaving: BTreeMap<u32, Leaving>,
    /// Lost tasks that rest until a time before they are placed again.
    pub(super) resting: BTreeMap<u32, u64>,
}

impl Tasks {
    /// All tasks as recorded, none running.
    pub fn new(records: Vec<TaskRecord>) -> Tasks {
        Tasks {
            records,
            runs: BTreeMap::new(),
            leaving: BTreeMap::new(),
            resting: BTreeMap::new(),
        }
    }
    /// Whether every task is done.
    pub fn all_done(&self) -> bool {
        self.records.iter().all(|t| t.done.is_some())
    }
    /// How many tasks are done.
    pub fn done(&self) -> u32 {
        let done = self.records.iter().filter(|t| t.done.is_some()).count();
        u32::try_from(done).unwrap_or(u32::MAX)
    }
    /// Whether a task was lost too often.
    pub fn is_hopeless(&self) -> bool {
        self.records
            .iter()
            .any(|t| t.done.is_none() && t.lost >= ATTEMPTS_LOST)
    }
    /// First non-zero exit code by rank: the job's own.
    pub fn exit_code(&self) -> i32 {
        let code = |exit: &JobExit| match exit {
            JobExit::Code(code) => *code,
            JobExit::Signal(n) => 128 + n,
            JobExit::TimeLimit => 124,
            JobExit::Stopped | JobExit::Lost => 125,
            // EDQUOT.
            JobExit::DiskLimit => 122,
        };
        self.records
            .iter()
            .filter_map(|t| t.done.as_ref())
            .map(code)
            .find(|c| *c != 0)
            .unwrap_or(0)
    }

    /// Takes runs off units that are not in `places` (any more). Returns them, to be stopped.
    pub fn unplace(&mut self, places: &[Place]) -> Vec<Run> {
        let room = |p: &Place| ((p.lease, p.offer), p.units);
        let mut free: BTreeMap<(LeaseId, OfferId), u32> = places.iter().map(room).collect();
        let mut gone = Vec::new();
        let at_work = |(_, run): &(&u32, &Run)| !self.has_ended(&run.job);
        for (task, run) in self.runs.iter().filter(at_work) {
            match free.get_mut(&(run.job.lease, run.offer)) {
                Some(room) if *room > 0 => *room -= 1,
                _ => gone.push((*task, *run)),
            }
        }
        for (task, _) in &gone {
            self.runs.remove(task);
        }
        gone.into_iter().map(|(_, run)| run).collect()
    }

    /// Puts waiting tasks on free units. Returns the new runs, to be started.
    pub fn place(&mut self, places: &[Place], now_ms: u64) -> Vec<Run> {
        self.resting.retain(|_, until| *until > now_ms);
        let mut started = Vec::new();
        for place in places {
            let used = self
                .runs
                .values()
                .filter(|r| (r.job.lease, r.offer) == (place.lease, place.offer))
                .filter(|r| !self.has_ended(&r.job))
                .count();
            let mut free = (place.units as usize).saturating_sub(used);
            while free > 0 {
                let Some(task) = self.next_waiting(place) else {
                    break;
                };
                started.push(self.start(task, place));
                free -= 1;
            }
        }
        started
    }

    fn next_waiting(&self, place: &Place) -> Option<u32> {
        let waits = |i: &usize| {
            let task = *i as u32;
            let idle = !self.runs.contains_key(&task) && !self.resting.contains_key(&task);
            let idle = idle && !self.leaving.contains_key(&task);
            self.records[*i].done.is_none() && idle
        };
        let allowed = match place.task {
            Some(task) => task as usize..self.records.len().min(task as usize + 1),
            None => 0..self.records.len(),
        };
        allowed.into_iter().find(waits).map(|i| i as u32)
    }

    fn start(&mut self, task: u32, place: &Place) -> Run {
        let told = attempts_told(self.records.len());
        let record = &mut self.records[task as usize];
        record.history.begin(record.attempt, place, told);
        let job = RunId {
            lease: place.lease,
            task,
            attempt: record.attempt,
        };
        record.attempt += 1;
        record.ended = None;
        record.place = Some((place.offer, place.node));
        let run = Run::new(job, place);
        self.runs.insert(task, run);
        run
    }

    /// Whether the output files of a run are to be fetched now.
    pub fn may_fetch(&self, job: &RunId, now_ms: u64) -> bool {
        let run = self.runs.get(&job.task).filter(|r| r.job == *job);
        run.is_some_and(|r| !r.fetching && r.fetch_from_ms <= now_ms)
    }

    /// Output files were not to be had: they are asked for again, later each time. Returns whether
    /// the run is lost instead.
    pub fn not_fetched(&mut self, job: &RunId, fetch: Fetch, now_ms: u64) -> bool {
        let run = self.runs.get_mut(&job.task).filter(|r| r.job == *job);
        let Some(run) = run else {
            return false;
        };
        run.fetching = false;
        // That this node has no room is not its seller's fault.
        run.unfetched += u32::from(fetch != Fetch::NoRoom);
        run.fetch_from_ms = now_ms + (REST_MS << run.unfetched.clamp(2, FETCHES));
        fetch == Fetch::Never || run.unfetched >= FETCHES
    }

    /// Whether anything runs or rests, so that there is something to do in a while.
    pub fn is_busy(&self) -> bool {
        !self.runs.is_empty() || !self.resting.is_empty() || !self.leaving.is_empty()
    }

    /// The runs to ask each node about: those it has agreed to, at most `most` a question.
    pub fn polls(&self, most: usize) -> Vec<(PublicKey, Vec<PollJob>)> {
        let mut by_node: BTreeMap<PublicKey, Vec<PollJob>> = BTreeMap::new();
        let present = self.runs.values().filter(|r| !r.fetching);
        let leaving = self.leaving.values().map(|l| &l.run);
        let leaving = leaving.filter(|r| !matches!(r.phase, Phase::Ended { .. }));
        for run in present.chain(leaving).filter(|r| r.accepted) {
            by_node.entry(run.node).or_default().push(PollJob {
                job: run.job,
                stdout_from: run.stdout,
                stderr_from: run.stderr,
            });
        }
        let split = |(node, jobs): (PublicKey, Vec<PollJob>)| {
            jobs.chunks(most)
                .map(|c| (node, c.to_vec()))
                .collect::<Vec<_>>()
        };
        by_node.into_iter().flat_map(split).collect()
    }

    /// Notes a report. Output in it starts at the offsets held when it was asked for; `report` is
    /// ignored if they have moved since.
    pub fn report(&mut self, poll: &PollJob, report: &JobReport, now: Now) -> Option<Progress> {
        let (task, number) = (report.job.task, report.job.attempt);
        let leaves = self.is_leaving(&report.job);
        let run = self.any_run(&report.job)?;
        let next = (poll.stdout_from, poll.stderr_from) == (run.stdout, run.stderr);
        if !next {
            return None;
        }
        run.stdout += report.stdout.len() as u64;
        run.stderr += report.stderr.len() as u64;
        run.phase = report.phase;
        run.heard_ms = now.mono_ms;
        if let Phase::Ended { .. } = run.phase {
            run.dropped = report.dropped;
            if run.ended_ms == 0 {
                run.ended_ms = now.mono_ms.max(1);
            }
        }
        let late = run.ended_ms > 0 && now.mono_ms >= run.ended_ms.saturating_add(COLLECT_MS);
        let fetching = run.asking.since_wall_ms.is_some();
        // Nothing more can be asked of a run that its seller does not know, but what is being
        // fetched may come.
        run.last_asked |= fetching && run.phase == Phase::Unknown;
        let held = (run.stdout, run.stderr);
        let record = self.records.get_mut(task as usize)?;
        if let Phase::Running { .. } | Phase::Ended { .. } = report.phase {
            record.history.runs(number, now.wall_ms);
        }
        if let Phase::Ended { .. } = report.phase {
            record.history.stands_still(number, now.wall_ms);
        }
        match report.phase {
            Phase::Unknown if leaves && !fetching => {
                self.give_up(task);
                Some(Progress::None)
            }
            _ if leaves => Some(Progress::None),
            Phase::Unknown => Some(Progress::Lost(AttemptEnd::Lost)),
            Phase::Staging => Some(Progress::None),
            Phase::Running { started_ms } => {
                record.started_ms = started_ms;
                Some(Progress::None)
            }
            Phase::Ended {
                exit,
                started_ms,
                ended_ms,
                ..
            } => {
                (record.started_ms, record.ended_ms) = (started_ms, ended_ms);
                match exit {
                    JobExit::Stopped => return Some(Progress::Lost(AttemptEnd::Stopped)),
                    JobExit::Lost => return Some(Progress::Lost(AttemptEnd::Lost)),
                    _ => record.ended = Some(exit),
                }
                Some(match held == (report.stdout_len, report.stderr_len) {
                    true => Progress::OutputComplete,
                    false if late => Progress::Lost(AttemptEnd::NoOutput),
                    false => Progress::None,
                })
            }
        }
    }

    /// A run ended and everything of it is here, of which this node `keeps` so many bytes a stream.
    pub fn complete(&mut self, job: &RunId, keeps: u64, now: Now) {
        let run = self.runs.get(&job.task).filter(|r| r.job == *job).copied();
        if let Some(run) = run
            && let Phase::Ended { exit, .. } = run.phase
        {
            let streams = [run.stdout, run.stderr].into_iter();
            let over = streams.map(|bytes| bytes.saturating_sub(keeps));
            let record = &mut self.records[job.task as usize];
            (record.done, record.ended) = (Some(exit), None);
            record.dropped = over.fold(run.dropped, u64::saturating_add);
            self.end_attempt(&run, AttemptEnd::Done, None, now);
            self.runs.remove(&job.task);
        }
    }
}

#[cfg(test)]
mod tests;
