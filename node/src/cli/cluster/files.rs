//! `cluster put` and `cluster get`.

use super::way::{Way, each, fresh};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::config::parse;
use crate::rank::files::{Entry, Receiver, list};
use crate::rank::order::{Id, Put};
use crate::rank::remote::files::{get, plain, put};
use crate::ui;
use clap::Args;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NOT_PUT: &str = "the files are not all there";
const NOT_GOT: &str = "the files are not all here";
/// What a rank may send if nothing else is said.
const MOST: &str = "64GiB";

/// Bring files and folders to a rank, or to all
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct PutArgs {
    /// The cluster's id, how that begins, or its name
    id: String,
    /// Files and folders of this machine, then where to: RANK:PATH, or PATH on all ranks. Paths are
    /// relative to the job's folder; one that ends with / is a folder to put them into
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    paths: Vec<String>,
    /// Copy one file as it is, to measure by
    #[arg(long, hide = true)]
    plain: bool,
}

/// Fetch files and folders of a rank, or of all
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct GetArgs {
    /// The cluster's id, how that begins, or its name
    id: String,
    /// RANK:PATH for each, all:PATH for those of every rank; then a folder of this machine. Those
    /// of several ranks go to folders rank0, rank1, ... in it. A path without a name, as in 0:,
    /// fetches a whole folder, into one that is new or empty
    #[arg(required = true, num_args = 2.., value_name = "RANK:PATH")]
    paths: Vec<String>,
    /// Bytes to take of each rank at the most
    #[arg(long, value_name = "SIZE", value_parser = parse::size, default_value = MOST)]
    max_bytes: u64,
}

fn usage(what: &str, why: impl Into<String>) -> CliError {
    CliError::new(Exit::USAGE, what, why, "see gridbay cluster --help")
}

/// The rank before a colon, as `3` or by its name `rank3`, and the path behind it; a colon in a
/// path is no end of a rank.
fn of_rank(text: &str) -> (Option<&str>, &str) {
    let is_rank = |word: &str| word == "all" || word.parse::<u32>().is_ok();
    match text.split_once(':') {
        Some((word, path)) => {
            let rank = word.strip_prefix("rank").unwrap_or(word);
            match is_rank(rank) {
                true => (Some(rank), path),
                false => (None, text),
            }
        }
        None => (None, text),
    }
}

impl PutArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let way = Way::new(at, &self.id)?;
        let Some((to, sources)) = self.paths.split_last() else {
            return Err(usage(NOT_PUT, "nothing was named"));
        };
        let (rank, path) = of_rank(to);
        let ranks: Vec<u32> = match rank.and_then(|rank| rank.parse().ok()) {
            Some(rank) => vec![rank],
            None => (0..way.size(at)?).collect(),
        };
        if self.plain {
            return copy(&way, &ranks, sources, path);
        }
        let entries = entries(sources)?;
        let order = Put {
            transfer: fresh()?,
            to: path.to_owned(),
            into: sources.len() > 1 || path.is_empty() || path.ends_with('/'),
        };
        let done = format!("put {} to {}", things(entries.len()), places(&ranks));
        to_ranks(&way, ranks, &order, &entries)?;
        ui::note(&done);
        Ok(())
    }
}

/// So many files and folders, in words.
fn things(count: usize) -> String {
    match count {
        1 => "1 file or folder".to_owned(),
        n => format!("{n} files and folders"),
    }
}

/// Ranks, in words.
fn places(ranks: &[u32]) -> String {
    match ranks {
        [rank] => format!("rank {rank}"),
        ranks => format!("{} ranks", ranks.len()),
    }
}

/// Copies a file as it is.
fn copy(way: &Arc<Way>, ranks: &[u32], from: &[String], to: &str) -> Result<(), CliError> {
    for (rank, path) in ranks.iter().zip(from) {
        let mut file = File::open(path).map_err(|error| usage(NOT_PUT, error.to_string()))?;
        plain(&**way, *rank, to, &mut file).during(NOT_PUT)?;
    }
    Ok(())
}

/// Brings files to several ranks at once.
pub(super) fn to_ranks(
    way: &Arc<Way>,
    ranks: impl IntoIterator<Item = u32>,
    order: &Put,
    entries: &[Entry],
) -> Result<(), CliError> {
    let one = |rank| put(&**way, rank, order, entries, &ui::note).during(NOT_PUT);
    each(ranks, one).map(drop)
}

/// What lies at these places of this machine.
fn entries(sources: &[String]) -> Result<Vec<Entry>, CliError> {
    let mut all = Vec::new();
    for source in sources {
        let place = Path::new(source);
        let failed = |e: &io::Error| {
            let why = format!("{source}: {e}");
            CliError::new(
                Exit::NOT_FOUND,
                NOT_PUT,
                why,
                "check the names of the files",
            )
        };
        let whole = place.canonicalize().map_err(|e| failed(&e))?;
        let named = place.file_name().or_else(|| whole.file_name());
        let name = named.and_then(|name| name.to_str()).unwrap_or_default();
        let (found, left) = list(place, name).map_err(|e| failed(&e))?;
        for line in left {
            ui::note(&format!("left out: {line}"));
        }
        all.extend(found);
    }
    Ok(all)
}

impl GetArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let way = Way::new(at, &self.id)?;
        let Some((to, sources)) = self.paths.split_last() else {
            return Err(usage(NOT_GOT, "nothing was named"));
        };
        let mut wanted: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for source in sources {
            let (rank, path) = of_rank(source);
            let ranks = match rank {
                None => return Err(usage(NOT_GOT, format!("{source} names no rank"))),
                Some("all") => (0..way.size(at)?).collect(),
                Some(rank) => vec![rank.parse().unwrap_or(u32::MAX)],
            };
            for rank in ranks {
                wanted.entry(rank).or_default().push(path.to_owned());
            }
        }
        from_ranks(&way, &wanted, Path::new(to), fresh()?, self.max_bytes)?;
        let ranks: Vec<u32> = wanted.into_keys().collect();
        ui::note(&format!(
            "got what was named of {} into {to}",
            places(&ranks)
        ));
        Ok(())
    }
}

/// Fetches files of several ranks at once.
pub(super) fn from_ranks(
    way: &Arc<Way>,
    wanted: &BTreeMap<u32, Vec<String>>,
    to: &Path,
    id: Id,
    most: u64,
) -> Result<(), CliError> {
    let several = wanted.len() > 1;
    let one = |rank| {
        let folder: PathBuf = match several {
            true => to.join(format!("rank{rank}")),
            false => to.to_owned(),
        };
        let failed = |e: io::Error| {
            let why = format!("{}: {e}", folder.display());
            CliError::new(Exit::FAILED, NOT_GOT, why, "name a folder to write to")
        };
        let paths = wanted.get(&rank).map_or(&[][..], Vec::as_slice);
        let into = Receiver::asked(&folder, paths, id, most).map_err(failed)?;
        get(&**way, rank, paths, into, &ui::note).during(NOT_GOT)
    };
    each(wanted.keys().copied(), one).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_moved_is_told() {
        assert_eq!(
            things(1) + " to " + &places(&[3]),
            "1 file or folder to rank 3"
        );
        assert_eq!(
            things(2) + " to " + &places(&[0, 1]),
            "2 files and folders to 2 ranks"
        );
    }

    #[test]
    fn a_rank_stands_before_the_first_colon() {
        assert_eq!(of_rank("3:a/b"), (Some("3"), "a/b"));
        assert_eq!(of_rank("all:x"), (Some("all"), "x"));
        assert_eq!(of_rank("rank3:x"), (Some("3"), "x"));
        assert_eq!(of_rank("ranks:x"), (None, "ranks:x"));
        assert_eq!(of_rank("a:b"), (None, "a:b"));
        assert_eq!(of_rank("x"), (None, "x"));
        assert_eq!(of_rank("0:"), (Some("0"), ""));
    }
}
