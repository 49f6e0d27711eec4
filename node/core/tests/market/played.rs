//! Jobs as a world plays them: `sleep N` is their only program.

use crate::world::{EPOCH_MS, Event, World};
use gridbay_core::agent::{AgentReply, JobReport, Phase, PollJob, RunId};
use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use gridbay_protocol::job::{JobExit, JobSpec};

#[derive(Clone)]
pub(crate) struct Played {
    pub(crate) spec: JobSpec,
    pub(crate) phase: Phase,
}

impl World {
    pub(crate) fn perform_job(&mut self, n: usize, effect: Effect) {
        match effect {
            Effect::Stage {
                job, spec, memo, ..
            } => {
                self.nodes[n].memos.insert(job, memo);
                self.nodes[n].jobs.insert(
                    job,
                    Played {
                        spec,
                        phase: Phase::Staging,
                    },
                );
                self.input(n, 1, Input::Staged { job, ok: true });
            }
            Effect::StartJob { job, spec, .. } => {
                let phase = Phase::Running {
                    started_ms: EPOCH_MS + self.now,
                };
                self.nodes[n].jobs.insert(
                    job,
                    Played {
                        spec: spec.clone(),
                        phase,
                    },
                );
                self.input(n, 0, Input::JobPhase { job, phase });
                // `sleep N` is the only program of this world.
                let seconds: u64 = spec.argv[1].parse().expect("sleep N");
                self.at(seconds * 1_000, Event::JobEnds(n, job));
            }
            Effect::StopJob(job) => self.end_job(n, job, JobExit::Stopped),
            Effect::RemoveJob(job) => {
                self.nodes[n].memos.remove(&job);
                self.nodes[n].jobs.remove(&job);
            }
            Effect::Connect { token, cluster } => {
                self.connects += 1;
                self.nodes[n].clusters.insert(cluster.lease, cluster);
                let reply = AgentReply::Card(self.card(n));
                if let Some(token) = token {
                    self.answer(token, reply);
                }
            }
            Effect::Disconnect(lease) => _ = self.nodes[n].clusters.remove(&lease),
            Effect::ReadOutput { token, .. } => self.answer(token, AgentReply::NotFound),
            _ => {}
        }
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
        let stdout = text
            .get(poll.stdout_from as usize..)
            .unwrap_or_default()
            .to_vec();
        let stdout_len = poll.stdout_from + stdout.len() as u64;
        JobReport {
            job: poll.job,
            phase,
            stdout,
            stderr: vec![],
            stdout_len,
            stderr_len: 0,
        }
    }
}
