//! Whom an owner admits to its clusters. Written down by the node, and told to every rank: again to
//! one that was started anew, which knows nobody but its owner.

use super::types::{ClusterRecord, Guest};
use crate::api::types::JobId;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::backend::failure::disk;
use crate::rank::order::{Answer as Said, Command};
use crate::rank::signed::Signed;
use crate::store::replace_file;
use gridbay_protocol::keys::PublicKey;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

/// Keys of one cluster at the most, as its ranks have it.
const GUESTS: usize = 64;
/// Time for a rank's answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks for ranks that were started anew.
const LOOK: Duration = Duration::from_secs(5);
/// Bytes of an answer at the most.
const ANSWER: usize = 4_096;

/// The guests of all clusters.
pub(crate) struct Guests {
    path: PathBuf,
    all: Mutex<BTreeMap<JobId, House>>,
}

/// Those of one, and the attempts of ranks that were told of them.
#[derive(Default, Serialize, Deserialize)]
struct House {
    keys: BTreeMap<PublicKey, Option<String>>,
    #[serde(skip)]
    told: BTreeSet<(u32, u32)>,
}

impl Guests {
    /// Those of a file; none if there is no file, or none that makes sense.
    pub(crate) fn open(path: PathBuf) -> Guests {
        let read = std::fs::read(&path).ok();
        let all = read.and_then(|bytes| match serde_json::from_slice(&bytes) {
            Ok(all) => Some(all),
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "guests that make no sense");
                None
            }
        });
        Guests {
            path,
            all: Mutex::new(all.unwrap_or_default()),
        }
    }

    /// Changes the guests of a cluster; on disk before this returns.
    fn change<T>(&self, cluster: &JobId, how: impl FnOnce(&mut House) -> T) -> Answer<T> {
        let mut all = self.lock();
        let changed = how(all.entry(cluster.clone()).or_default());
        all.retain(|_, house| !house.keys.is_empty());
        let written = serde_json::to_vec(&*all).map_err(io::Error::from);
        let written = written.and_then(|bytes| replace_file(&self.path, &bytes));
        written.map_err(|error| disk("writing guests", &error))?;
        Ok(changed)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<JobId, House>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn of(&self, cluster: &JobId) -> Vec<Guest> {
        let all = self.lock();
        let keys = all.get(cluster).into_iter().flat_map(|house| &house.keys);
        let guest = |(key, name): (&PublicKey, &Option<String>)| Guest {
            key: *key,
            name: name.clone(),
        };
        keys.map(guest).collect()
    }

    pub(super) fn forget(&self, cluster: &JobId) {
        if self.lock().contains_key(cluster)
            && let Err(error) = self.change(cluster, |house| house.keys.clear())
        {
            tracing::warn!(%error, "guests of a cluster that is over are not forgotten");
        }
    }

    fn all(&self) -> Vec<JobId> {
        self.lock().keys().cloned().collect()
    }

    fn was_told(&self, cluster: &JobId, rank: (u32, u32)) -> bool {
        let all = self.lock();
        all.get(cluster)
            .is_none_or(|house| house.told.contains(&rank))
    }

    fn tell(&self, cluster: &JobId, rank: (u32, u32)) {
        if let Some(house) = self.lock().get_mut(cluster) {
            house.told.insert(rank);
        }
    }
}

impl NodeBackend {
    /// Lets another key run programs on a cluster.
    pub(crate) async fn admit(&self, id: JobId, guest: Guest) -> Answer<ClusterRecord> {
        let cluster = self.cluster(id).await?;
        let room = self.guests.change(&cluster.id, |house| {
            let room = house.keys.len() < GUESTS || house.keys.contains_key(&guest.key);
            if room {
                house.keys.insert(guest.key, guest.name);
                house.told.clear();
            }
            room
        });
        if !room? {
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
        self.guests
            .change(&cluster.id, |house| house.keys.remove(&guest.key))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::SecretKey;

    #[test]
    fn guests_are_still_known_after_a_restart_and_forgotten_with_their_cluster() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("guests.json");
        let (cluster, key) = (
            JobId::from_bytes([1; 8]),
            SecretKey::from_seed(&[2; 32]).public(),
        );
        let guests = Guests::open(path.clone());
        let admit = |house: &mut House| house.keys.insert(key, Some("bea".to_owned()));
        guests.change(&cluster, admit).unwrap();
        guests.tell(&cluster, (0, 0));
        assert!(guests.was_told(&cluster, (0, 0)) && !guests.was_told(&cluster, (0, 1)));
        let again = Guests::open(path.clone());
        assert_eq!(again.of(&cluster), guests.of(&cluster));
        assert!(
            !again.was_told(&cluster, (0, 0)),
            "the node was started anew as well"
        );
        again.forget(&cluster);
        assert!(Guests::open(path.clone()).all().is_empty());
        std::fs::write(&path, "nonsense").unwrap();
        assert!(Guests::open(path).all().is_empty());
    }
}
