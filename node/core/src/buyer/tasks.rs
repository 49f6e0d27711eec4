//! The tasks of one order and the units they run on.
//!
//! Planning, after every block and every report:
//!
//! 1. a task on a unit that left the lease is taken off it and will start anew elsewhere;
//! 2. tasks that wait are put on free units in the order of their index, so that an order with
//!    fewer units than tasks runs the lowest indices first and the others as units become free.

pub use super::run::{Place, Progress, Run};

use super::attempts::{AttemptEnd, attempts_told};
use super::leaving::Leaving;
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
        for (task, run) in &self.runs {
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
                self.arrive(task, now);
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
                    _ => {}
                }
                if held == (report.stdout_len, report.stderr_len) {
                    Some(Progress::OutputComplete)
                } else {
                    Some(Progress::None)
                }
            }
        }
    }

    /// A run ended and everything of it is here.
    pub fn complete(&mut self, job: &RunId, now: Now) {
        let run = self.runs.get(&job.task).filter(|r| r.job == *job).copied();
        if let Some(run) = run
            && let Phase::Ended { exit, .. } = run.phase
        {
            self.records[job.task as usize].done = Some(exit);
            self.end_attempt(&run, AttemptEnd::Done, None, now);
            self.runs.remove(&job.task);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::checkpoint::Checkpoint;
    use gridbay_protocol::keys::SecretKey;

    fn place(n: u8, units: u32) -> Place {
        let node = SecretKey::from_seed(&[n; 32]).public();
        Place {
            lease: LEASE,
            task: None,
            offer: OfferId([n; 32]),
            node,
            units,
        }
    }
    fn tasks(n: usize) -> Tasks {
        Tasks::new(vec![TaskRecord::default(); n])
    }
    const LEASE: LeaseId = LeaseId([7; 32]);

    fn at(mono_ms: u64) -> Now {
        Now {
            mono_ms,
            wall_ms: 1_000_000 + mono_ms,
        }
    }

    fn ended(run: &Run, exit: JobExit, out: &[u8]) -> (PollJob, JobReport) {
        let poll = PollJob {
            job: run.job,
            stdout_from: run.stdout,
            stderr_from: run.stderr,
        };
        let report = JobReport {
            job: run.job,
            phase: Phase::Ended {
                exit,
                started_ms: 5,
                ended_ms: 9,
                cpu_ms: 1,
                rss_kib: 1,
            },
            stdout: out.to_vec(),
            stderr: vec![],
            stdout_len: run.stdout + out.len() as u64,
            stderr_len: 0,
        };
        (poll, report)
    }

    #[test]
    fn fewer_units_than_tasks_run_the_lowest_first() {
        let mut t = tasks(4);
        let places = [place(1, 1), place(2, 1)];
        let runs = t.place(&places, 0);
        assert_eq!(runs.iter().map(|r| r.job.task).collect::<Vec<_>>(), [0, 1]);
        let (poll, report) = ended(&runs[1], JobExit::Code(0), b"x");
        assert_eq!(
            t.report(&poll, &report, at(0)),
            Some(Progress::OutputComplete)
        );
        t.complete(&runs[1].job, at(0));
        let next = t.place(&places, 0);
        assert_eq!((next[0].job.task, next[0].offer), (2, places[1].offer));
    }

    #[test]
    fn a_unit_that_leaves_frees_its_task_for_another_attempt() {
        let mut t = tasks(2);
        t.place(&[place(1, 2)], 0);
        let gone = t.unplace(&[place(1, 1), place(2, 1)]);
        assert_eq!(gone.iter().map(|r| r.job.task).collect::<Vec<_>>(), [1]);
        let again = t.place(&[place(1, 1), place(2, 1)], 0);
        assert_eq!((again[0].job.task, again[0].job.attempt), (1, 1));
        assert_eq!(again[0].offer, place(2, 1).offer);
        assert_eq!(t.unplace(&[]).len(), 2, "no lease, no run");
    }

    #[test]
    fn a_place_for_one_task_takes_no_other() {
        let mut t = tasks(3);
        let other = LeaseId([8; 32]);
        let only = |lease, task| Place {
            lease,
            task: Some(task),
            ..place(1, 1)
        };
        let places = [only(LEASE, 2), only(other, 0), only(other, 9)];
        let runs: Vec<(LeaseId, u32)> = t
            .place(&places, 0)
            .iter()
            .map(|r| (r.job.lease, r.job.task))
            .collect();
        assert_eq!(runs, [(LEASE, 2), (other, 0)]);
        // The same offer in another lease does not keep a run.
        let gone = t.unplace(&[only(LEASE, 2)]);
        assert_eq!(gone.len(), 1);
        assert_eq!(gone[0].job.lease, other);
    }

    #[test]
    fn stale_reports_are_ignored_and_lost_runs_wait_again() {
        let mut t = tasks(1);
        let run = t.place(&[place(1, 1)], 0)[0];
        let (poll, report) = ended(&run, JobExit::Code(3), b"abc");
        assert_eq!(
            t.report(&poll, &report, at(0)),
            Some(Progress::OutputComplete)
        );
        assert_eq!(
            t.report(&poll, &report, at(0)),
            None,
            "the offsets have moved"
        );
        let mut u = tasks(1);
        for attempt in 0..ATTEMPTS_LOST {
            assert!(!u.is_hopeless());
            let now = u64::from(attempt) * 60_000;
            let run = u.place(&[place(1, 1)], now)[0];
            assert_eq!(run.job.attempt, attempt);
            let (poll, report) = ended(&run, JobExit::Lost, b"");
            let lost = Progress::Lost(AttemptEnd::Lost);
            assert_eq!(u.report(&poll, &report, at(now)), Some(lost));
            u.lose(0, AttemptEnd::Lost, None, at(now));
            assert!(u.place(&[place(1, 1)], now).is_empty(), "it rests");
            assert!(u.is_busy());
        }
        assert!(u.is_hopeless());
    }

    #[test]
    fn the_exit_code_is_the_first_that_is_not_zero() {
        let done = |exit| TaskRecord {
            done: Some(exit),
            ..TaskRecord::default()
        };
        let t = Tasks::new(vec![
            done(JobExit::Code(0)),
            done(JobExit::Signal(9)),
            done(JobExit::Code(3)),
        ]);
        assert!(t.all_done());
        assert_eq!(t.exit_code(), 137);
    }

    #[test]
    fn files_that_are_not_to_be_had_are_asked_for_ever_more_seldom_and_then_the_run_is_lost() {
        let mut t = tasks(1);
        let job = t.place(&[place(1, 1)], 0)[0].job;
        let (mut now, mut asked) = (0, 0);
        let lost = (0..2_000).find(|_| {
            now += 100;
            asked += u32::from(t.may_fetch(&job, now));
            t.may_fetch(&job, now) && t.not_fetched(&job, Fetch::NotYet, now)
        });
        assert_eq!((lost.is_some(), asked), (true, FETCHES));
        assert!((60_000..90_000).contains(&now), "{now}");
        // More than may come is more the next time as well; a full disk of ours is not for ever.
        assert!(t.not_fetched(&job, Fetch::Never, now));
        let mut u = tasks(1);
        let job = u.place(&[place(1, 1)], 0)[0].job;
        assert!((0..1_000).all(|n| !u.not_fetched(&job, Fetch::NoRoom, n)));
        assert!(!u.may_fetch(&job, 1_000) && u.may_fetch(&job, 5_000));
    }

    /// One task whose run keeps its progress and was taken off it, while a checkpoint is fetched or
    /// not.
    fn leaving(fetching: bool) -> (Tasks, Run) {
        let mut t = tasks(1);
        t.place(&[place(1, 1)], 0);
        let mut run = t.runs[&0];
        run.phase = Phase::Running { started_ms: 5 };
        run.accepted = true;
        run.asking.since_wall_ms = fetching.then_some(1_000_000);
        t.runs.clear();
        t.leave(run, Some(&keeps()), (AttemptEnd::UnitLost, None), at(0));
        (t, run)
    }

    fn keeps() -> Checkpoint {
        Checkpoint {
            folder: "ckpt".into(),
            grace_seconds: 5,
            every_seconds: 60,
        }
    }

    fn says(t: &mut Tasks, run: &Run, phase: Phase, now: Now) -> Option<Progress> {
        let (poll, report) = ended(run, JobExit::Stopped, b"");
        let report = JobReport { phase, ..report };
        t.report(&poll, &report, now)
    }

    #[test]
    fn a_task_waits_for_a_run_that_leaves_as_long_as_something_may_come() {
        let (mut t, _) = leaving(false);
        assert!(!t.give_up_waiting(at(19_999)));
        assert!(t.give_up_waiting(at(20_000)), "15 s beyond the grace");
        // Each word makes it longer, but not for ever.
        let (mut t, run) = leaving(false);
        for second in (10..300).step_by(10) {
            let now = at(second * 1_000);
            assert!(!t.give_up_waiting(now), "{second}");
            says(&mut t, &run, run.phase, now);
        }
        says(&mut t, &run, run.phase, at(304_999));
        assert!(t.give_up_waiting(at(305_000)));
        // What is on its way has five minutes.
        let (mut t, _) = leaving(true);
        assert!(!t.give_up_waiting(at(304_999)));
        assert!(t.give_up_waiting(at(305_000)));
    }

    #[test]
    fn what_is_being_fetched_of_a_run_may_come_though_the_run_is_gone() {
        for fetching in [false, true] {
            let (mut t, run) = leaving(fetching);
            says(&mut t, &run, Phase::Unknown, at(1_000));
            assert_eq!(t.is_leaving(&run.job), fetching);
            // One that was not taken off its task before.
            let mut t = tasks(1);
            t.place(&[place(1, 1)], 0);
            t.runs.insert(0, run);
            let lost = says(&mut t, &run, Phase::Unknown, at(1_000));
            assert_eq!(lost, Some(Progress::Lost(AttemptEnd::Lost)));
            t.lose(0, AttemptEnd::Lost, Some(&keeps()), at(1_000));
            assert_eq!(t.is_leaving(&run.job), fetching);
            let last = t.any_run(&run.job).is_some_and(|run| run.last_asked);
            assert_eq!(last, fetching, "it is the last that comes");
        }
    }
}
