//! A node that its owner controls from another node of theirs, over the overlay, by key.
//!
//! 1. The owner is a key: the setting `owner.key`. Without it nobody controls the node from afar.
//! 2. Questions of other nodes come by `queue` and are judged (`judge`), whatever state the node
//!    is in. Who may order what, and how often, is decided there.
//! 3. Status, earnings, drain, resume and log are the node's own to carry out (`desk`), and so is
//!    what moves money to the owner (`money`).
//! 4. Settings of what is sold, and a reset, are for the agent of an appliance, which runs beside
//!    the node as another user. The node writes them to `owner.json` in its data folder, whole, and
//!    the agent reads that file as it reads anything of a stranger's. Where no agent tells its
//!    status, a setting is refused.
//! 5. That a node drains by its owner's order is in that file too: it drains again when it starts.
//!    What an earlier owner told does not count.
//! 6. An update is pulled from the node that orders it (`incoming`), which lets this node alone
//!    have it, for some hours ([`crate::store::granted`]).
//! 7. The owner's node keeps names for the nodes that it owns (`book`), signs orders by the key of
//!    its account ([`gridbay_core::steer`]) and sends them (`handle`).

mod agent;
mod book;
mod desired;
mod desk;
mod handle;
mod incoming;
mod judge;
pub(crate) mod limits;
mod money;
pub(crate) mod recent;
pub(crate) mod routes;
pub(crate) mod types;

pub(crate) use desk::attend;

use crate::config::OwnerConfig;
use crate::keys::random;
use book::Book;
use gridbay_core::steer::signed::Place;
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::keys::PublicKey;
use incoming::Incoming;
use judge::{Judge, Kind, Verdict};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::mpsc;
use types::Desired;

/// Name of the file with the names of own nodes, in the data folder.
const APPLIANCES: &str = "appliances.json";
/// Name of the file with what the owner told this node.
const DESIRED: &str = "owner.json";

/// A question of another node that waits to be judged.
#[derive(Debug)]
pub(crate) struct Asked {
    /// Who asks.
    pub(crate) from: PublicKey,
    /// For the answer.
    pub(crate) request: crate::overlay::RequestId,
    /// The question.
    pub(crate) bytes: Vec<u8>,
}

/// The way of questions from the overlay to [`attend`].
pub(crate) fn queue() -> (mpsc::Sender<Asked>, mpsc::Receiver<Asked>) {
    mpsc::channel(limits::WAITING)
}

/// What a node has for its owner, and for the nodes that its user owns.
pub struct Owner {
    /// Where an agent tells its status.
    agent: PathBuf,
    /// The owner's key, if there is an owner.
    key: Option<PublicKey>,
    /// The file of [`Desired`].
    path: PathBuf,
    desired: Mutex<Desired>,
    judge: Mutex<Judge>,
    counts: Mutex<BTreeMap<Kind, u64>>,
    began: Instant,
    book: Book,
    incoming: Incoming,
}

impl Owner {
    /// Of a node with such a data folder.
    ///
    /// # Errors
    /// If a file in the data folder cannot be read, or there is no randomness.
    pub fn open(
        folder: &Path,
        (network, node): (NetworkId, PublicKey),
        config: &OwnerConfig,
    ) -> io::Result<Owner> {
        let path = folder.join(DESIRED);
        let secret = random().map_err(io::Error::other)?;
        let place = Place { network, node };
        let owner = config.key.map(|key| key.to_hex()).unwrap_or_default();
        let told = match book::read::<Desired>(&path) {
            // Nobody could mend it from afar if the node did not start.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                tracing::error!(%error, "what the owner told cannot be read, and counts no more");
                None
            }
            told => told?,
        };
        let desired = told.filter(|told| told.owner == owner);
        Ok(Owner {
            agent: config.agent.clone(),
            key: config.key,
            desired: Mutex::new(desired.unwrap_or(Desired {
                owner,
                ..Desired::default()
            })),
            path,
            judge: Mutex::new(Judge::new(config.key, place, secret)),
            counts: Mutex::default(),
            began: Instant::now(),
            book: Book::open(folder.join(APPLIANCES))?,
            incoming: Incoming::open(folder)?,
        })
    }

    /// Judges a question, and counts it.
    fn judge(&self, from: &PublicKey, bytes: &[u8]) -> Verdict {
        let now = self.began.elapsed();
        let verdict = lock(&self.judge).judge(from, bytes, now);
        let mut counts = lock(&self.counts);
        let count = counts.entry(verdict.kind()).or_default();
        *count = count.saturating_add(1);
        verdict
    }

    /// What the owner told this node.
    fn desired(&self) -> Desired {
        lock(&self.desired).clone()
    }

    /// Changes what the owner told; on disk before this returns.
    fn change<E: From<io::Error>>(
        &self,
        how: impl FnOnce(&Desired) -> Result<Desired, E>,
    ) -> Result<Desired, E> {
        let mut desired = lock(&self.desired);
        let after = how(&desired)?;
        if after != *desired {
            book::write(&self.path, &after)?;
            *desired = after.clone();
        }
        Ok(after)
    }

    /// Questions by what became of them.
    pub(crate) fn counts(&self) -> Vec<(&'static str, u64)> {
        let counts = lock(&self.counts);
        let of = |kind: Kind| (kind.name(), counts.get(&kind).copied().unwrap_or(0));
        Kind::ALL.into_iter().map(of).collect()
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::keys::SecretKey;

    fn key(n: u8) -> PublicKey {
        SecretKey::from_seed(&[n; 32]).public()
    }

    #[test]
    fn what_an_owner_told_survives_a_restart_and_ends_with_the_owner() {
        let dir = tempfile::tempdir().unwrap();
        let open = |owner: Option<u8>| {
            let config = OwnerConfig {
                key: owner.map(key),
                agent: "none".into(),
            };
            let place = (NetworkId([1; 32]), key(9));
            Owner::open(dir.path(), place, &config).unwrap()
        };
        let first = open(Some(1));
        let told = first.change(|desired| Ok::<_, io::Error>(desired.draining(true)));
        assert!(told.unwrap().drain);
        assert_eq!(open(Some(1)).desired(), first.desired());
        for other in [open(Some(2)), open(None)] {
            assert_eq!((other.desired().drain, other.desired().count), (false, 0));
        }
        // As a later version, or a damaged disk, leaves it.
        let text = std::fs::read_to_string(dir.path().join(DESIRED)).unwrap();
        let later = text.replacen('{', "{\"later\": 1,", 1);
        std::fs::write(dir.path().join(DESIRED), later).unwrap();
        assert!(open(Some(1)).desired().drain);
        std::fs::write(dir.path().join(DESIRED), "{\"owner\":").unwrap();
        assert_eq!(open(Some(1)).desired().count, 0);
    }
}
