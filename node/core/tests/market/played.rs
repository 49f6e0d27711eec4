//! Jobs as a world plays them: `sleep N` is their only program. One that keeps its progress has a
//! file with the milliseconds that it has slept, and sleeps the rest when it goes on.

use crate::genesis::node_key;
use crate::world::{EPOCH_MS, Event, World};
use gridbay_core::agent::{AgentReply, JobReport, Phase, PollJob, RunId};
use gridbay_core::cluster::{Cluster, Member};
use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use gridbay_core::key::OrderKey;
use gridbay_core::presence::{Presence, Reach, Way};
use gridbay_protocol::checkpoint::{Manifest, Snapshot};
use gridbay_protocol::codec;
use gridbay_protocol::job::{InputFile, JobExit, JobSpec, content_id};

#[derive(Clone)]
pub(crate) struct Played {
    pub(crate) spec: JobSpec,
    pub(crate) phase: Phase,
    /// Milliseconds that earlier attempts slept.
    pub(crate) slept_ms: u64,
}

impl Played {
    fn new(spec: JobSpec, phase: Phase, slept_ms: u64) -> Played {
        Played {
            spec,
            phase,
            slept_ms,
        }
    }
    /// Milliseconds that all attempts slept until `now`.
    fn slept(&self, now: u64) -> u64 {
        self.slept_ms
            + match self.phase {
                Phase::Running { started_ms } => EPOCH_MS + now - started_ms,
                Phase::Ended {
                    started_ms,
                    ended_ms,
                    ..
                } => ended_ms - started_ms,
                _ => 0,
            }
    }
}

/// The checkpoint of a job that has slept so long.
fn manifest(slept_ms: u64) -> Manifest {
    let text = slept_ms.to_string();
    Manifest {
        files: vec![InputFile {
            path: "slept".into(),
            content: content_id(text.as_bytes()),
            bytes: text.len() as u64,
            executable: false,
        }],
    }
}

impl World {
    pub(crate) fn node_of(&self, key: &[u8; 32]) -> Option<usize> {
        (0..self.nodes.len()).find(|n| node_key(*n).as_bytes() == key)
    }

    fn connect(&mut self, n: usize, token: Option<u64>, cluster: Cluster) {
        self.connects += 1;
        let reach = cluster.others.iter().map(reached).collect();
        let own = self.card(n).public;
        if cluster.others.iter().any(|m| m.card.public == own) {
            self.copies.given_up.insert(own);
        }
        self.nodes[n].clusters.insert(cluster.lease, cluster);
        let copied = self.copies.told.get(&n).cloned();
        let card = copied.unwrap_or_else(|| self.card(n));
        let reply = AgentReply::Present(Box::new(Presence { card, reach }));
        if let Some(token) = token {
            self.answer(token, reply);
        }
    }

    pub(crate) fn perform_job(&mut self, n: usize, effect: Effect) {
        match effect {
            Effect::Stage {
                job,
                spec,
                memo,
                resume,
                ..
            } => {
                let slept = resume.map_or(0, |r| self.snapshots[&r.manifest]);
                self.nodes[n].memos.insert(job, memo);
                let played = Played::new(spec, Phase::Staging, slept);
                self.nodes[n].jobs.insert(job, played);
                self.input(n, 1, Input::Staged { job, ok: true });
            }
            Effect::StartJob { job, spec, .. } => {
                let phase = Phase::Running {
                    started_ms: EPOCH_MS + self.now,
                };
                let slept = self.nodes[n].jobs.get(&job).map_or(0, |j| j.slept_ms);
                let played = Played::new(spec.clone(), phase, slept);
                self.nodes[n].jobs.insert(job, played);
                self.input(n, 0, Input::JobPhase { job, phase });
                // `sleep N` is the only program of this world; anything else goes on for long.
                let seconds: u64 = spec.argv[1].parse().unwrap_or(500);
                let left = (seconds * 1_000).saturating_sub(slept);
                self.at(left, Event::JobEnds(n, job));
            }
            Effect::ShowCheckpoint {
                token, job, keeper, ..
            } => {
                let manifest = self.shown(n, &job);
                if let Some(keeper) = keeper {
                    self.offer_copy(n, job, &manifest, &keeper);
                }
                let reply = AgentReply::Checkpoint {
                    manifest: codec::encode(&manifest),
                    age_ms: 0,
                };
                self.answer(token, reply);
            }
            Effect::FetchCheckpoint { order, job, from } => {
                self.ask_for_checkpoint(n, order, job, &from);
            }
            Effect::StopJob(job) => self.end_job(n, job, JobExit::Stopped),
            Effect::RemoveJob(job) => {
                self.nodes[n].memos.remove(&job);
                self.nodes[n].jobs.remove(&job);
            }
            Effect::Connect { token, cluster } => self.connect(n, token, cluster),
            Effect::ShowLinks {
                token,
                lease,
                others,
            } => self.show_links(n, token, lease, &others),
            Effect::Relay { token, grant } => self.carry(n, token, grant),
            Effect::EndRelay { purse, carries } => {
                self.nodes[n].relayed.remove(&(purse, carries));
            }
            Effect::Disconnect(lease) => _ = self.nodes[n].clusters.remove(&lease),
            Effect::ReadOutput { token, .. } => self.answer(token, AgentReply::NotFound),
            other => self.perform_copy(n, other),
        }
    }

    /// What a job has kept by now.
    pub(crate) fn shown(&mut self, n: usize, job: &RunId) -> Manifest {
        let slept = self.nodes[n].jobs[job].slept(self.now);
        let manifest = manifest(slept);
        self.snapshots.insert(manifest.snapshot().manifest, slept);
        manifest
    }

    /// The values of a variable in all staged jobs.
    pub(crate) fn played_env(&self, name: &str) -> Vec<String> {
        let jobs = self.nodes.iter().flat_map(|node| node.jobs.values());
        let env = jobs.flat_map(|played| &played.spec.env);
        env.filter(|(key, _)| key == name)
            .map(|(_, value)| value.clone())
            .collect()
    }

    pub(crate) fn end_job(&mut self, n: usize, job: RunId, exit: JobExit) {
        let ended_ms = EPOCH_MS + self.now;
        let Some(played) = self.nodes[n].jobs.get_mut(&job) else {
            return;
        };
        if let Phase::Running { started_ms } = played.phase {
            let phase = Phase::Ended {
                exit,
                started_ms,
                ended_ms,
                cpu_ms: 1,
                rss_kib: 1,
            };
            played.phase = phase;
            self.input(n, 0, Input::JobPhase { job, phase });
        }
    }

    /// A played job prints its rank once it has ended by itself.
    pub(crate) fn report(&self, n: usize, poll: &PollJob, allowed: bool) -> JobReport {
        let played = self.nodes[n].jobs.get(&poll.job).filter(|_| allowed);
        let phase = played.map_or(Phase::Unknown, |p| p.phase);
        let done = matches!(
            phase,
            Phase::Ended {
                exit: JobExit::Code(0),
                ..
            }
        );
        let rank = |p: &Played| {
            p.spec
                .env
                .iter()
                .find(|(k, _)| k == "GRIDBAY_RANK")
                .map(|(_, v)| v.clone())
        };
        let text = played
            .filter(|_| done)
            .and_then(rank)
            .unwrap_or_default()
            .into_bytes();
        let rest = text.get(poll.stdout_from as usize..).unwrap_or_default();
        let stdout_len = poll.stdout_from + rest.len() as u64;
        let comes = if self.now < self.slow_until {
            0
        } else {
            rest.len()
        };
        let stdout = rest[..comes].to_vec();
        JobReport {
            job: poll.job,
            phase,
            stdout,
            stderr: vec![],
            stdout_len,
            stderr_len: 0,
            dropped: 0,
        }
    }
}

/// What came of a fetch of a run's checkpoint, from its seller's node or as a `copy`.
pub(crate) fn checkpointed(
    order: OrderKey,
    job: RunId,
    kept: Option<(Snapshot, u64)>,
    copy: bool,
) -> Input {
    Input::Checkpointed {
        order,
        job,
        kept,
        copy,
    }
}

/// Every member reaches every other at once.
fn reached(other: &Member) -> Reach {
    Reach {
        rank: other.ranks[0],
        way: Some(Way::Lan),
        reached_ms: Some(0),
        round_trip_us: None,
        mtu: None,
        handshake_ms: None,
        sent: 0,
        received: 0,
        probes: (0, 0),
    }
}
