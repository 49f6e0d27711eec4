//! Uploads: written to a temporary file as they arrive, hashed on the way, renamed to their hash.
//!
//! 1. Room is reserved for the announced bytes, within the bounds on one file and on all of them,
//!    and within the room of the disk beyond that which the node keeps for its ledger.
//! 2. Arriving bytes are counted again: more than announced ends the upload.
//! 3. The file is synced, then renamed. If anything fails before, the temporary file goes.

use super::types::Staged;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::failure::{disk, internal, usage};
use crate::body::room::Room;
use crate::config::NodeLimits;
use crate::store::content::{CONTENT_BYTES, ContentStore};
use axum::body::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use gridbay_protocol::hash::Domain;
use gridbay_protocol::ids::ContentId;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;

/// Bytes of an upload as they arrive. An error means that the sender broke off, or sent another
/// number of bytes than announced.
type ContentStream<'a> = BoxStream<'a, io::Result<Bytes>>;

/// Takes uploads into a store.
pub(crate) struct Uploads {
    store: ContentStore,
    limits: NodeLimits,
    room: Room,
    /// Bytes announced by uploads under way.
    reserved: Mutex<u64>,
}

/// Gives back what it reserved.
struct Reserved<'u> {
    uploads: &'u Uploads,
    bytes: u64,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let mut reserved = self.uploads.reserved();
        *reserved = reserved.saturating_sub(self.bytes);
    }
}

/// Removes the temporary file unless it was renamed.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // After the rename there is nothing to remove.
        let _gone = std::fs::remove_file(&self.0);
    }
}

impl Uploads {
    pub(crate) fn new(store: ContentStore, limits: NodeLimits, room: Room) -> Uploads {
        Uploads {
            store,
            limits,
            room,
            reserved: Mutex::new(0),
        }
    }

    /// Takes one upload of `bytes` bytes.
    pub(crate) async fn take(&self, bytes: u64, stream: ContentStream<'_>) -> Answer<Staged> {
        let _room = self.reserve(bytes).await?;
        let temporary = Temporary(self.store.temporary());
        let content = receive(&temporary.0, bytes, stream).await?;
        self.keep(&temporary, content).await?;
        Ok(Staged { content, bytes })
    }

    /// Takes one upload whose length nobody has announced, of `most` bytes at the most. Its hash
    /// begins with its length, so the file is read once more when all of it is there.
    pub(crate) async fn take_up_to(&self, most: u64, stream: ContentStream<'_>) -> Answer<Staged> {
        let _room = self.reserve(most).await?;
        let temporary = Temporary(self.store.temporary());
        let bytes = receive_up_to(&temporary.0, most, stream).await?;
        let path = temporary.0.clone();
        let hashed = tokio::task::spawn_blocking(move || hash_of(&path, bytes)).await;
        let hashed = hashed.map_err(|error| internal("hashing an upload", error))?;
        let content = hashed.map_err(|error| failed(&error))?;
        self.keep(&temporary, content).await?;
        Ok(Staged { content, bytes })
    }

    async fn keep(&self, temporary: &Temporary, content: ContentId) -> Answer<()> {
        let (store, path) = (self.store.clone(), temporary.0.clone());
        let kept = tokio::task::spawn_blocking(move || store.adopt(&path, &content)).await;
        kept.map_err(|error| internal("keeping an upload", error))?
            .map_err(|error| failed(&error))
    }

    async fn reserve(&self, bytes: u64) -> Answer<Reserved<'_>> {
        let most = self.limits.content.min(CONTENT_BYTES);
        if bytes > most {
            return Err(too_large(format!(
                "{bytes} bytes, one file has at most {most}"
            )));
        }
        let store = self.store.clone();
        let used = tokio::task::spawn_blocking(move || store.used()).await;
        let used = used
            .map_err(|error| internal("measuring the store", error))?
            .map_err(|error| internal("measuring the store", error))?;
        let mut reserved = self.reserved();
        let sum = used.saturating_add(*reserved).saturating_add(bytes);
        if sum > self.limits.stored {
            let free = self.limits.stored.saturating_sub(sum - bytes);
            return Err(too_large(format!(
                "{bytes} bytes, {free} are free for staged files"
            )));
        }
        // Bytes of uploads under way that came already are counted twice: rather too few are taken
        // than too many.
        if !self.room.takes(reserved.saturating_add(bytes)) {
            return Err(ApiError::new(
                ErrorCode::TooLarge,
                format!(
                    "{bytes} bytes do not fit on the disk: its last {} are kept free for the ledger",
                    self.room.kept()
                ),
                "free some space on the node's disk",
            ));
        }
        *reserved += bytes;
        Ok(Reserved {
            uploads: self,
            bytes,
        })
    }

    fn reserved(&self) -> MutexGuard<'_, u64> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn failed(error: &io::Error) -> ApiError {
    disk("the upload cannot be kept", error)
}

fn too_large(message: String) -> ApiError {
    ApiError::new(
        ErrorCode::TooLarge,
        message,
        "remove old files, or raise the limits of the node",
    )
}

/// Writes the stream to a new file, durably, and returns its hash.
async fn receive(path: &Path, bytes: u64, mut stream: ContentStream<'_>) -> Answer<ContentId> {
    let disk = |error| failed(&error);
    let wrong = || {
        usage(
            "another number of bytes than announced",
            "send the file again",
        )
    };
    let mut file = File::create_new(path).await.map_err(disk)?;
    let mut hasher = hasher(bytes);
    let mut left = bytes;
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|error| usage(error.to_string(), "send the file again"))?;
        left = left.checked_sub(piece.len() as u64).ok_or_else(wrong)?;
        hasher.update(&piece);
        file.write_all(&piece).await.map_err(disk)?;
    }
    if left > 0 {
        return Err(wrong());
    }
    file.flush().await.map_err(disk)?;
    file.sync_data().await.map_err(disk)?;
    Ok(ContentId(*hasher.finalize().as_bytes()))
}

/// Writes the stream to a new file, durably, and returns how many bytes there were.
async fn receive_up_to(path: &Path, most: u64, mut stream: ContentStream<'_>) -> Answer<u64> {
    let disk = |error| failed(&error);
    let mut file = File::create_new(path).await.map_err(disk)?;
    let mut bytes = 0u64;
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|error| usage(error.to_string(), "send the file again"))?;
        bytes = bytes.saturating_add(piece.len() as u64);
        if bytes > most {
            let why = format!("the file has more than {most} bytes");
            return Err(too_large(why));
        }
        file.write_all(&piece).await.map_err(disk)?;
    }
    file.flush().await.map_err(disk)?;
    file.sync_data().await.map_err(disk)?;
    Ok(bytes)
}

/// The hash of a file of so many bytes.
fn hash_of(path: &Path, bytes: u64) -> io::Result<ContentId> {
    let mut hasher = hasher(bytes);
    hasher.update_reader(std::fs::File::open(path)?)?;
    Ok(ContentId(*hasher.finalize().as_bytes()))
}

/// [`gridbay_protocol::job::content_id`] piece by piece: the length is hashed before the content.
fn hasher(bytes: u64) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new_derive_key(Domain::Content.text());
    hasher.update(&bytes.to_be_bytes());
    hasher
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::stream;
    use gridbay_protocol::job::content_id;

    fn uploads(dir: &Path, content: u64, stored: u64) -> Uploads {
        let store = ContentStore::open(dir.join("content")).unwrap();
        Uploads::new(
            store,
            NodeLimits {
                content,
                stored,
                output: 0,
            },
            Room::of(dir).unwrap(),
        )
    }
    fn pieces(pieces: &[&'static [u8]]) -> ContentStream<'static> {
        let pieces: Vec<_> = pieces.iter().map(|p| Ok(Bytes::from_static(p))).collect();
        stream::iter(pieces).boxed()
    }
    fn names(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir.join("content")).unwrap();
        entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[tokio::test]
    async fn a_streamed_upload_has_the_hash_of_its_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let uploads = uploads(dir.path(), 100, 100);
        let staged = uploads
            .take(11, pieces(&[b"hello ", b"", b"world"]))
            .await
            .unwrap();
        let content = content_id(b"hello world");
        assert_eq!(staged, Staged { content, bytes: 11 });
        assert_eq!(
            uploads.store.chunk(&content, 0, 99),
            Some((11, b"hello world".to_vec()))
        );
        assert_eq!(
            uploads.take(11, pieces(&[b"hello world"])).await.unwrap(),
            staged,
            "again"
        );
        assert_eq!(names(dir.path()), [content.to_hex()]);
        assert_eq!(
            uploads.take(0, pieces(&[])).await.unwrap().content,
            content_id(b"")
        );
    }

    #[tokio::test]
    async fn caps_on_one_file_and_on_all() {
        let dir = tempfile::tempdir().unwrap();
        let uploads = uploads(dir.path(), 6, 10);
        let code = |result: Answer<Staged>| result.unwrap_err().code;
        assert_eq!(
            code(uploads.take(7, pieces(&[b"1234567"])).await),
            ErrorCode::TooLarge
        );
        uploads.take(6, pieces(&[b"123456"])).await.unwrap();
        assert_eq!(
            code(uploads.take(5, pieces(&[b"12345"])).await),
            ErrorCode::TooLarge
        );
        uploads.take(4, pieces(&[b"1234"])).await.unwrap();
        assert_eq!(*uploads.reserved(), 0);
    }

    #[tokio::test]
    async fn what_would_take_the_ledgers_room_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let uploads = uploads(dir.path(), 10, 10);
        assert!(uploads.reserve(1).await.is_ok());
        let full = Uploads {
            room: Room::of(dir.path()).unwrap().with_floor(1 << 60),
            ..uploads
        };
        let refused = full.reserve(1).await.err().unwrap();
        assert_eq!(refused.code, ErrorCode::TooLarge);
        assert!(
            refused.message.contains("kept free for the ledger"),
            "{}",
            refused.message
        );
    }

    #[tokio::test]
    async fn uploads_under_way_count_and_give_back() {
        let dir = tempfile::tempdir().unwrap();
        let uploads = uploads(dir.path(), 10, 10);
        let room = uploads.reserve(8).await.unwrap();
        assert!(uploads.reserve(3).await.is_err());
        drop(room);
        assert!(uploads.reserve(3).await.is_ok());
    }

    #[tokio::test]
    async fn a_broken_upload_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let uploads = uploads(dir.path(), 10, 10);
        let broken = stream::iter([Ok(Bytes::from_static(b"12")), Err(io::Error::other("gone"))]);
        for (bytes, stream) in [
            (4, broken.boxed()),
            (4, pieces(&[b"123"])),
            (4, pieces(&[b"12345"])),
        ] {
            assert_eq!(
                uploads.take(bytes, stream).await.unwrap_err().code,
                ErrorCode::Usage
            );
        }
        assert!(names(dir.path()).is_empty());
        assert_eq!(*uploads.reserved(), 0);
    }
}
