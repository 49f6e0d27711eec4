//! Jobs of this machine between the agent and an executor that runs nothing.

use super::*;
use crate::body::idle::Idle;
use crate::executor::{Tier, Usage};
use gridbay_protocol::ids::LeaseId;

#[test]
fn no_job_starts_in_isolation_that_is_not_sold() {
    let dir = tempfile::tempdir().unwrap();
    let spec = JobSpec {
        argv: vec!["true".to_owned()],
        env: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        wall_seconds: 1,
        network: false,
        internet: false,
        checkpoint: None,
    };
    let job = RunId {
        lease: LeaseId([7; 32]),
        task: 0,
        attempt: 0,
    };
    for (tier, isolation, starts) in [
        (Tier::Namespaces, Isolation::Process, true),
        (Tier::Namespaces, Isolation::Machine, false),
        (Tier::Plain, Isolation::Process, false),
    ] {
        let idle = Idle::default();
        let jobs = idle.jobs_in(tier, dir.path());
        let allowed = Allowance {
            vcpu: 1,
            memory_mib: 16,
            disk_mib: 16,
            nice: 0,
            weight: 1,
            isolation,
        };
        let done = jobs.start(&job, &spec, Network::None, Some(allowed), None);
        let started = idle.started.lock().unwrap().len();
        assert_eq!((done.is_ok(), started == 1), (starts, starts), "{tier}");
    }
}

#[test]
fn a_run_is_unknown_only_to_strangers_and_after_it_is_forgotten() {
    let running = Phase::Running { started_ms: 7 };
    let (staging, unknown, over) = (Phase::Staging, Phase::Unknown, lost());
    let done = Phase::Ended {
        exit: JobExit::Code(0),
        started_ms: 1,
        ended_ms: 2,
        cpu_ms: 0,
        rss_kib: 0,
    };
    for (known, on_disk, told_so) in [
        (None, running, unknown),
        (Some(staging), unknown, staging),
        (Some(staging), running, running),
        (Some(over), staging, over),
        (Some(over), unknown, over),
        (Some(staging), over, over),
        (Some(done), unknown, over),
        (Some(done), done, done),
    ] {
        assert_eq!(told(known, on_disk), told_so, "{known:?} {on_disk:?}");
    }
}

/// The reports on a job that has ended and said so much, in as many pieces as it takes.
fn reports(said: &[u8], most: usize) -> Vec<JobReport> {
    let dir = tempfile::tempdir().unwrap();
    let idle = Idle::default();
    let jobs = idle.jobs_in(Tier::Namespaces, dir.path());
    let job = RunId {
        lease: LeaseId([7; 32]),
        task: 0,
        attempt: 0,
    };
    let usage = Usage {
        output_dropped: 40,
        ..Usage::default()
    };
    let finished = Finished {
        started: None,
        exit: Exit::Exited(0),
        usage,
    };
    idle.end(&local(&job), finished, said);
    let (mut reports, mut from) = (Vec::new(), 0);
    loop {
        let poll = PollJob {
            job,
            stdout_from: from,
            stderr_from: 0,
        };
        let report = jobs.report(&poll, Some(jobs.phase(&job)), most);
        from += report.stdout.len() as u64;
        let whole = from == report.stdout_len;
        reports.push(report);
        if whole {
            return reports;
        }
    }
}

#[test]
fn a_stream_is_whole_when_nothing_follows_whatever_pieces_it_is_read_in() {
    // Idle jobs give four bytes at a time.
    for most in [3, 4, 5] {
        for bytes in [0, 1, 3, 4, 5, 8, 12, 13] {
            let said: Vec<u8> = (0..bytes).collect();
            let reports = reports(&said, most);
            let told: Vec<u8> = reports.iter().flat_map(|r| r.stdout.clone()).collect();
            assert_eq!(told, said, "{most}");
            let short = reports.iter().all(|r| r.stdout.len() <= most);
            assert!(short && reports.iter().all(|r| r.dropped == 40));
        }
    }
}
