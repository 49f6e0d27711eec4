//! Files between nodes: a seller pulls a job's inputs, a buyer pulls its output files.
//!
//! Both sides are checked by whoever writes: paths stay below the folder they are meant for, sizes stay
//! within what was announced, inputs must have the hash that the job names.

use super::ask::Asker;
use gridbay_core::agent::{AgentReply, AgentRequest, JobId};
use gridbay_protocol::ids::ContentId;
use gridbay_protocol::job::{InputFile, content_id, path_is_inside};
use gridbay_protocol::keys::PublicKey;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Bytes of one output file at the most.
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

/// Pulls all inputs of a job into its work directory.
pub async fn pull_inputs(
    asker: &Asker,
    from: &PublicKey,
    inputs: &[InputFile],
    work: &Path,
) -> Result<(), FetchError> {
    for input in inputs {
        let bytes = pull_content(asker, from, &input.content, input.bytes, &input.path).await?;
        let mode = if input.executable { 0o755 } else { 0o644 };
        write_below(work, &input.path, &bytes, mode)?;
    }
    Ok(())
}

async fn pull_content(
    asker: &Asker,
    from: &PublicKey,
    content: &ContentId,
    size: u64,
    name: &str,
) -> Result<Vec<u8>, FetchError> {
    let ask = |offset| AgentRequest::Content {
        content: *content,
        from: offset,
    };
    let bytes = pull(asker, from, ask, size, name).await?;
    if bytes.len() as u64 != size || content_id(&bytes) != *content {
        return Err(FetchError::Wrong(name.to_string()));
    }
    Ok(bytes)
}

/// Pulls output files of an ended job into a folder. A file that the job did not write is left out.
pub async fn pull_outputs(
    asker: &Asker,
    from: &PublicKey,
    job: JobId,
    paths: &[String],
    folder: &Path,
) -> Result<(), FetchError> {
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
        let bytes = pull(asker, from, ask, OUTPUT_FILE_BYTES, path).await?;
        write_below(folder, path, &bytes, 0o644)?;
    }
    Ok(())
}

/// Asks for chunk after chunk until the file is whole.
async fn pull(
    asker: &Asker,
    from: &PublicKey,
    ask: impl Fn(u64) -> AgentRequest,
    most: u64,
    name: &str,
) -> Result<Vec<u8>, FetchError> {
    let mut held = Vec::new();
    loop {
        let Some(AgentReply::Chunk { total, bytes }) =
            asker.ask(from, &ask(held.len() as u64)).await
        else {
            return Err(FetchError::Missing(name.to_string()));
        };
        if total > most || held.len() as u64 + bytes.len() as u64 > total {
            return Err(FetchError::Wrong(name.to_string()));
        }
        let stuck = bytes.is_empty() && (held.len() as u64) < total;
        held.extend_from_slice(&bytes);
        if stuck {
            return Err(FetchError::Wrong(name.to_string()));
        }
        if held.len() as u64 == total {
            return Ok(held);
        }
    }
}

fn write_below(folder: &Path, path: &str, bytes: &[u8], mode: u32) -> Result<(), FetchError> {
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
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .custom_flags(libc::O_NOFOLLOW)
        .open(&target)
        .map_err(disk)?;
    file.write_all(bytes).map_err(disk)
}
