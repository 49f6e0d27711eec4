//! Runs placed, lost, waited for and completed.

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
        dropped: 0,
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
    t.complete(&runs[1].job, u64::MAX, at(0));
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
    first_leaves(&[place(1, 1)], fetching)
}

/// The same of the first of several tasks, one at each place.
fn first_leaves(places: &[Place], fetching: bool) -> (Tasks, Run) {
    let mut t = tasks(places.len());
    t.place(places, 0);
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
    assert!(!t.give_up_waiting(&|_| None, at(19_999)).0);
    assert!(
        t.give_up_waiting(&|_| None, at(20_000)).0,
        "15 s beyond the grace"
    );
    // Each word makes it longer, but not for ever.
    let (mut t, run) = leaving(false);
    for second in (10..300).step_by(10) {
        let now = at(second * 1_000);
        assert!(!t.give_up_waiting(&|_| None, now).0, "{second}");
        says(&mut t, &run, run.phase, now);
    }
    says(&mut t, &run, run.phase, at(304_999));
    assert!(t.give_up_waiting(&|_| None, at(305_000)).0);
    // A fetch on its way has five minutes.
    let (mut t, _) = leaving(true);
    assert!(!t.give_up_waiting(&|_| None, at(304_999)).0);
    assert!(t.give_up_waiting(&|_| None, at(305_000)).0);
}

#[test]
fn a_fetch_that_fails_while_others_are_asked_says_nothing_of_them() {
    for whole in [false, true] {
        let (mut t, run) = first_leaves(&[place(1, 1), place(2, 1)], true);
        assert_eq!(t.answered(&run.job, true, true), None, "nobody was asked");
        let (_, seeks) = t.give_up_waiting(&|_| None, at(305_000));
        assert_eq!(seeks.len(), 1, "the other's node");
        // The one of before counts if it comes, from when it was asked for, and once.
        let fetched = t.answered(&run.job, false, whole);
        assert_eq!(fetched, whole.then_some(1_000_000));
        assert_eq!(t.answered(&run.job, false, true), None);
        t.give_up_waiting(&|_| None, at(424_999));
        assert!(t.is_leaving(&run.job), "the others have their time");
        assert_eq!(t.answered(&run.job, true, false), Some(1_305_000));
        assert_eq!(t.answered(&run.job, true, true), None);
    }
}

#[test]
fn what_is_being_fetched_of_a_run_may_come_though_the_run_is_gone() {
    for fetching in [false, true] {
        let (mut t, run) = leaving(fetching);
        says(&mut t, &run, Phase::Unknown, at(1_000));
        t.give_up_waiting(&|_| None, at(1_000));
        assert_eq!(t.is_leaving(&run.job), fetching);
        // One that was not taken off its task before.
        let mut t = tasks(1);
        t.place(&[place(1, 1)], 0);
        t.runs.insert(0, run);
        let lost = says(&mut t, &run, Phase::Unknown, at(1_000));
        assert_eq!(lost, Some(Progress::Lost(AttemptEnd::Lost)));
        t.lose(0, AttemptEnd::Lost, Some(&keeps()), at(1_000));
        t.give_up_waiting(&|_| None, at(1_000));
        assert_eq!(t.is_leaving(&run.job), fetching);
        let last = t.any_run(&run.job).is_some_and(|run| run.last_asked);
        assert_eq!(last, fetching, "it is the last that comes");
    }
}

#[test]
fn a_run_that_ended_needs_no_unit_and_its_output_comes_all_the_same() {
    let mut t = tasks(2);
    let run = t.place(&[place(1, 1)], 0)[0];
    let (poll, mut report) = ended(&run, JobExit::Code(0), b"abc");
    (report.stdout_len, report.dropped) = (6, 40);
    assert_eq!(t.report(&poll, &report, at(5)), Some(Progress::None));
    assert!(t.has_ended(&run.job) && t.collecting() == 1 && !t.all_done());
    assert_eq!(t.place(&[place(1, 1)], 5)[0].job.task, 1, "the next has it");
    let gone = t.unplace(&[]);
    assert_eq!(gone.iter().map(|r| r.job.task).collect::<Vec<_>>(), [1]);
    let run = t.runs[&0];
    let (poll, report) = ended(&run, JobExit::Code(0), b"def");
    let report = JobReport {
        dropped: 40,
        ..report
    };
    let now = at(5 + COLLECT_MS - 1);
    assert_eq!(
        t.report(&poll, &report, now),
        Some(Progress::OutputComplete)
    );
    t.complete(&run.job, 4, now);
    let record = &t.records[0];
    assert_eq!((record.done, record.ended), (Some(JobExit::Code(0)), None));
    assert_eq!(record.dropped, 40 + 2, "by its seller, and by this node");
}

#[test]
fn a_run_that_says_it_ended_and_gives_no_output_is_lost() {
    let mut t = tasks(1);
    let run = t.place(&[place(1, 1)], 0)[0];
    let (poll, mut report) = ended(&run, JobExit::Code(0), b"");
    report.stdout_len = u64::MAX;
    for now in [1, COLLECT_MS] {
        assert_eq!(t.report(&poll, &report, at(now)), Some(Progress::None));
    }
    let lost = Some(Progress::Lost(AttemptEnd::NoOutput));
    assert_eq!(t.report(&poll, &report, at(COLLECT_MS + 1)), lost);
    t.lose(0, AttemptEnd::NoOutput, None, at(COLLECT_MS + 1));
    assert_eq!((t.collecting(), t.records[0].ended), (0, None));
}
