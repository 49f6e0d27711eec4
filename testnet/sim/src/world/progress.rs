//! Jobs that keep their progress: a checkpoint is the time that all attempts have slept.

use super::World;
use crate::clock::EPOCH_MS;
use gridbay_core::agent::{AgentReply, Phase, RunId};
use gridbay_core::input::Input;
use gridbay_core::key::OrderKey;
use gridbay_protocol::checkpoint::{Manifest, Snapshot};
use gridbay_protocol::codec;
use gridbay_protocol::ids::ContentId;
use gridbay_protocol::job::{InputFile, content_id};
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeMap;

/// A checkpoint that a machine showed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    /// The run that had made it.
    pub(crate) job: RunId,
    /// Milliseconds slept.
    slept_ms: u64,
}

/// All that were shown, by their manifests.
pub(crate) type Shows = BTreeMap<ContentId, Shown>;

fn manifest(job: &RunId, slept_ms: u64) -> Manifest {
    let text = format!("{job} {slept_ms}");
    Manifest {
        files: vec![InputFile {
            path: "slept".to_owned(),
            content: content_id(text.as_bytes()),
            bytes: text.len() as u64,
            executable: false,
        }],
    }
}

impl World {
    pub(super) fn show_checkpoint(&mut self, n: usize, job: &RunId) -> AgentReply {
        let Some(played) = self.machines[n].shelf.jobs.get(job) else {
            return AgentReply::NotFound;
        };
        let here = match played.phase {
            Phase::Running { started_ms } => (EPOCH_MS + self.now).saturating_sub(started_ms),
            Phase::Ended {
                started_ms,
                ended_ms,
                ..
            } => ended_ms.saturating_sub(started_ms),
            _ => return AgentReply::NotFound,
        };
        let slept_ms = played.slept_ms + here;
        let manifest = manifest(job, slept_ms);
        let id = manifest.snapshot().manifest;
        self.shows.insert(
            id,
            Shown {
                job: *job,
                slept_ms,
            },
        );
        AgentReply::Checkpoint {
            manifest: codec::encode(&manifest),
            age_ms: 0,
        }
    }

    /// What a buyer's body tells its core of an answer; a checkpoint in order is on its disk then.
    pub(super) fn checkpointed(
        &mut self,
        n: usize,
        order: OrderKey,
        job: RunId,
        reply: Option<AgentReply>,
    ) -> Input {
        let kept = match reply {
            Some(AgentReply::Checkpoint { manifest, age_ms }) => {
                Manifest::decode(&manifest).map(|found| (found.snapshot(), age_ms))
            }
            _ => None,
        };
        if let Some((snapshot, _)) = kept {
            let held = &mut self.machines[n].shelf.checkpoints;
            let held = held.entry((order, job.task)).or_default();
            held.insert(snapshot.manifest);
        }
        Input::Checkpointed {
            order,
            job,
            kept,
            copy: false,
        }
    }

    /// The time slept that a checkpoint of a buyer's node holds; `None` if it is not to be had
    /// there.
    pub(super) fn slept(&self, buyer: &PublicKey, resume: Option<&Snapshot>) -> Option<u64> {
        let Some(resume) = resume else {
            return Some(0);
        };
        let buyer = self.node_of(buyer.as_bytes())?;
        let mut held = self.machines[buyer].shelf.checkpoints.values();
        let there = held.any(|ids| ids.contains(&resume.manifest));
        let shown = self.shows.get(&resume.manifest).filter(|_| there)?;
        Some(shown.slept_ms)
    }
}
