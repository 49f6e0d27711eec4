//! Files between nodes: a seller pulls a job's inputs, a buyer pulls its output files.
//!
//! The side that writes checks the other: paths stay below their folder, sizes stay within those
//! announced, inputs must have the hash that the job names. A file comes in whole pieces, the last
//! one excepted, and within a time by its bytes, so a peer that sends a byte now and then holds
//! nobody up.

use super::ask::Asker;
use super::room::Room;
use gridbay_core::agent::{AgentReply, AgentRequest, CHUNK_BYTES, RunId};
use gridbay_core::input::Fetch;
use gridbay_protocol::job::{ContentHasher, InputFile, path_is_inside};
use gridbay_protocol::keys::PublicKey;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// Bytes of all output files of one task at the most, whatever its unit has.
const OUTPUT_FILE_BYTES: u64 = 1 << 30;
/// Bytes of all output files of one order at the most, those of all its tasks together.
pub(super) const ORDER_FILE_BYTES: u64 = 64 << 30;

/// Bytes of output files that a seller may send for one of an order's tasks, whose unit can hold so
/// many.
pub(super) fn output_bytes(of_unit: u64, tasks: u32) -> u64 {
    portion(of_unit, tasks, OUTPUT_FILE_BYTES, ORDER_FILE_BYTES)
}

/// No more than its unit can hold, than any task may send, and than each task of its order may.
fn portion(of_unit: u64, tasks: u32, of_task: u64, of_order: u64) -> u64 {
    of_unit.min(of_task).min(of_order / u64::from(tasks.max(1)))
}

/// Why files could not be brought over.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the texts tell what the fields are")]
pub enum FetchError {
    /// The other node did not answer, or has it not.
    #[error("{0} is not to be had")]
    Missing(String),
    /// It does not come fast enough.
    #[error("{0} comes too slowly")]
    Slow(String),
    /// The bytes received are not those announced.
    #[error("{0} is not what was announced")]
    Wrong(String),
    /// More came, or was announced, than the order allows.
    #[error("{path} has {bytes} bytes, of which the order allows {allowed}")]
    TooMuch {
        path: String,
        /// Bytes that the seller announces.
        bytes: u64,
        /// Bytes that may still come.
        allowed: u64,
    },
    /// This node's disk has no room to spare.
    #[error("{0} does not fit on the disk: its last {1} bytes are kept free for the ledger")]
    NoRoom(String, u64),
    /// This node's disk failed.
    #[error("writing {path}")]
    Disk {
        path: String,
        #[source]
        source: io::Error,
    },
}

impl FetchError {
    /// This node's disk failed at a file of this name.
    pub(crate) fn disk(path: String, source: io::Error) -> FetchError {
        FetchError::Disk { path, source }
    }
    /// The buyer's conclusion.
    pub fn of_outputs(&self) -> Fetch {
        match self {
            FetchError::TooMuch { .. } => Fetch::Never,
            FetchError::Missing(_) | FetchError::Slow(_) | FetchError::Wrong(_) => Fetch::NotYet,
            FetchError::NoRoom(..) | FetchError::Disk { .. } => Fetch::NoRoom,
        }
    }
}

/// Time for a file of any length, and bytes that come in each further second at least.
const TIME: (Duration, u64) = (Duration::from_secs(30), 64 << 10);

/// Time for a file of so many bytes.
pub(crate) fn time_for(bytes: u64) -> Duration {
    let (any, each_second) = TIME;
    any + Duration::from_secs(bytes / each_second)
}

/// Times that inputs are asked for before staging is given up.
const TRIES: u32 = 5;
/// Pause after the first try; twice as long after each further one.
const PAUSE: Duration = Duration::from_millis(200);

/// Pulls all inputs of a job into its work directory, again if the buyer's node does not answer.
pub async fn pull_inputs(
    asker: &Asker,
    from: &PublicKey,
    inputs: &[InputFile],
    work: &Path,
    room: &Room,
) -> Result<(), FetchError> {
    again(from, || pull_all(asker, from, inputs, work, room)).await
}

/// Does it again while the buyer's node does not answer.
pub(super) async fn again<T, F: Future<Output = Result<T, FetchError>>>(
    from: &PublicKey,
    pull: impl Fn() -> F,
) -> Result<T, FetchError> {
    for again in 1..TRIES {
        match pull().await {
            Err(FetchError::Missing(name)) => {
                tracing::debug!(%from, name, again, "an input is not to be had yet");
                tokio::time::sleep(PAUSE * (1 << again)).await;
            }
            result => return result,
        }
    }
    pull().await
}

async fn pull_all(
    asker: &Asker,
    from: &PublicKey,
    inputs: &[InputFile],
    work: &Path,
    room: &Room,
) -> Result<(), FetchError> {
    for input in inputs {
        let content = input.content;
        let ask = |offset| {
            let from_there = AgentRequest::Content {
                content,
                from: offset,
            };
            async move { asker.ask(from, &from_there).await }
        };
        let mut hasher = ContentHasher::new(input.bytes);
        let mode = if input.executable { 0o755 } else { 0o644 };
        let file = create_below(work, &input.path, mode)?;
        let mut sink = Sink {
            file,
            name: &input.path,
            room,
        };
        pull(ask, input.bytes, time_for, &mut sink, |piece| {
            hasher.update(piece)
        })
        .await?;
        if hasher.finish() != Some(content) {
            return Err(FetchError::Wrong(input.path.clone()));
        }
    }
    Ok(())
}

/// Pulls output files of an ended job into a folder, at most `most` bytes in all. A file that the
/// job did not write is left out.
pub async fn pull_outputs(
    asker: &Asker,
    from: &PublicKey,
    job: RunId,
    paths: &[String],
    folder: &Path,
    most: u64,
    room: &Room,
) -> Result<(), FetchError> {
    let mut left = most;
    for path in paths {
        let ask = |offset| {
            let from_there = AgentRequest::Output {
                job,
                path: path.clone(),
                from: offset,
            };
            async move { asker.ask(from, &from_there).await }
        };
        match ask(0).await {
            Some(AgentReply::NotFound) => continue,
            None => return Err(FetchError::Missing(path.clone())),
            Some(_) => {}
        }
        let mut sink = Sink {
            file: create_below(folder, path, 0o644)?,
            name: path,
            room,
        };
        left -= pull(ask, left, time_for, &mut sink, |_| true).await?;
    }
    Ok(())
}

pub(crate) struct Sink<'a> {
    pub(crate) file: File,
    pub(crate) name: &'a str,
    pub(crate) room: &'a Room,
}

impl Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), FetchError> {
        if !self.room.takes(bytes.len() as u64) {
            return Err(FetchError::NoRoom(self.name.to_owned(), self.room.kept()));
        }
        self.file
            .write_all(bytes)
            .map_err(|source| FetchError::Disk {
                path: self.name.to_owned(),
                source,
            })
    }
}

/// Asks for piece after piece until the file is whole, for as long as its bytes may take; returns
/// them.
pub(crate) async fn pull<A: Future<Output = Option<AgentReply>>>(
    ask: impl Fn(u64) -> A,
    most: u64,
    time_for: impl Fn(u64) -> Duration,
    sink: &mut Sink<'_>,
    mut accept: impl FnMut(&[u8]) -> bool,
) -> Result<u64, FetchError> {
    let wrong = || FetchError::Wrong(sink.name.to_string());
    let begin = Instant::now();
    let (mut held, mut announced) = (0u64, None);
    loop {
        let until = begin + time_for(announced.unwrap_or(0));
        let answer = tokio::time::timeout_at(until, ask(held)).await;
        let answer = answer.map_err(|_| FetchError::Slow(sink.name.to_string()))?;
        let Some(AgentReply::Chunk { total, bytes }) = answer else {
            return Err(FetchError::Missing(sink.name.to_string()));
        };
        if total > most {
            return Err(FetchError::TooMuch {
                path: sink.name.to_owned(),
                bytes: total,
                allowed: most,
            });
        }
        let after = held.saturating_add(bytes.len() as u64);
        let short = bytes.len() < CHUNK_BYTES && after < total;
        let other = announced.is_some_and(|announced| announced != total);
        if short || other || after > total || !accept(&bytes) {
            return Err(wrong());
        }
        announced = Some(total);
        sink.write(&bytes)?;
        held = after;
        if held == total {
            return Ok(held);
        }
    }
}

fn create_below(folder: &Path, path: &str, mode: u32) -> Result<File, FetchError> {
    let target = folder.join(path);
    let disk = |source| FetchError::Disk {
        path: target.display().to_string(),
        source,
    };
    if !path_is_inside(path) {
        return Err(FetchError::Wrong(path.to_string()));
    }
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent).map_err(disk)?;
    }
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .custom_flags(libc::O_NOFOLLOW)
        .open(&target)
        .map_err(disk)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: u64 = CHUNK_BYTES as u64;

    /// Pulls from a seller that announces a total by the offset and sends so much from there.
    async fn pull_from(
        answer: impl Fn(u64) -> (u64, u64),
        most: u64,
        floor: u64,
    ) -> (Result<u64, FetchError>, u32) {
        let dir = tempfile::tempdir().unwrap();
        let room = Room::of(dir.path()).unwrap().with_floor(floor);
        let mut sink = Sink {
            file: create_below(dir.path(), "out", 0o644).unwrap(),
            name: "out",
            room: &room,
        };
        let asked = std::cell::Cell::new(0);
        let ask = |from| {
            asked.set(asked.get() + 1);
            let (total, piece) = answer(from);
            let bytes = vec![7; piece as usize];
            async move { Some(AgentReply::Chunk { total, bytes }) }
        };
        let done = pull(ask, most, time_for, &mut sink, |_| true).await;
        let on_disk = fs::metadata(dir.path().join("out")).unwrap().len();
        assert!(
            on_disk <= most,
            "{on_disk} bytes were kept, {most} are allowed"
        );
        (done, asked.get())
    }

    /// The same from one that always announces so many bytes and sends so many.
    async fn pulled(total: u64, piece: u64, most: u64, floor: u64) -> Result<u64, FetchError> {
        pull_from(|_| (total, piece), most, floor).await.0
    }

    #[test]
    fn all_tasks_of_an_order_together_send_no_more_than_an_order_may() {
        for (of_unit, tasks, each) in [
            (50, 1, 50),
            (u64::MAX, 1, 100),
            (u64::MAX, 10, 100),
            (u64::MAX, 11, 90),
            (50, 100, 10),
            (50, 1_001, 0),
            (50, 0, 50),
        ] {
            assert_eq!(portion(of_unit, tasks, 100, 1_000), each, "{tasks}");
            assert!(each * u64::from(tasks) <= 1_000);
        }
        assert_eq!(output_bytes(u64::MAX, 1), 1 << 30);
        assert_eq!(output_bytes(u64::MAX, 128), 512 << 20);
    }

    #[tokio::test]
    async fn no_more_comes_than_is_allowed_and_fits() {
        assert_eq!(
            pulled(2 * CHUNK, CHUNK, 2 * CHUNK, 0).await.unwrap(),
            2 * CHUNK
        );
        assert_eq!(pulled(100, 100, 100, 0).await.unwrap(), 100);
        assert_eq!(pulled(0, 0, 0, 0).await.unwrap(), 0);
        let more = pulled(101, 101, 100, 0).await.unwrap_err();
        assert!(matches!(
            more,
            FetchError::TooMuch {
                bytes: 101,
                allowed: 100,
                ..
            }
        ));
        assert_eq!(more.of_outputs(), Fetch::Never);
        assert!(
            more.to_string().contains("of which the order allows 100"),
            "{more}"
        );
        for (total, piece) in [(CHUNK + 1, CHUNK), (100, 101), (100, 0)] {
            let wrong = pulled(total, piece, 2 * CHUNK, 0).await.unwrap_err();
            assert!(matches!(wrong, FetchError::Wrong(_)), "{wrong}");
        }
        assert!(matches!(
            pulled(100, 100, 100, 1 << 60).await,
            Err(FetchError::NoRoom(..))
        ));
    }

    #[tokio::test]
    async fn a_piece_is_whole_or_the_last_and_what_is_announced_stays() {
        let total = 2 * CHUNK + 10;
        let honest = |from: u64| (total, CHUNK.min(total - from));
        let (done, asked) = pull_from(honest, total, 0).await;
        assert_eq!((done.unwrap(), asked), (total, 3));
        for short in [1, CHUNK - 1] {
            let (done, asked) = pull_from(|_| (total, short), total, 0).await;
            assert!(matches!(done, Err(FetchError::Wrong(_))), "{done:?}");
            assert_eq!(asked, 1, "who drips is not asked again");
        }
        let (done, asked) = pull_from(|from| (from + 2 * CHUNK, CHUNK), 1 << 30, 0).await;
        assert!(matches!(done, Err(FetchError::Wrong(_))), "{done:?}");
        assert_eq!(asked, 2, "nor is it more with every piece");
    }

    #[tokio::test]
    async fn a_file_has_a_time_by_its_bytes() {
        assert_eq!(time_for(0), Duration::from_secs(30));
        assert_eq!(time_for(1 << 20), Duration::from_secs(46));
        let dir = tempfile::tempdir().unwrap();
        let room = Room::of(dir.path()).unwrap().with_floor(0);
        let mut sink = Sink {
            file: create_below(dir.path(), "out", 0o644).unwrap(),
            name: "out",
            room: &room,
        };
        let silent = |_| std::future::pending();
        let soon = |_| Duration::from_millis(20);
        let done = pull(silent, 1 << 20, soon, &mut sink, |_| true).await;
        let slow = done.unwrap_err();
        assert!(matches!(slow, FetchError::Slow(_)), "{slow}");
        assert_eq!(slow.of_outputs(), Fetch::NotYet);
    }
}
