//! Copies of the checkpoints of local jobs, made when their buyer's node asks.
//!
//! One copy of a job is made at a time. It may take longer than an answer may: then the asker is
//! told to ask again.

use super::jobs::{Jobs, local};
use super::making::Made;
use super::room::{Room, now_ms};
use crate::store::content::read_chunk;
use crate::store::snapshot::{self, SnapshotError};
use gridbay_core::agent::{AgentReply, Phase, RunId};
use gridbay_protocol::checkpoint::Checkpoint;
use gridbay_protocol::codec;
use gridbay_protocol::ids::ContentId;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How long an answer waits for the copy.
const WAIT: Duration = Duration::from_secs(3);
/// How often it is looked whether it is there.
const LOOK: Duration = Duration::from_millis(10);

impl Jobs {
    /// The grace of a job that keeps its progress: what it declares, as far as the owner grants it.
    pub fn grace(&self, keeps: &Checkpoint) -> Duration {
        let declared = Duration::from_secs(u64::from(keeps.grace_seconds));
        declared.min(self.longest_grace)
    }

    /// Answers with the checkpoint of a job as it is now, if it has at most `most` bytes.
    pub async fn checkpoint(
        &self,
        job: RunId,
        folder: String,
        most: u64,
        room: Room,
    ) -> AgentReply {
        let ended_ms = match self.phase(&job) {
            Phase::Ended { ended_ms, .. } => Some(ended_ms),
            _ => None,
        };
        if self.making.begin(job, now_ms(), ended_ms) {
            let jobs = self.clone();
            tokio::task::spawn_blocking(move || {
                let (work, kept) = (jobs.executor.work(&local(&job)), jobs.kept(&job));
                let fits = |bytes| room.takes(bytes);
                let made = snapshot::take(&work, &folder, &kept, most, fits);
                jobs.making.end(job, made, now_ms());
            });
        }
        let begin = tokio::time::Instant::now();
        while begin.elapsed() < WAIT {
            if let Some(made) = self.making.take(&job) {
                return told(&job, made);
            }
            tokio::time::sleep(LOOK).await;
        }
        AgentReply::Ok
    }

    /// A chunk of a file of the checkpoint that was told last.
    pub fn kept_chunk(
        &self,
        job: &RunId,
        content: &ContentId,
        from: u64,
        most: usize,
    ) -> Option<(u64, Vec<u8>)> {
        read_chunk(&self.kept(job), Path::new(&content.to_hex()), from, most).ok()
    }

    /// Puts the manifest of the checkpoint that was told last beside its files, for its keeper: the
    /// next copy removes it.
    pub fn show_manifest(
        &self,
        job: &RunId,
        id: &ContentId,
        manifest: &[u8],
    ) -> std::io::Result<()> {
        std::fs::write(self.kept(job).join(id.to_hex()), manifest)
    }

    fn kept(&self, job: &RunId) -> std::path::PathBuf {
        self.executor.kept(&local(job))
    }
}

fn told(job: &RunId, made: Made) -> AgentReply {
    match made {
        Ok(taken) => {
            let age = SystemTime::now().duration_since(taken.written);
            let age_ms = age.unwrap_or_default().as_millis();
            AgentReply::Checkpoint {
                manifest: codec::encode(&taken.manifest),
                age_ms: u64::try_from(age_ms).unwrap_or(u64::MAX),
            }
        }
        Err(SnapshotError::Nothing) => AgentReply::NotFound,
        Err(error) => {
            tracing::warn!(%job, %error, "no checkpoint");
            AgentReply::NotFound
        }
    }
}
