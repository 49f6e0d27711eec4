//! Whom an owner admits to its clusters. Written down by the node, and told to every rank: again to
//! one that was started anew, which knows nobody but its owner.

use super::guests::GUESTS;
use super::types::{ClusterRecord, Guest};
use crate::api::types::JobId;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::rank::order::{Answer as Said, Command};
use crate::rank::signed::Signed;
use gridbay_protocol::keys::PublicKey;
use std::io;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

/// Time for a rank's answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks for ranks that were started anew.
const LOOK: Duration = Duration::from_secs(5);
/// Bytes of an answer at the most.
const ANSWER: usize = 4_096;

impl NodeBackend {
    /// Lets another key run programs on a cluster.
    pub(crate) async fn admit(&self, id: JobId, guest: Guest) -> Answer<ClusterRecord> {
        let cluster = self.cluster(id).await?;
        if !self.guests.admit(&cluster.id, guest)? {
            let why = format!("{GUESTS} keys are admitted already");
            return Err(ApiError::new(
                ErrorCode::Busy,
                why,
                "gridbay cluster dismiss",
            ));
        }
        self.tell_all(&cluster).await?;
        self.cluster(cluster.id).await
    }

    /// Lets a key do so no longer; its programs end.
    pub(crate) async fn dismiss(&self, id: JobId, guest: Guest) -> Answer<ClusterRecord> {
        let cluster = self.cluster(id).await?;
        self.guests.dismiss(&cluster.id, &guest.key)?;
        for rank in cluster.ranks.iter().filter(|rank| rank.running) {
            let order = Command::Dismiss { key: guest.key };
            self.instruct(&cluster, rank.rank, &order).await?;
        }
        self.cluster(cluster.id).await
    }

    /// Tells ranks that were started anew, until the node ends.
    pub async fn welcome(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            for id in self.guests.all() {
                match self.cluster(id.clone()).await {
                    Ok(cluster) if cluster.state.is_final() => self.guests.forget(&id),
                    Ok(cluster) => {
                        if let Err(error) = self.tell_all(&cluster).await {
                            tracing::debug!(%error, "a rank does not know all guests yet");
                        }
                    }
                    Err(error) => tracing::debug!(%error, "a cluster with guests is not seen"),
                }
            }
        }
    }

    async fn tell_all(&self, cluster: &ClusterRecord) -> Answer<()> {
        for rank in cluster.ranks.iter().filter(|rank| rank.running) {
            let at = (rank.rank, rank.attempt);
            if self.guests.was_told(&cluster.id, at) {
                continue;
            }
            for guest in self.guests.of(&cluster.id) {
                let name = guest.name.unwrap_or_else(|| short(&guest.key));
                let order = Command::Admit {
                    key: guest.key,
                    name,
                };
                self.instruct(cluster, rank.rank, &order).await?;
            }
            self.guests.tell(&cluster.id, at);
        }
        Ok(())
    }

    /// Gives a rank an order that is answered with a word.
    async fn instruct(&self, cluster: &ClusterRecord, rank: u32, order: &Command) -> Answer<()> {
        let failed = |why: &str| {
            ApiError::new(
                ErrorCode::Unreachable,
                format!("rank {rank} was not told: {why}"),
                "try again; see gridbay cluster show",
            )
        };
        let place = self.place(cluster.id.as_str(), rank).await?;
        let (mut to, hello) = self.reach(&place).await?;
        let said = timeout(PATIENCE, async {
            let order = serde_json::to_string(order)?;
            let signed = Signed::new(&place, &hello, order, &self.parts.account_key);
            let mut line = serde_json::to_vec(&signed)?;
            line.push(b'\n');
            to.write_all(&line).await?;
            let answer = super::way::line(&mut to, ANSWER).await?;
            Ok::<Said, io::Error>(serde_json::from_slice(&answer)?)
        });
        match said.await {
            Err(_) => Err(failed("no answer")),
            Ok(Err(error)) => Err(failed(&error.to_string())),
            Ok(Ok(Said::Done)) => Ok(()),
            Ok(Ok(Said::Refused(refusal))) => {
                let why = format!("rank {rank}: {}", refusal.why);
                Err(ApiError::new(
                    ErrorCode::Refused,
                    why,
                    "see gridbay cluster show",
                ))
            }
            Ok(Ok(_)) => Err(failed("an odd answer")),
        }
    }
}

/// The beginning of a key, for a name.
fn short(key: &PublicKey) -> String {
    key.to_string().chars().take(8).collect()
}
