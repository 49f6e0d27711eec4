//! Output of jobs, as far as it has come to this node.

use super::handle::find;
use super::state::situation;
use crate::api::Answer;
use crate::api::types::{JobId, LogChunk, Stream};
use crate::backend::NodeBackend;
use crate::backend::failure::{internal, not_found};
use crate::store::content::read_chunk;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of one piece at the most, whatever is asked for.
const PIECE: usize = 1024 * 1024;

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
        let Output {
            rank,
            stream,
            attempt,
        } = which;
        // The end is looked at first: output read after it is complete.
        let looked = self.query(move |core| {
            let (key, agent) = find(core, &id)?;
            let task = agent.tasks.records.get(rank as usize);
            let present = task.map_or(0, |t| t.attempt.saturating_sub(1));
            let task = task.ok_or_else(|| {
                let hint = format!(
                    "it has ranks 0 to {}",
                    agent.order().tasks.saturating_sub(1)
                );
                not_found(format!("the job has no rank {rank}"), hint)
            })?;
            let over = task.done.is_some() || situation(core.state(), agent).judge().0.is_final();
            Ok::<_, crate::api::ApiError>((key, over, present))
        });
        let (key, over, present) = looked.await??;
        let (orders, stderr) = (&self.parts.orders, stream == Stream::Stderr);
        let (path, over) = match attempt.filter(|attempt| *attempt != present) {
            None => (orders.output(&key, rank, stderr), over),
            Some(earlier) => (orders.earlier_output(&key, rank, stderr, earlier), true),
        };
        let chunk = read(path, from, max.min(PIECE), over).await?;
        Ok(LogChunk { present, ..chunk })
    }
}

async fn read(path: PathBuf, from: u64, max: usize, over: bool) -> Answer<LogChunk> {
    let chunk = tokio::task::spawn_blocking(move || chunk(&path, from, max, over)).await;
    let chunk = chunk.map_err(|error| internal("reading output", error))?;
    chunk.map_err(|error| internal("reading output", error))
}

fn chunk(path: &Path, from: u64, max: usize, over: bool) -> io::Result<LogChunk> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let name = path.file_name().unwrap_or_default();
    let (total, bytes) = match read_chunk(folder, Path::new(name), from, max) {
        Ok(read) => read,
        // A stream without output has no file.
        Err(error) if error.kind() == io::ErrorKind::NotFound => (0, Vec::new()),
        Err(error) => return Err(error),
    };
    let next = from.saturating_add(bytes.len() as u64);
    Ok(LogChunk {
        bytes,
        next,
        last: over && next >= total,
        present: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
                present: 0,
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
                present: 0,
            }
        );
        let rest = chunk(&path, first.next, 6, true).unwrap();
        assert_eq!(
            rest,
            LogChunk {
                bytes: b"world".to_vec(),
                next: 11,
                last: true,
                present: 0,
            }
        );
        assert!(!chunk(&path, 6, 6, false).unwrap().last, "more may come");
        assert_eq!(chunk(&path, 99, 6, false).unwrap().next, 99);
    }
}
