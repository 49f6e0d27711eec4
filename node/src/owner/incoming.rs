//! An update that the owner's node hands over to this one: pulled, checked by its hash, and put
//! where the agent finds it.
//!
//! 1. One comes at a time, if an agent runs here, no other one waits for it or is on trial, and the
//!    disk has room beside what is kept for the ledger ([`judge`]).
//! 2. Its pieces go to `updates/` in the data folder, under the name of its hash. After a cut what
//!    is there is hashed again, and the rest is asked for.
//! 3. Once it is whole and synchronised it is renamed to `owner-update`. The agent, another user,
//!    takes it from there as a stranger's, and removes it.
//! 4. Pieces of an update that was never whole go when another comes, or a day later.

use super::limits::{KEPT, MAGIC, UPDATE_BYTES};
use super::types::{Handover, HandoverState};
use crate::api::{ApiError, ErrorCode};
use crate::body::ask::Asker;
use crate::body::files::{FetchError, Sink, pull, time_for};
use crate::body::room::Room;
use gridbay_core::agent::{AgentReply, AgentRequest, CHUNK_BYTES};
use gridbay_protocol::ids::ContentId;
use gridbay_protocol::job::ContentHasher;
use gridbay_protocol::keys::PublicKey;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Name of the file that the agent looks for, in the data folder.
const WHOLE: &str = "owner-update";
/// Folder of what is not whole yet.
const FOLDER: &str = "updates";
/// What the update is called in messages.
const NAME: &str = "the update";
/// Times in a row that nothing comes before it is given up.
const TRIES: u32 = 8;
/// Pause after the first of these; twice as long after each further one.
const PAUSE: Duration = Duration::from_secs(1);

/// An update as its owner announces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Announced {
    pub(super) content: ContentId,
    pub(super) bytes: u64,
}

/// How things stand here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Here {
    /// The update on trial by the agent's status, if an agent runs here.
    pub(super) agent: Option<String>,
    /// Whether one waits for the agent.
    pub(super) waits: bool,
    /// Whether the disk takes what is to come.
    pub(super) room: bool,
}

/// The answer to an update that is announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// Begin.
    Now,
    /// It is coming already.
    Coming,
}

/// Why an update is not let in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotLetIn {
    /// No agent runs here.
    #[error("no agent runs there, so nobody would write it")]
    NoAgent,
    /// It cannot be one.
    #[error("an update has 1 to {UPDATE_BYTES} bytes, not {bytes}")]
    Size {
        /// Its bytes.
        bytes: u64,
    },
    /// Another comes.
    #[error("another update is coming")]
    Coming,
    /// Another waits for the agent.
    #[error("another update waits for the agent")]
    Waits,
    /// Another is on trial.
    #[error("the update {0} is on trial")]
    OnTrial(String),
    /// The disk is full.
    #[error("its disk has no room for {bytes} bytes beside what is kept for the ledger")]
    NoRoom {
        /// Its bytes.
        bytes: u64,
    },
}

impl NotLetIn {
    /// What the owner is told.
    pub(super) fn told(&self) -> ApiError {
        let (code, hint) = match self {
            NotLetIn::NoAgent => (
                ErrorCode::Refused,
                "update the package of that machine by its own means",
            ),
            NotLetIn::Size { .. } => (
                ErrorCode::TooLarge,
                "take the gridbay-update that was built",
            ),
            NotLetIn::Coming | NotLetIn::Waits | NotLetIn::OnTrial(_) => (
                ErrorCode::Conflict,
                "wait until it was taken or left: gridbay appliance status NAME",
            ),
            NotLetIn::NoRoom { .. } => (ErrorCode::TooLarge, "give that machine a larger disk"),
        };
        ApiError::new(code, self.to_string(), hint)
    }
}

/// Whether an update is let in.
pub(super) fn judge(
    update: Announced,
    last: Option<&Handover>,
    here: &Here,
) -> Result<Begin, NotLetIn> {
    let Announced { content, bytes } = update;
    let Some(trial) = &here.agent else {
        return Err(NotLetIn::NoAgent);
    };
    if bytes == 0 || bytes > UPDATE_BYTES {
        return Err(NotLetIn::Size { bytes });
    }
    match last.filter(|last| last.state == HandoverState::Coming) {
        Some(last) if last.content == content => return Ok(Begin::Coming),
        Some(_) => return Err(NotLetIn::Coming),
        None => {}
    }
    match trial.as_str() {
        "" if here.waits => Err(NotLetIn::Waits),
        "" if here.room => Ok(Begin::Now),
        "" => Err(NotLetIn::NoRoom { bytes }),
        trial => Err(NotLetIn::OnTrial(trial.to_owned())),
    }
}

/// What comes, and what came last.
pub(super) struct Incoming {
    home: PathBuf,
    last: Mutex<Option<Handover>>,
}

impl Incoming {
    /// Of a node with such a data folder. Pieces that nobody went on with go.
    pub(super) fn open(home: &Path) -> io::Result<Incoming> {
        let incoming = Incoming {
            home: home.to_owned(),
            last: Mutex::default(),
        };
        let old = |path: &Path| {
            let changed = fs::metadata(path).and_then(|meta| meta.modified());
            changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > KEPT))
        };
        incoming.sweep(old)?;
        Ok(incoming)
    }

    /// What came last since the node started.
    pub(super) fn last(&self) -> Option<Handover> {
        let mut last = self.lock().clone();
        if let Some(last) = &mut last
            && last.state == HandoverState::Handed
            && !self.home.join(WHOLE).exists()
        {
            last.state = HandoverState::Over;
        }
        last
    }

    /// Notes that an update comes, if it is let in.
    pub(super) fn begin(
        &self,
        update: Announced,
        agent: Option<String>,
        room: &Room,
    ) -> Result<Begin, NotLetIn> {
        let mut last = self.lock();
        let held = fs::metadata(self.part(&update.content)).map_or(0, |meta| meta.len());
        let here = Here {
            agent,
            waits: self.whole().symlink_metadata().is_ok(),
            room: room.takes(update.bytes.saturating_sub(held)),
        };
        let begin = judge(update, last.as_ref(), &here)?;
        if begin == Begin::Now {
            *last = Some(Handover {
                content: update.content,
                bytes: update.bytes,
                held: 0,
                state: HandoverState::Coming,
                why: String::new(),
            });
        }
        Ok(begin)
    }

    /// Pulls an update that was let in from the owner's node, and notes what becomes of it.
    pub(super) async fn bring(
        &self,
        asker: &Asker,
        from: &PublicKey,
        update: Announced,
        room: &Room,
    ) {
        let brought = self.whole_of(asker, from, update, room).await;
        let mut last = self.lock();
        let Some(last) = last.as_mut() else {
            return;
        };
        match brought {
            Ok(()) => {
                tracing::info!(bytes = update.bytes, "an update of the owner is here");
                last.state = HandoverState::Handed;
            }
            Err(error) => {
                tracing::warn!(%error, "an update of the owner did not come");
                last.state = HandoverState::Failed;
                last.why = crate::ui::clean(&error.to_string());
            }
        }
    }

    async fn whole_of(
        &self,
        asker: &Asker,
        from: &PublicKey,
        update: Announced,
        room: &Room,
    ) -> Result<(), FetchError> {
        let mut tries = 0;
        loop {
            let before = self.held();
            match self.some_of(asker, from, update, room).await {
                Err(FetchError::Missing(_) | FetchError::Slow(_)) if tries < TRIES => {
                    tries = if self.held() > before { 0 } else { tries + 1 };
                    tokio::time::sleep(PAUSE * (1 << tries)).await;
                }
                Err(error) => {
                    if matches!(error, FetchError::Wrong(_) | FetchError::TooMuch { .. }) {
                        drop(fs::remove_file(self.part(&update.content)));
                    }
                    return Err(error);
                }
                Ok(()) => return Ok(()),
            }
        }
    }

    /// Goes on from what is there, to the end if nothing cuts it off.
    async fn some_of(
        &self,
        asker: &Asker,
        from: &PublicKey,
        Announced { content, bytes }: Announced,
        room: &Room,
    ) -> Result<(), FetchError> {
        let disk = |error| FetchError::disk(NAME.to_owned(), error);
        let (path, part) = (self.folder(), self.part(&content));
        self.sweep(|other| other != part).map_err(disk)?;
        let begun = tokio::task::spawn_blocking(move || begin_part(&path, &part, bytes));
        let begun = begun.await.map_err(io::Error::other).flatten();
        let (file, mut hasher, held) = begun.map_err(disk)?;
        self.holds(held);
        tracing::info!(held, bytes, "pulls an update of the owner");
        let mut sink = Sink {
            file,
            name: NAME,
            room,
        };
        let ask = |offset: u64| {
            let question = AgentRequest::Content {
                content,
                from: held + offset,
            };
            async move {
                let answer = asker.ask(from, &question).await?;
                Some(match answer {
                    AgentReply::Chunk { total, bytes } => AgentReply::Chunk {
                        total: total.saturating_sub(held),
                        bytes,
                    },
                    other => other,
                })
            }
        };
        let mut now = held;
        if held < bytes {
            pull(ask, bytes - held, time_for, &mut sink, |piece| {
                let fits = hasher.update(piece);
                now = now.saturating_add(piece.len() as u64);
                self.holds(now);
                fits
            })
            .await?;
        }
        let wrong = || FetchError::Wrong(NAME.to_owned());
        if hasher.finish() != Some(content) || !begins_well(&mut sink.file).map_err(disk)? {
            return Err(wrong());
        }
        sink.file.sync_all().map_err(disk)?;
        fs::rename(self.part(&content), self.whole())
            .and_then(|()| File::open(&self.home)?.sync_all())
            .map_err(disk)
    }

    /// Removes what is not whole and of which `goes` says so.
    fn sweep(&self, goes: impl Fn(&Path) -> bool) -> io::Result<()> {
        let entries = match fs::read_dir(self.folder()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            if goes(&path) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    fn folder(&self) -> PathBuf {
        self.home.join(FOLDER)
    }
    fn part(&self, content: &ContentId) -> PathBuf {
        self.folder().join(content.to_hex())
    }
    fn whole(&self) -> PathBuf {
        self.home.join(WHOLE)
    }
    fn held(&self) -> u64 {
        self.lock().as_ref().map_or(0, |last| last.held)
    }
    fn holds(&self, held: u64) {
        if let Some(last) = self.lock().as_mut() {
            last.held = held;
        }
    }
    fn lock(&self) -> MutexGuard<'_, Option<Handover>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a part at the end of its last whole piece, with the hash of what it holds.
fn begin_part(folder: &Path, path: &Path, bytes: u64) -> io::Result<(File, ContentHasher, u64)> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made?;
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)?;
    let piece = CHUNK_BYTES as u64;
    let held = file.metadata()?.len().min(bytes) / piece * piece;
    file.set_len(held)?;
    file.rewind()?;
    let mut hasher = ContentHasher::new(bytes);
    let mut buffer = vec![0; CHUNK_BYTES];
    for _ in 0..held / piece {
        file.read_exact(&mut buffer)?;
        if !hasher.update(&buffer) {
            return Err(io::Error::other("it has more bytes than announced"));
        }
    }
    file.seek(SeekFrom::Start(held))?;
    Ok((file, hasher, held))
}

/// Whether a file begins as an update does.
fn begins_well(file: &mut File) -> io::Result<bool> {
    file.rewind()?;
    let mut first = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut first)?;
    Ok(first == MAGIC)
}

#[cfg(test)]
mod tests;
