//! `run --cluster`: a job on a cluster that is held already.
//!
//! It runs on all ranks, in a folder of its own: inputs are put there, outputs fetched from there,
//! and the folder goes when all is here. Where rank 0 leads, the ranks command one another under a
//! secret that was made for this run and ends with it.

use super::exec::{first, on_all};
use super::files::to_ranks;
use super::way::{Way, each, fresh};
use crate::api::ErrorCode;
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::keys::random;
use crate::rank::files::{Receiver, list};
use crate::rank::kind::scheduler_of;
use crate::rank::order::Put;
use crate::rank::remote::files::get;
use crate::rank::wire::{PORT_OF_RUN, SECRET_OF_RUN};
use crate::ui;
use gridbay_protocol::ids::to_hex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const WHAT: &str = "the job did not run on the cluster";
/// Bytes of an output that a rank may send.
const MOST: u64 = 64 << 30;
/// Ports of runs whose ranks command one another.
const PORTS: std::ops::Range<u16> = 20_000..60_000;

/// A job for a cluster.
pub(in crate::cli) struct Errand {
    /// Inputs by their paths in the job's folder.
    pub(in crate::cli) files: BTreeMap<String, PathBuf>,
    /// Program and arguments.
    pub(in crate::cli) argv: Vec<String>,
    /// Its variables.
    pub(in crate::cli) env: BTreeMap<String, String>,
    /// Files to bring back.
    pub(in crate::cli) outputs: Vec<String>,
    /// Where to.
    pub(in crate::cli) dest: PathBuf,
    /// Whether lines begin with their rank.
    pub(in crate::cli) label: bool,
    /// Whether rank 0 leads the others; its code is the job's then.
    pub(in crate::cli) is_led: bool,
    /// Whether programs on this machine can be clients of it, as Dask's are.
    pub(in crate::cli) has_clients: bool,
}

/// Runs it; its code.
pub(in crate::cli) fn run(at: &Context, id: &str, errand: Errand) -> Result<Exit, CliError> {
    let way = Way::new(at, id)?;
    let size = way.size(at)?;
    let transfer = fresh()?;
    let folder = format!("run-{}", to_hex(&transfer.0[..4]));
    let mut entries = Vec::new();
    for (name, place) in &errand.files {
        let (found, _) = list(place, name).map_err(|error| {
            let why = format!("{}: {error}", place.display());
            CliError::new(Exit::NOT_FOUND, WHAT, why, "check the names of the files")
        })?;
        entries.extend(found);
    }
    if !entries.is_empty() {
        let order = Put {
            transfer,
            to: folder.clone(),
            into: true,
        };
        to_ranks(&way, 0..size, &order, &entries)?;
    }
    let mut env = errand.env.clone();
    if errand.is_led {
        let seed = random().during(WHAT)?;
        let drawn = u16::from_be_bytes([seed[0], seed[1]]) % (PORTS.end - PORTS.start);
        // The next one is the programs' own.
        let port = PORTS.start + drawn / 2 * 2;
        if errand.has_clients {
            let scheduler = scheduler_of(Some(port));
            ui::note(&format!(
                "Dask's scheduler is at rank0:{scheduler}; for clients here: gridbay lease connect \
                 {id} --forward 0:rank0:{scheduler}"
            ));
        }
        env.insert(PORT_OF_RUN.to_owned(), port.to_string());
        env.insert(SECRET_OF_RUN.to_owned(), to_hex(&seed[2..]));
    }
    let codes = on_all(&way, 0..size, &errand.argv, &env, (&folder, errand.label))?;
    fetch(&way, size, &folder, &errand)?;
    let words = ["rm", "-rf", &folder].map(str::to_owned);
    // A folder that stays is in nobody's way, and goes with the cluster.
    let _stays = on_all(&way, 0..size, &words, &BTreeMap::new(), ("", false));
    Ok(match errand.is_led {
        true => first(&codes[..1.min(codes.len())]),
        false => first(&codes),
    })
}

/// Fetches the outputs that there are.
fn fetch(way: &Arc<Way>, size: u32, folder: &str, errand: &Errand) -> Result<(), CliError> {
    for output in &errand.outputs {
        let found = each(0..size, |rank| {
            let to = match size {
                1 => errand.dest.clone(),
                _ => errand.dest.join(format!("rank{rank}")),
            };
            let to = to.join(Path::new(output).parent().unwrap_or(Path::new("")));
            let paths = [format!("{folder}/{output}")];
            let into = Receiver::asked(&to, &paths, fresh()?, MOST).map_err(|error| {
                let why = format!("{}: {error}", to.display());
                CliError::new(
                    Exit::FAILED,
                    "the results are not all here",
                    why,
                    "see --dest",
                )
            })?;
            match get(&**way, rank, &paths, into, &ui::note) {
                Err(error) if error.code == ErrorCode::NotFound => Ok(false),
                other => other.during("the results are not all here").map(|()| true),
            }
        })?;
        if found.iter().all(|(_, found)| !found) {
            ui::note(&format!("no rank brought back {output}"));
        }
    }
    Ok(())
}
