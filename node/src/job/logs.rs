//! Output of jobs, as far as it has come to this node.
//!
//! A rank that the job does not have, and an attempt that there was not or whose output is no
//! longer kept, are not found. A rank that has not run yet has an empty output, to which more will
//! come, and no present attempt.

use super::handle::find;
use super::state::situation;
use crate::api::Answer;
use crate::api::types::{JobId, LogChunk, Stream};
use crate::backend::NodeBackend;
use crate::backend::failure::{internal, not_found};
use crate::store::content::read_chunk;
use crate::store::orders::OUTPUTS;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of one piece at the most, whatever is asked for.
const PIECE: usize = 1024 * 1024;

/// What tells of ranks and attempts.
const SHOW: &str = "see gridbay job describe";

/// Which output.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Rank.
    pub rank: u32,
    /// Stream.
    pub stream: Stream,
    /// An earlier attempt; `None` for the present one.
    pub attempt: Option<u32>,
}

impl NodeBackend {
    /// At most `max` bytes of a rank's stream from an offset.
    pub async fn logs(&self, id: JobId, which: Output, from: u64, max: usize) -> Answer<LogChunk> {
        let Kept {
            path,
            over,
            present,
        } = self.kept(id, which).await?;
        let chunk = read(move || chunk(&path, from, max.min(PIECE), over)).await?;
        Ok(LogChunk { present, ..chunk })
    }

    /// The last bytes of a rank's stream, at most `max`, and how many there are before them.
    pub(crate) async fn log_end(
        &self,
        id: JobId,
        which: Output,
        max: usize,
    ) -> Answer<(u64, Vec<u8>)> {
        let path = self.kept(id, which).await?.path;
        read(move || end(&path, max.min(PIECE))).await
    }

    /// Where the output is kept.
    async fn kept(&self, id: JobId, which: Output) -> Answer<Kept> {
        let Output {
            rank,
            stream,
            attempt,
        } = which;
        // The end is looked at first: output read after it is complete.
        let looked = self.query(move |core| {
            let (key, agent) = find(core, &id)?;
            let task = agent.tasks.records.get(rank as usize);
            let task = task.ok_or_else(|| {
                let last = agent.order().tasks.saturating_sub(1);
                let why = format!("the job has no rank {rank}, only 0 to {last}");
                not_found(why, SHOW)
            })?;
            let present = task.attempt.checked_sub(1);
            if let Some(attempt) = attempt {
                check(rank, attempt, present)?;
            }
            let over = task.done.is_some() || situation(core.state(), agent).judge().0.is_final();
            Ok::<_, crate::api::ApiError>((key, over, present))
        });
        let (key, over, present) = looked.await??;
        let (orders, stderr) = (&self.parts.orders, stream == Stream::Stderr);
        let (path, over) = match attempt.filter(|attempt| Some(*attempt) != present) {
            None => (orders.output(&key, rank, stderr), over),
            Some(earlier) => (orders.earlier_output(&key, rank, stderr, earlier), true),
        };
        Ok(Kept {
            path,
            over,
            present,
        })
    }
}

/// A file of output.
struct Kept {
    path: PathBuf,
    /// Whether nothing will be added.
    over: bool,
    /// The present attempt, whichever this is.
    present: Option<u32>,
}

/// Refuses an attempt of which there is no output, and will be none.
fn check(rank: u32, attempt: u32, present: Option<u32>) -> Answer<()> {
    let why = match present {
        None => format!("there is no attempt {attempt}: rank {rank} has not run yet"),
        Some(present) if attempt > present => {
            format!("there is no attempt {attempt} of rank {rank}, only 0 to {present}")
        }
        Some(present) if present - attempt > OUTPUTS => {
            let first = present - OUTPUTS;
            format!("of rank {rank} only attempts {first} to {present} are still kept")
        }
        Some(_) => return Ok(()),
    };
    Err(not_found(why, SHOW))
}

async fn read<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Answer<T> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|error| internal("reading output", error))?;
    done.map_err(|error| internal("reading output", error))
}

/// Bytes of a file, and how many it has.
fn piece(path: &Path, from: u64, max: usize) -> io::Result<(u64, Vec<u8>)> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let name = path.file_name().unwrap_or_default();
    match read_chunk(folder, Path::new(name), from, max) {
        // A stream without output has no file.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((0, Vec::new())),
        read => read,
    }
}

fn end(path: &Path, max: usize) -> io::Result<(u64, Vec<u8>)> {
    let (total, _) = piece(path, 0, 0)?;
    let from = total.saturating_sub(max as u64);
    let (_, bytes) = piece(path, from, max)?;
    Ok((from, bytes))
}

fn chunk(path: &Path, from: u64, max: usize, over: bool) -> io::Result<LogChunk> {
    let (total, bytes) = piece(path, from, max)?;
    let next = from.saturating_add(bytes.len() as u64);
    Ok(LogChunk {
        bytes,
        next,
        last: over && next >= total,
        present: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_that_there_were_not_are_told_from_a_rank_that_has_not_run() {
        let why = |attempt, present| check(2, attempt, present).unwrap_err().message;
        assert!(why(0, None).ends_with("rank 2 has not run yet"));
        assert!(why(1, Some(0)).contains("no attempt 1"));
        assert!(why(0, Some(9)).contains("attempts 1 to 9 are still kept"));
        for (attempt, present) in [(0, 0), (0, 8), (1, 9), (9, 9)] {
            assert_eq!(check(2, attempt, Some(present)), Ok(()));
        }
    }

    #[test]
    fn the_end_of_an_output_says_how_much_there_was_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stdout");
        assert_eq!(end(&path, 4).unwrap(), (0, vec![]));
        std::fs::write(&path, b"hello world").unwrap();
        assert_eq!(end(&path, 5).unwrap(), (6, b"world".to_vec()));
        assert_eq!(end(&path, 50).unwrap(), (0, b"hello world".to_vec()));
    }

    #[test]
    fn pieces_follow_one_another_until_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stdout");
        let none = chunk(&path, 0, 9, false).unwrap();
        assert_eq!(
            none,
            LogChunk {
                bytes: vec![],
                next: 0,
                last: false,
                present: None,
            }
        );
        assert!(
            chunk(&path, 0, 9, true).unwrap().last,
            "it ended without output"
        );
        std::fs::write(&path, b"hello world").unwrap();
        let first = chunk(&path, 0, 6, true).unwrap();
        assert_eq!(
            first,
            LogChunk {
                bytes: b"hello ".to_vec(),
                next: 6,
                last: false,
                present: None,
            }
        );
        let rest = chunk(&path, first.next, 6, true).unwrap();
        assert_eq!(
            rest,
            LogChunk {
                bytes: b"world".to_vec(),
                next: 11,
                last: true,
                present: None,
            }
        );
        assert!(!chunk(&path, 6, 6, false).unwrap().last, "more may come");
        assert_eq!(chunk(&path, 99, 6, false).unwrap().next, 99);
    }
}
