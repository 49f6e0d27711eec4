//! The second copy of a checkpoint, between nodes: a seller offers it, its keeper pulls it, and the
//! buyer's node pulls it from there once the seller is silent.
//!
//! The core says which node may do what. Here bytes are moved, and checked as those of any
//! checkpoint ([`super::progress`]).

use super::ask::Asker;
use super::perform::disk;
use super::progress::{MAKING, PAUSE, Shelf, Source, needed};
use super::room::{Room, now_ms};
use super::{Body, BodyError};
use crate::store::checkpoints::CheckpointStore;
use crate::store::copies::{self, KEY};
use gridbay_core::agent::{AgentReply, AgentRequest, CHUNK_BYTES, Copy, RunId};
use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use gridbay_core::keeper::ranked;
use gridbay_core::key::OrderKey;
use gridbay_core::relay::Signed;
use gridbay_protocol::checkpoint::{Manifest, Snapshot};
use gridbay_protocol::ids::{ContentId, NetworkId};
use gridbay_protocol::keys::{PublicKey, SecretKey};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// How long a buyer's node looks for a copy: less than its task waits.
const SEEKING: Duration = Duration::from_secs(110);

/// What an offer of a copy takes.
pub(super) struct Offer {
    jobs: super::Jobs,
    asker: Asker,
    network: NetworkId,
    key: SecretKey,
    job: RunId,
    to: PublicKey,
}

impl Offer {
    /// Offers what a run has kept by now, as its buyer's node would be told of it.
    pub(super) async fn send(self, kept: &AgentReply) {
        let AgentReply::Checkpoint { manifest, age_ms } = kept else {
            return;
        };
        let Some(found) = Manifest::decode(manifest) else {
            return;
        };
        let (jobs, bytes) = (self.jobs, manifest.clone());
        let (job, snapshot) = (self.job, found.snapshot());
        let shown = tokio::task::spawn_blocking(move || {
            jobs.show_manifest(&job, &snapshot.manifest, &bytes)
        });
        if !matches!(shown.await, Ok(Ok(()))) {
            return tracing::warn!(%job, "a checkpoint's manifest cannot be shown to its keeper");
        }
        let copy = Copy {
            job,
            snapshot,
            taken_ms: now_ms().saturating_sub(*age_ms),
        };
        let signed = Signed::new(&self.network, copy, &self.key);
        let request = AgentRequest::Keep(Box::new(signed));
        if let Some(AgentReply::NotKept(why)) = self.asker.ask(&self.to, &request).await {
            tracing::debug!(%job, keeper = %self.to, %why, "no second copy");
        }
    }
}

/// Asks all keepers at once for the copy of a run of a seller's node.
async fn ask_all(
    asker: &Asker,
    keepers: Vec<PublicKey>,
    (job, seller): (RunId, PublicKey),
) -> Vec<(PublicKey, Option<AgentReply>)> {
    let mut asked = tokio::task::JoinSet::new();
    for keeper in keepers {
        let asker = asker.clone();
        asked.spawn(async move {
            let question = AgentRequest::CopyOf { job, seller };
            (keeper, asker.ask(&keeper, &question).await)
        });
    }
    asked.join_all().await
}

/// Pulls the newest of the copies that comes as a whole.
async fn pull_newest(
    asker: &Asker,
    shelf: &Shelf<'_>,
    seller: PublicKey,
    found: Vec<(Copy, PublicKey)>,
    until: Instant,
) -> Option<Copy> {
    let pull = move |(copy, from): (Copy, PublicKey)| async move {
        let job = copy.job;
        let source = Source {
            asker,
            from: &from,
            job,
            seller: Some(seller),
        };
        match shelf.pull_known(&source, &copy.snapshot).await {
            Ok(()) => Some(copy),
            Err(error) => {
                tracing::warn!(%job, keeper = %from, %error, "a copy is of no use");
                None
            }
        }
    };
    first(found, until, pull).await
}

/// The first that comes. Each in turn has an equal part of the time that is left, so that a slow
/// one leaves some for the next.
async fn first<T, R, F: Future<Output = Option<R>>>(
    all: Vec<T>,
    until: Instant,
    pull: impl Fn(T) -> F,
) -> Option<R> {
    for (ahead, one) in (1..=all.len() as u32).rev().zip(all) {
        let left = until.saturating_duration_since(Instant::now());
        match timeout(left / ahead, pull(one)).await {
            Ok(Some(come)) => return Some(come),
            Ok(None) => {}
            Err(_late) => tracing::warn!("a copy takes more than its part of the time"),
        }
    }
    None
}

impl Body {
    pub(super) fn for_copy(&mut self, effect: Effect) -> Result<(), BodyError> {
        match effect {
            Effect::ShowCheckpoint {
                token,
                job,
                folder,
                keeper,
            } => self.show_checkpoint(token, job, folder, keeper),
            Effect::ReadKept {
                token,
                job,
                content,
                from,
            } => self.read_kept(token, job, content, from),
            Effect::OfferCopy { job, folder, to } => self.offer_copy(job, folder, to),
            Effect::PullCopy {
                slot,
                job,
                snapshot,
                from,
            } => self.pull_copy(slot, job, snapshot, from),
            Effect::KeepCopy { slot, keep } => {
                let needed = needed(&self.tools.copies, keep);
                let kept = self.tools.copies.keep(&KEY, slot, &needed);
                kept.map_err(disk("a copy of a checkpoint"))?;
            }
            Effect::ReadCopy {
                token,
                slot,
                content,
                from,
            } => self.read_copy(token, slot, content, from),
            Effect::SaveCopies(bytes) => {
                let saved = copies::save(self.tools.room.home(), &bytes);
                saved.map_err(disk("which copies of checkpoints are kept"))?;
            }
            // The others are no copies, see `perform`.
            _ => {}
        }
        Ok(())
    }

    /// An offer to a keeper.
    pub(super) fn offer(&self, job: RunId, to: PublicKey) -> Offer {
        Offer {
            jobs: self.tools.jobs.clone(),
            asker: Asker::new(self.tools.overlay.clone()),
            network: self.core().state().network(),
            key: self.tools.transport.clone(),
            job,
            to,
        }
    }

    fn offer_copy(&mut self, job: RunId, folder: String, to: PublicKey) {
        let offer = self.offer(job, to);
        let (jobs, room) = (self.tools.jobs.clone(), self.tools.room.clone());
        let most = self.unit_bytes(&job);
        self.spawn(async move {
            let begin = Instant::now();
            loop {
                let kept = jobs.checkpoint(job, folder.clone(), most, room.clone());
                match kept.await {
                    // It is being made.
                    AgentReply::Ok if begin.elapsed() < MAKING => sleep(PAUSE).await,
                    kept => return offer.send(&kept).await,
                }
            }
        });
    }

    fn pull_copy(&mut self, slot: u32, job: RunId, snapshot: Snapshot, from: PublicKey) {
        let asker = Asker::new(self.tools.overlay.clone());
        let (store, room) = (self.tools.copies.clone(), self.tools.room.clone());
        let handle = self.handle.clone();
        self.spawn(async move {
            let (asker, from) = (&asker, &from);
            let source = Source {
                asker,
                from,
                job,
                seller: None,
            };
            let shelf = shelf(&store, KEY, slot, &room);
            let pulled = shelf.pull_known(&source, &snapshot).await;
            let pulled = pulled.inspect_err(|error| tracing::info!(%job, %error, "no second copy"));
            let whole = pulled.is_ok();
            handle.deliver(Input::Pulled { slot, whole }).await;
        });
    }

    fn read_copy(&mut self, token: u64, slot: u32, content: ContentId, from: u64) {
        let store = self.tools.copies.clone();
        self.answer_with_chunk(token, move || {
            store.chunk_of(&KEY, slot, &content, from, CHUNK_BYTES)
        });
    }

    /// Looks for the copy of a run whose seller's node, `seller`, says nothing more.
    pub(super) fn fetch_copy(
        &mut self,
        order: OrderKey,
        (job, seller): (RunId, PublicKey),
        keepers: Vec<PublicKey>,
        newer_than: Option<u64>,
    ) {
        let most = self.checkpoint_bytes(&order);
        let network = self.core().state().network();
        let asker = Asker::new(self.tools.overlay.clone());
        let (store, room) = (self.tools.checkpoints.clone(), self.tools.room.clone());
        let handle = self.handle.clone();
        self.spawn(async move {
            let (asked_ms, until) = (now_ms(), Instant::now() + SEEKING);
            let shelf = shelf(&store, order, job.task, &room);
            let seeking = async {
                let replies = ask_all(&asker, keepers, (job, seller)).await;
                let bounds = (newer_than, most);
                let found = ranked(&network, (&seller, &job), bounds, replies);
                pull_newest(&asker, &shelf, seller, found, until).await
            };
            let found = timeout_at(until, seeking).await.ok().flatten();
            let age = |copy: Copy| (copy.snapshot, asked_ms.saturating_sub(copy.taken_ms));
            let kept = found.map(age);
            tracing::info!(%job, found = kept.is_some(), "looked for a second copy");
            let looked = Input::Checkpointed {
                order,
                job,
                kept,
                copy: true,
            };
            handle.deliver(looked).await;
        });
    }
}

fn shelf<'a>(store: &'a CheckpointStore, order: OrderKey, task: u32, room: &'a Room) -> Shelf<'a> {
    Shelf {
        store,
        order,
        task,
        room,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;

    #[tokio::test]
    async fn a_copy_that_never_comes_leaves_time_for_the_next() {
        let until = Instant::now() + Duration::from_millis(200);
        let pull = |n: u32| async move {
            match n {
                0 => pending::<Option<u32>>().await,
                1 => None,
                n => Some(n),
            }
        };
        let found = first(vec![0, 1, 2, 3], until, pull);
        // The time bounds a failure alone.
        let found = timeout(Duration::from_secs(60), found).await;
        assert_eq!(found, Ok(Some(2)));
        assert_eq!(first(vec![1, 1], until, pull).await, None);
        assert_eq!(first(Vec::new(), until, pull).await, None);
    }
}
