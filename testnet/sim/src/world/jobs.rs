//! Jobs, played by the world: `sleep N` ends by itself after N seconds and prints its rank.
//!
//! A job outlives its node's process, as one under a supervisor does.

use super::World;
use super::machine::Played;
use super::queue::Event;
use crate::clock::EPOCH_MS;
use gridbay_core::agent::{AgentReply, JobReport, Phase, PollJob, RunId};
use gridbay_core::cluster::{Cluster, Member};
use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use gridbay_core::presence::{Presence, Reach, Way};
use gridbay_core::relay::is_relay;
use gridbay_protocol::job::{JobExit, JobSpec};

impl World {
    pub(super) fn perform_on_shelf(&mut self, n: usize, effect: Effect) {
        let shelf = &mut self.machines[n].shelf;
        match effect {
            Effect::SaveOrder { order, record } => {
                shelf.records.insert(order, record);
            }
            Effect::SaveWithheld(bytes) => shelf.withheld = bytes,
            Effect::AppendOutput {
                order,
                task,
                stderr: false,
                from,
                bytes,
            } => {
                let output = shelf.output.entry((order, task)).or_default();
                output.truncate(usize::try_from(from).unwrap_or(usize::MAX));
                output.extend(bytes);
            }
            Effect::ResetOutput { order, task, .. } => {
                shelf.output.remove(&(order, task));
            }
            Effect::Stage {
                job,
                from,
                spec,
                memo,
                resume,
            } => {
                shelf.memos.insert(job, memo);
                let slept = self.slept(&from, resume.as_ref());
                let phase = Phase::Staging;
                let slept_ms = slept.unwrap_or(0);
                let played = Played {
                    spec,
                    phase,
                    slept_ms,
                };
                self.machines[n].shelf.jobs.insert(job, played);
                // One staging of twenty fails.
                let ok = !self.rng.chance(50_000) && slept.is_some();
                let after = self.rng.range(1, 50);
                self.input(n, after, Input::Staged { job, ok });
            }
            Effect::StartJob { job, spec, .. } => self.start_job(n, job, spec),
            Effect::KeepCheckpoint { order, task, keep } => {
                let held = shelf.checkpoints.entry((order, task)).or_default();
                held.retain(|id| keep.is_some_and(|k| k.manifest == *id));
            }
            Effect::StopJob(job) => self.end_job(n, job, JobExit::Stopped),
            Effect::Connect { token, cluster } => self.connect(n, token, cluster),
            Effect::RemoveJob(job) => {
                shelf.memos.remove(&job);
                shelf.jobs.remove(&job);
            }
            other => self.perform_on_plane(n, other),
        }
    }
    fn connect(&mut self, n: usize, token: Option<u64>, cluster: Cluster) {
        let reach = cluster.others.iter().map(reached).collect();
        let lease = cluster.lease;
        let own = self.card(n, &lease).public;
        if cluster.others.iter().any(|m| m.card.public == own) {
            self.cover.count("key given up");
            let given_up = &mut self.machines[n].plane.given_up;
            *given_up.entry(lease).or_default() += 1;
        }
        let keep = Effect::Connect {
            token: None,
            cluster,
        };
        self.perform_on_plane(n, keep);
        if let Some(token) = token {
            let card = self.card(n, &lease);
            let presence = Box::new(Presence { card, reach });
            self.answer(n, token, AgentReply::Present(presence));
        }
    }
    fn start_job(&mut self, n: usize, job: RunId, spec: JobSpec) {
        let started_ms = EPOCH_MS + self.now;
        let phase = Phase::Running { started_ms };
        // What only holds a relay's unit goes on for long.
        let other = if is_relay(&spec) { 500 } else { 1 };
        let seconds = spec.argv.get(1).and_then(|s| s.parse().ok());
        let seconds: u64 = seconds.unwrap_or(other);
        let jobs = &mut self.machines[n].shelf.jobs;
        let slept_ms = jobs.get(&job).map_or(0, |staged| staged.slept_ms);
        let played = Played {
            spec,
            phase,
            slept_ms,
        };
        jobs.insert(job, played);
        self.input(n, 0, Input::JobPhase { job, phase });
        let at = self.now + (seconds * 1_000).saturating_sub(slept_ms);
        self.queue.push(at, Event::JobEnds { node: n, job });
    }
    pub(super) fn job_ends(&mut self, n: usize, job: RunId) {
        self.end_job(n, job, JobExit::Code(0));
    }
    fn end_job(&mut self, n: usize, job: RunId, exit: JobExit) {
        let ended_ms = EPOCH_MS + self.now;
        let Some(played) = self.machines[n].shelf.jobs.get_mut(&job) else {
            return;
        };
        if let Phase::Running { started_ms } = played.phase {
            let (cpu_ms, rss_kib) = (1, 1);
            let phase = Phase::Ended {
                exit,
                started_ms,
                ended_ms,
                cpu_ms,
                rss_kib,
            };
            played.phase = phase;
            self.input(n, 0, Input::JobPhase { job, phase });
        }
    }
    pub(super) fn reports(&self, n: usize, jobs: &[(PollJob, Option<Phase>)]) -> Vec<JobReport> {
        let report = |(poll, known): &(PollJob, Option<Phase>)| {
            let played = self.machines[n].shelf.jobs.get(&poll.job);
            report(poll, played.filter(|_| known.is_some()))
        };
        jobs.iter().map(report).collect()
    }
    /// The one output file of every job is its name.
    pub(super) fn read_output(&self, n: usize, job: &RunId, path: &str, from: u64) -> AgentReply {
        let played = self.machines[n].shelf.jobs.get(job);
        if !played.is_some_and(|p| p.spec.outputs.iter().any(|o| o == path)) {
            return AgentReply::NotFound;
        }
        let bytes = path.as_bytes();
        let start = usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len());
        AgentReply::Chunk {
            total: bytes.len() as u64,
            bytes: bytes[start..].to_vec(),
        }
    }
}

/// Every member reaches every other at once.
fn reached(other: &Member) -> Reach {
    Reach {
        rank: other.ranks.first().copied().unwrap_or_default(),
        way: Some(Way::Direct),
        reached_ms: Some(0),
        round_trip_us: Some(200),
        mtu: Some(1_420),
        handshake_ms: Some(0),
        sent: 0,
        received: 0,
        probes: (1, 1),
    }
}

fn rank(spec: &JobSpec) -> String {
    let variable = spec.env.iter().find(|(name, _)| name == "GRIDBAY_RANK");
    variable.map(|(_, value)| value.clone()).unwrap_or_default()
}

fn report(poll: &PollJob, played: Option<&Played>) -> JobReport {
    let phase = played.map_or(Phase::Unknown, |p| p.phase);
    let done = matches!(
        phase,
        Phase::Ended {
            exit: JobExit::Code(0),
            ..
        }
    );
    let text = played
        .filter(|_| done)
        .map(|p| rank(&p.spec))
        .unwrap_or_default();
    let from = usize::try_from(poll.stdout_from).unwrap_or(usize::MAX);
    let stdout = text.as_bytes().get(from..).unwrap_or_default().to_vec();
    JobReport {
        job: poll.job,
        phase,
        stdout_len: poll.stdout_from + stdout.len() as u64,
        stdout,
        stderr: vec![],
        stderr_len: 0,
        dropped: 0,
    }
}
