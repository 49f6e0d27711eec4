//! Results: from the node to the user's folder.

use super::error::{CliError, During as _};
use super::exit::Exit;
use super::progress::Progress;
use crate::api::client::Client;
use crate::api::types::{JobFile, JobRecord};
use gridbay_protocol::job::path_is_inside;
use http_body_util::BodyExt as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

const WHAT: &str = "the results are not all here";

/// Fetches every file a job brought back: into `dest` for one rank, into `dest/rank<n>` for
/// several. Says which declared ones are missing.
pub(super) async fn fetch(
    client: &Client,
    record: &JobRecord,
    dest: &Path,
) -> Result<Vec<PathBuf>, CliError> {
    let mut written = Vec::new();
    for file in &record.files {
        // The paths are the user's own, but they have been to the node and back.
        if !path_is_inside(&file.path) {
            let why = format!("`{}` leads out of the folder", file.path);
            return Err(CliError::new(
                Exit::REFUSED,
                WHAT,
                why,
                "do not trust this node",
            ));
        }
        let folder = if record.nodes == 1 {
            dest.to_owned()
        } else {
            dest.join(format!("rank{}", file.rank))
        };
        let place = folder.join(&file.path);
        fetch_one(client, record, file, &place).await?;
        written.push(place);
    }
    Ok(written)
}

async fn fetch_one(
    client: &Client,
    record: &JobRecord,
    file: &JobFile,
    place: &Path,
) -> Result<(), CliError> {
    let failed = |error: io::Error| {
        let why = format!("{}: {error}", place.display());
        CliError::new(Exit::FAILED, WHAT, why, "gridbay job get --dest <folder>")
    };
    let path = format!(
        "/jobs/{}/files/{}/{}",
        record.id,
        file.rank,
        escape(&file.path)
    );
    let mut body = client.download(&path).await.during(WHAT)?.into_body();
    let folder = place.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.join(format!(".{name}.part"));
    let mut out = File::create(&beside).map_err(failed)?;
    let mut progress = Progress::new(format!("fetching {}", file.path), file.bytes);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| failed(io::Error::other(error)))?;
        if let Ok(piece) = frame.into_data() {
            out.write_all(&piece).map_err(failed)?;
            progress.add(piece.len());
        }
    }
    fs::rename(&beside, place).map_err(failed)
}

/// Percent-encodes what cannot stand in a path of an address.
pub(super) fn escape(path: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/".contains(&b);
    let one = |b: u8| {
        if plain(b) {
            char::from(b).to_string()
        } else {
            format!("%{b:02X}")
        }
    };
    path.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_an_address() {
        assert_eq!(escape("out/a b%?.txt"), "out/a%20b%25%3F.txt");
        assert_eq!(escape("\u{e4}"), "%C3%A4");
    }
}
