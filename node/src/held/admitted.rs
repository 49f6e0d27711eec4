//! Whom an owner admits to its clusters. Written down by the node, and told to every rank: again to
//! one that was started anew, which knows nobody but its owner.

use super::guests::{GUESTS, News};
use super::types::{ClusterRecord, Guest};
use crate::api::types::JobId;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::rank::order::{Answer as Said, Command, NO_NAME, is_name};
use crate::rank::signed::Signed;
use futures::future::join_all;
use gridbay_core::input::Command as Order;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeSet;
use std::io;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

/// Time for a rank's answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time for all that a rank is told: one that is slow on purpose keeps a dismissal from the others
/// no longer.
const A_RANK: Duration = Duration::from_secs(20);
/// Between two looks for ranks that were started anew.
const LOOK: Duration = Duration::from_secs(5);
/// Ranks that are told at once.
const AT_ONCE: usize = 32;
/// Bytes of an answer at the most.
const ANSWER: usize = 4_096;

impl NodeBackend {
    /// Lets another key run programs on a cluster.
    pub(crate) async fn admit(&self, id: JobId, guest: Guest) -> Answer<ClusterRecord> {
        // Ranks would refuse it, and with it all that they are told after.
        if guest.name.as_deref().is_some_and(|name| !is_name(name)) {
            return Err(ApiError::new(ErrorCode::Usage, NO_NAME, "name another"));
        }
        let cluster = self.cluster(id).await?;
        if !self.guests.admit(&cluster.id, guest)? {
            let why = format!("{GUESTS} keys are admitted already");
            return Err(ApiError::new(
                ErrorCode::Busy,
                why,
                "gridbay cluster dismiss",
            ));
        }
        self.open_to_guests(&cluster.id).await?;
        self.tell_all(&cluster).await?;
        self.cluster(cluster.id).await
    }

    /// Whose nodes may come into the cluster's network.
    async fn open_to_guests(&self, id: &JobId) -> Answer<()> {
        let guests = self.guests.of(id).into_iter();
        let keys = guests.map(|guest| guest.key).collect();
        let text = id.clone();
        let found =
            self.query(move |core| crate::job::handle::find(core, &text).map(|(key, _)| key));
        self.command(Order::Admit(found.await??, keys)).await?;
        Ok(())
    }

    /// Lets a key do so no longer; its programs end.
    pub(crate) async fn dismiss(&self, id: JobId, guest: Guest) -> Answer<ClusterRecord> {
        let cluster = self.cluster(id).await?;
        self.guests.dismiss(&cluster.id, &guest.key)?;
        self.open_to_guests(&cluster.id).await?;
        self.tell_all(&cluster).await?;
        self.cluster(cluster.id).await
    }

    /// Tells ranks that were started anew, until the node ends.
    pub async fn welcome(&self) {
        let mut open = BTreeSet::new();
        loop {
            tokio::time::sleep(LOOK).await;
            open.retain(|id| self.guests.all().contains(id));
            for id in self.guests.all() {
                match self.cluster(id.clone()).await {
                    Ok(cluster) if cluster.state.is_final() => self.guests.forget(&id),
                    Ok(cluster) => {
                        // After a restart of the node its core knows of no guests.
                        if !open.contains(&id) && self.open_to_guests(&id).await.is_ok() {
                            open.insert(id);
                        }
                        if let Err(error) = self.tell_all(&cluster).await {
                            tracing::debug!(%error, "a rank does not know all guests yet");
                        }
                    }
                    Err(error) if error.code == ErrorCode::NotFound => self.guests.forget(&id),
                    Err(error) => tracing::debug!(%error, "a cluster with guests is not seen"),
                }
            }
        }
    }

    /// Tells all ranks that run, also where some are not reached: those are named by the error, and
    /// told later.
    async fn tell_all(&self, cluster: &ClusterRecord) -> Answer<()> {
        let turn = self.guests.turn(&cluster.id);
        let _held = turn.lock().await;
        let news = self.guests.news(&cluster.id);
        let mut untold = Vec::new();
        let ranks: Vec<_> = cluster.ranks.iter().filter(|rank| rank.running).collect();
        for some in ranks.chunks(AT_ONCE) {
            let told = some.iter().map(|rank| async {
                let told = self.tell(cluster, (rank.rank, rank.attempt), &news);
                let told = timeout(A_RANK, told).await;
                let told = told.unwrap_or_else(|_| Err(not_told(rank.rank, "it is slow")));
                told.err().map(|error| (rank.rank, error))
            });
            untold.extend(join_all(told).await.into_iter().flatten());
        }
        let ranks: Vec<String> = untold.iter().map(|(rank, _)| rank.to_string()).collect();
        match untold.into_iter().next() {
            None => self.guests.tell_all(&cluster.id, &news),
            Some((_, error)) => {
                let why = format!("of ranks {}: {}", ranks.join(", "), error.message);
                Err(ApiError::new(error.code, why, error.hint))
            }
        }
    }

    /// Tells a rank whom to know and whom not, unless it was told.
    async fn tell(&self, cluster: &ClusterRecord, at: (u32, u32), news: &News) -> Answer<()> {
        if self.guests.was_told(&cluster.id, at) {
            return Ok(());
        }
        for key in &news.gone {
            let order = Command::Dismiss { key: *key };
            self.instruct(cluster, at.0, &order).await?;
        }
        for guest in &news.guests {
            let order = Command::Admit {
                key: guest.key,
                name: guest.name.clone().unwrap_or_else(|| short(&guest.key)),
            };
            self.instruct(cluster, at.0, &order).await?;
        }
        self.guests.tell(&cluster.id, at, news);
        Ok(())
    }

    /// Gives a rank an order that is answered with a word.
    async fn instruct(&self, cluster: &ClusterRecord, rank: u32, order: &Command) -> Answer<()> {
        let failed = |why: &str| not_told(rank, why);
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

fn not_told(rank: u32, why: &str) -> ApiError {
    ApiError::new(
        ErrorCode::Unreachable,
        format!("rank {rank} was not told: {why}"),
        "try again; see gridbay cluster show",
    )
}

/// The beginning of a key, for a name.
fn short(key: &PublicKey) -> String {
    key.to_string().chars().take(8).collect()
}
