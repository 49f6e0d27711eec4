//! Files between nodes: a seller pulls a job's inputs, a buyer pulls its output files.
//!
//! Both sides are checked by whoever writes: paths stay below the folder they are meant for, sizes stay
//! within what was announced, inputs must have the hash that the job names.

use super::ask::Asker;
use gridbay_core::agent::{AgentReply, AgentRequest, JobId};
use gridbay_protocol::job::{ContentHasher, InputFile, path_is_inside};
use gridbay_protocol::keys::PublicKey;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

/// Bytes of all output files of one task at the most.
pub const OUTPUT_FILE_BYTES: u64 = 1 << 30;

/// Why files could not be brought over.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The other node did not answer, or has it not.
    #[error("{0} is not to be had")]
    Missing(String),
    /// What came is not what was announced.
    #[error("{0} is not what was announced")]
    Wrong(String),
    /// This node's disk failed.
    #[error("writing {path}")]
    Disk {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
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
) -> Result<(), FetchError> {
    for again in 1..TRIES {
        match pull_all(asker, from, inputs, work).await {
            Err(FetchError::Missing(name)) => {
                tracing::debug!(%from, name, again, "an input is not to be had yet");
                tokio::time::sleep(PAUSE * (1 << again)).await;
            }
            result => return result,
        }
    }
    pull_all(asker, from, inputs, work).await
}

async fn pull_all(
    asker: &Asker,
    from: &PublicKey,
    inputs: &[InputFile],
    work: &Path,
) -> Result<(), FetchError> {
    for input in inputs {
        let content = input.content;
        let ask = |offset| AgentRequest::Content {
            content,
            from: offset,
        };
        let mut hasher = ContentHasher::new(input.bytes);
        let mode = if input.executable { 0o755 } else { 0o644 };
        let file = create_below(work, &input.path, mode)?;
        let mut sink = Sink {
            file,
            name: &input.path,
        };
        pull(asker, from, ask, input.bytes, &mut sink, |piece| {
            hasher.update(piece)
        })
        .await?;
        if hasher.finish() != Some(content) {
            return Err(FetchError::Wrong(input.path.clone()));
        }
    }
    Ok(())
}

/// Pulls output files of an ended job into a folder, at most [`OUTPUT_FILE_BYTES`] in all. A file that the
/// job did not write is left out.
pub async fn pull_outputs(
    asker: &Asker,
    from: &PublicKey,
    job: JobId,
    paths: &[String],
    folder: &Path,
) -> Result<(), FetchError> {
    let mut room = OUTPUT_FILE_BYTES;
    for path in paths {
        let ask = |offset| AgentRequest::Output {
            job,
            path: path.clone(),
            from: offset,
        };
        match asker.ask(from, &ask(0)).await {
            Some(AgentReply::NotFound) => continue,
            None => return Err(FetchError::Missing(path.clone())),
            Some(_) => {}
        }
        let mut sink = Sink {
            file: create_below(folder, path, 0o644)?,
            name: path,
        };
        room -= pull(asker, from, ask, room, &mut sink, |_| true).await?;
    }
    Ok(())
}

struct Sink<'a> {
    file: File,
    name: &'a str,
}

/// Asks for piece after piece until the file is whole; returns its bytes.
async fn pull(
    asker: &Asker,
    from: &PublicKey,
    ask: impl Fn(u64) -> AgentRequest,
    most: u64,
    sink: &mut Sink<'_>,
    mut accept: impl FnMut(&[u8]) -> bool,
) -> Result<u64, FetchError> {
    let wrong = || FetchError::Wrong(sink.name.to_string());
    let mut held = 0u64;
    loop {
        let Some(AgentReply::Chunk { total, bytes }) = asker.ask(from, &ask(held)).await else {
            return Err(FetchError::Missing(sink.name.to_string()));
        };
        let stuck = bytes.is_empty() && held < total;
        let beyond = total > most || held.saturating_add(bytes.len() as u64) > total;
        if stuck || beyond || !accept(&bytes) {
            return Err(wrong());
        }
        sink.file
            .write_all(&bytes)
            .map_err(|source| FetchError::Disk {
                path: sink.name.to_string(),
                source,
            })?;
        held += bytes.len() as u64;
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
