//! Progress that survives, between nodes: a seller shows and gives a job's checkpoint, the buyer
//! pulls it, and the seller of the next attempt pulls it from the buyer.
//!
//! All that comes is hostile. The one who pulls bounds it, checks its hashes, and takes it as a
//! whole or not at all.

use super::ask::Asker;
use super::files::{self, FetchError, ORDER_FILE_BYTES, Sink};
use super::perform::disk;
use super::room::Room;
use super::{Body, BodyError};
use crate::store::checkpoints::CheckpointStore;
use gridbay_core::agent::{AgentReply, AgentRequest, CHUNK_BYTES, RunId};
use gridbay_core::input::Input;
use gridbay_core::key::OrderKey;
use gridbay_protocol::checkpoint::{CHECKPOINT_BYTES, MANIFEST_BYTES, Manifest, Snapshot};
use gridbay_protocol::codec;
use gridbay_protocol::ids::ContentId;
use gridbay_protocol::job::{ContentHasher, InputFile, content_id};
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;

/// How long a seller may take to copy a checkpoint.
pub(super) const MAKING: Duration = Duration::from_secs(120);
/// Pause between two questions whether it has.
pub(super) const PAUSE: Duration = Duration::from_millis(200);

/// Bytes that a checkpoint of one of an order's tasks may have: no more than any may, than each
/// task of its order may, and than its unit can hold beside the inputs.
fn most_bytes(of_unit: u64, inputs: u64, tasks: u32) -> u64 {
    let of_task = ORDER_FILE_BYTES / u64::from(tasks.max(1));
    let beside = of_unit.saturating_sub(inputs);
    CHECKPOINT_BYTES.min(of_task).min(beside)
}

/// A file that is being written. It goes with this, also if the pull is broken off; once it was
/// adopted it has another name, and nothing has this one.
struct Fresh(PathBuf);

impl Drop for Fresh {
    fn drop(&mut self) {
        let _none = fs::remove_file(&self.0);
    }
}

/// Where a pulled checkpoint goes.
pub(super) struct Shelf<'a> {
    pub(super) store: &'a CheckpointStore,
    pub(super) order: OrderKey,
    pub(super) task: u32,
    pub(super) room: &'a Room,
}

impl Shelf<'_> {
    fn has(&self, id: &ContentId) -> Result<bool, FetchError> {
        let found = self.store.has(&self.order, self.task, id);
        found.map_err(|error| FetchError::disk(id.to_hex(), error))
    }

    /// A fresh file, filled by `fill` and kept if its content is the one that was meant.
    async fn put<F: Future<Output = Result<Option<ContentId>, FetchError>>>(
        &self,
        id: &ContentId,
        fill: impl FnOnce(File) -> F,
    ) -> Result<(), FetchError> {
        let (fresh, name) = (self.store.temporary(), id.to_hex());
        let mut options = OpenOptions::new();
        let made = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&fresh);
        let file = made.map_err(|error| FetchError::disk(name.clone(), error))?;
        let fresh = Fresh(fresh);
        match fill(file).await? {
            Some(found) if found == *id => {
                let kept = self.store.adopt(&fresh.0, &self.order, self.task, id);
                kept.map_err(|error| FetchError::disk(name, error))
            }
            _ => Err(FetchError::Wrong(name)),
        }
    }

    /// Pulls a checkpoint that is known by the hash of its manifest.
    pub(super) async fn pull_known(
        &self,
        from: &Source<'_>,
        snapshot: &Snapshot,
    ) -> Result<(), FetchError> {
        let name = || "the checkpoint's manifest".to_owned();
        let question = AgentRequest::Kept {
            job: from.job,
            content: snapshot.manifest,
            from: 0,
            seller: from.seller,
        };
        let answer = from.asker.ask(from.from, &question).await;
        let Some(AgentReply::Chunk { bytes, .. }) = answer else {
            return Err(FetchError::Missing(name()));
        };
        let manifest = Manifest::decode(&bytes).filter(|m| m.snapshot() == *snapshot);
        let manifest = manifest.ok_or_else(|| FetchError::Wrong(name()))?;
        self.pull(from, &manifest).await
    }

    /// Pulls what is not here yet of a checkpoint, its manifest last.
    async fn pull(&self, from: &Source<'_>, manifest: &Manifest) -> Result<(), FetchError> {
        for file in &manifest.files {
            if self.has(&file.content)? {
                continue;
            }
            self.put(&file.content, |fresh| from.pull(file, fresh, self.room))
                .await?;
        }
        let (bytes, id) = (codec::encode(manifest), manifest.snapshot().manifest);
        if self.has(&id)? {
            return Ok(());
        }
        self.put(&id, async |mut fresh| {
            let written = std::io::Write::write_all(&mut fresh, &bytes);
            written.map_err(|error| FetchError::disk(id.to_hex(), error))?;
            Ok(Some(content_id(&bytes)))
        })
        .await
    }
}

/// The node that has what a run kept: its seller's, or the keeper of a copy.
pub(super) struct Source<'a> {
    pub(super) asker: &'a Asker,
    pub(super) from: &'a PublicKey,
    pub(super) job: RunId,
    /// The seller's node, if its keeper is asked.
    pub(super) seller: Option<PublicKey>,
}

impl Source<'_> {
    /// The manifest, and the milliseconds since its newest file was written when it was first asked
    /// for. `None` if there is none.
    async fn manifest(&self) -> Option<(Manifest, u64)> {
        let begin = Instant::now();
        let question = AgentRequest::Checkpoint(self.job);
        loop {
            match self.asker.ask(self.from, &question).await {
                Some(AgentReply::Checkpoint { manifest, age_ms }) => {
                    let since = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
                    let manifest = Manifest::decode(&manifest)?;
                    return Some((manifest, age_ms.saturating_sub(since)));
                }
                // It is being made.
                Some(AgentReply::Ok) if begin.elapsed() < MAKING => {}
                _ => return None,
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn pull(
        &self,
        file: &InputFile,
        fresh: File,
        room: &Room,
    ) -> Result<Option<ContentId>, FetchError> {
        let ask = |offset| {
            let from_there = AgentRequest::Kept {
                job: self.job,
                content: file.content,
                from: offset,
                seller: self.seller,
            };
            async move { self.asker.ask(self.from, &from_there).await }
        };
        let mut sink = Sink {
            file: fresh,
            name: &file.path,
            room,
        };
        let mut hasher = ContentHasher::new(file.bytes);
        files::pull(ask, file.bytes, files::time_for, &mut sink, |piece| {
            hasher.update(piece)
        })
        .await?;
        Ok(hasher.finish())
    }
}

/// Puts a checkpoint in place below a work directory, from the buyer's node.
pub(super) async fn put_in_place(
    asker: &Asker,
    from: &PublicKey,
    resume: &Snapshot,
    folder: &str,
    work: &Path,
    room: &Room,
) -> Result<(), FetchError> {
    let name = || "the checkpoint's manifest".to_owned();
    let question = AgentRequest::Content {
        content: resume.manifest,
        from: 0,
    };
    let ask = async || match asker.ask(from, &question).await {
        Some(AgentReply::Chunk { bytes, .. }) => Ok(bytes),
        _ => Err(FetchError::Missing(name())),
    };
    let bytes = files::again(from, ask).await?;
    let manifest = Manifest::decode(&bytes).filter(|m| m.snapshot() == *resume);
    let manifest = manifest.ok_or_else(|| FetchError::Wrong(name()))?;
    let below = |file: InputFile| InputFile {
        path: format!("{folder}/{}", file.path),
        ..file
    };
    let inputs: Vec<InputFile> = manifest.files.into_iter().map(below).collect();
    files::pull_inputs(asker, from, &inputs, work, room).await
}

impl Body {
    /// Stops a job: one that keeps its progress has the grace that it declared, as far as the owner
    /// grants it.
    pub(super) fn stop_job(&self, job: RunId) {
        let jobs = self.tools.jobs.clone();
        let keeps = self.core().seller().checkpoint_of(&job);
        let grace = keeps.map_or(self.tools.grace, |keeps| jobs.grace(keeps));
        self.tools
            .runtime
            .spawn_blocking(move || jobs.stop(&job, grace));
    }

    pub(super) fn show_checkpoint(
        &mut self,
        token: u64,
        job: RunId,
        folder: String,
        keeper: Option<PublicKey>,
    ) {
        let Some(request) = self.requests.remove(&token) else {
            return;
        };
        let (jobs, overlay) = (self.tools.jobs.clone(), self.tools.overlay.clone());
        let room = self.tools.room.clone();
        let most = self.unit_bytes(&job);
        let offer = keeper.map(|keeper| self.offer(job, keeper));
        self.tools.runtime.spawn(async move {
            let reply = jobs.checkpoint(job, folder, most, room).await;
            let _gone = overlay.respond(request, codec::encode(&reply));
            if let Some(offer) = offer {
                offer.send(&reply).await;
            }
        });
    }

    /// Bytes of disk of a run's unit, as far as a checkpoint may have them. Of a lease that is over
    /// the class is not known any more.
    pub(super) fn unit_bytes(&self, job: &RunId) -> u64 {
        let core = self.core();
        let lease = core.state().lease(&job.lease);
        let class = lease.and_then(|lease| core.state().class(&lease.class));
        class.map_or(CHECKPOINT_BYTES, |c| c.key.disk_bytes())
    }

    pub(super) fn read_kept(&mut self, token: u64, job: RunId, content: ContentId, from: u64) {
        let jobs = self.tools.jobs.clone();
        self.answer_with_chunk(token, move || {
            jobs.kept_chunk(&job, &content, from, CHUNK_BYTES)
        });
    }

    pub(super) fn fetch_checkpoint(&mut self, order: OrderKey, job: RunId, from: PublicKey) {
        let most = self.checkpoint_bytes(&order);
        let asker = Asker::new(self.tools.overlay.clone());
        let (store, room) = (self.tools.checkpoints.clone(), self.tools.room.clone());
        let handle = self.handle.clone();
        self.spawn(async move {
            let source = Source {
                asker: &asker,
                from: &from,
                job,
                seller: None,
            };
            let found = source.manifest().await;
            let found = found.filter(|(manifest, _)| manifest.bytes() <= most);
            let shelf = Shelf {
                store: &store,
                order,
                task: job.task,
                room: &room,
            };
            let mut kept = None;
            if let Some((manifest, age_ms)) = found {
                match shelf.pull(&source, &manifest).await {
                    Ok(()) => kept = Some((manifest.snapshot(), age_ms)),
                    Err(error) => tracing::warn!(%job, %error, "a checkpoint is left out"),
                }
            }
            let fetched = Input::Checkpointed {
                order,
                job,
                kept,
                copy: false,
            };
            handle.deliver(fetched).await;
        });
    }

    pub(super) fn checkpoint_bytes(&self, order: &OrderKey) -> u64 {
        let core = self.core();
        core.buyer().order(order).map_or(0, |agent| {
            let order = agent.order();
            let class = core.state().class(&order.class);
            let of_unit = class.map_or(0, |c| c.key.disk_bytes());
            most_bytes(of_unit, order.spec.input_bytes(), order.tasks)
        })
    }

    fn is_over(&self, order: &OrderKey) -> bool {
        let core = self.core();
        let order = core.buyer().order(order);
        order.is_none_or(|agent| agent.finish().is_some())
    }

    /// Forgets the other checkpoints of a task, or all that was kept of it.
    pub(super) fn keep_checkpoint(
        &self,
        order: &OrderKey,
        task: u32,
        keep: Option<Snapshot>,
    ) -> Result<(), BodyError> {
        let store = &self.tools.checkpoints;
        let needed = needed(store, keep);
        if keep.is_some() && needed.is_empty() {
            tracing::warn!(%order, task, "a checkpoint without its manifest");
            return Ok(());
        }
        if keep.is_none() && self.is_over(order) {
            let forgotten = self.tools.orders.forget_earlier(order, task);
            forgotten.map_err(disk("the output of earlier attempts"))?;
        }
        let kept = store.keep(order, task, &needed);
        kept.map_err(disk("a checkpoint"))
    }
}

/// The contents that a checkpoint in a store needs: none if its manifest is not there.
pub(super) fn needed(store: &CheckpointStore, keep: Option<Snapshot>) -> BTreeSet<ContentId> {
    let chunk = keep.and_then(|keep| store.chunk(&keep.manifest, 0, MANIFEST_BYTES));
    let manifest = chunk.and_then(|(_, bytes)| Manifest::decode(&bytes));
    let manifest = manifest.into_iter().zip(keep);
    let all = manifest.flat_map(|(manifest, keep)| {
        let files = manifest.files.into_iter().map(|f| f.content);
        files.chain([keep.manifest])
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_fits_beside_the_inputs() {
        for (of_unit, inputs, tasks, most) in [
            (1_000, 0, 1, 1_000),
            (1_000, 400, 1, 600),
            (1_000, 2_000, 1, 0),
            (u64::MAX, 0, 1, CHECKPOINT_BYTES),
            (u64::MAX, 0, 128, ORDER_FILE_BYTES / 128),
            (u64::MAX, 0, 0, CHECKPOINT_BYTES),
        ] {
            assert_eq!(most_bytes(of_unit, inputs, tasks), most, "{of_unit}");
        }
    }

    #[tokio::test]
    async fn what_is_not_what_its_hash_says_is_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let store = CheckpointStore::open(dir.path().join("c"), |_, _| true).unwrap();
        let room = Room::of(dir.path()).unwrap().with_floor(0);
        let shelf = Shelf {
            store: &store,
            order: OrderKey(1),
            task: 0,
            room: &room,
        };
        let right = content_id(b"right");
        let wrong = |found: Option<ContentId>| shelf.put(&right, async move |_| Ok(found));
        for found in [None, Some(content_id(b"wrong"))] {
            let error = wrong(found).await.unwrap_err();
            assert!(matches!(error, FetchError::Wrong(_)), "{error}");
        }
        let missing = async |_: File| Err(FetchError::Missing("x".into()));
        assert!(shelf.put(&right, missing).await.is_err());
        assert!(!shelf.has(&right).unwrap());
        let left = || fs::read_dir(dir.path().join("c/contents")).unwrap().count();
        assert_eq!(left(), 0, "nothing of it stays");
        // One that is broken off while half of it is there.
        let half = async |mut file: File| {
            std::io::Write::write_all(&mut file, b"ri").unwrap();
            assert_eq!(left(), 1);
            std::future::pending::<Result<Option<ContentId>, FetchError>>().await
        };
        let broken = tokio::time::timeout(Duration::from_millis(1), shelf.put(&right, half));
        assert!(broken.await.is_err());
        assert_eq!(left(), 0, "nothing of it stays either");
        wrong(Some(right)).await.unwrap();
        assert!(shelf.has(&right).unwrap());
    }
}
