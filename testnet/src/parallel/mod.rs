//! Parallel programs for the network of a lease, run as their users would run them: by the node's
//! own command line. What each prints is compared with one process that does the same work.
//!
//! A program whose tools are not installed is left out, and it is said what it needs.

pub(crate) mod table;
pub(crate) mod tools;

use crate::network::{Network, cli};
use crate::say::Progress;
use anyhow::{Context as _, ensure};
use gridbay_node::api::types::{ClusterRecord, LeaseView};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tools::{built, output};

/// Ranks of each program.
pub const RANKS: u32 = 4;
/// Keys of the sort are two to the power of this, and how often they are sorted.
pub const KEYS: (u32, u32) = (18, 5);

/// Adds the ranks' squares by way of all of them, and tells on which hosts they are.
pub(crate) const RING: &str = include_str!("ring.c");
/// Sorts integers with all-to-all exchanges, and by one process.
const SORT: &str = include_str!("sort.c");
/// Echoes between two ranks.
pub(crate) const ECHO: &str = include_str!("echo.c");
/// Squares on all of Dask's workers, and who they were.
pub(crate) const SQUARES: &str = include_str!("squares.py");
/// A count of words: each rank counts its part of a text, and rank 0 adds up.
const WORDS: &str = include_str!("words.sh");
/// The same by one process.
const WORDS_SERIAL: &str =
    "seq 1 1000 | tr 0-9 a-j | fold -w1 | sort | uniq -c | awk '{ print $2, $1 }'";

/// Most of the time that a program may take, as its order says, in seconds.
const WALL: u32 = 150;
/// Words of an order of either kind.
const ORDER: [&str; 4] = ["--class", "small", "--max-price", "20"];
/// For how long the cluster is leased on which all of them run.
const HELD: &str = "20m";
/// How long the sellers' adverts may take to say what they have.
const KNOWN: Duration = Duration::from_secs(60);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(500);

/// A program, and how it is asked for.
struct Program {
    name: &'static str,
    /// The option of `gridbay run`.
    kind: &'static str,
    inputs: Vec<PathBuf>,
    argv: Vec<String>,
    /// What one process printed.
    serial: String,
}

/// How a program fared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It printed what one process prints.
    Right,
    /// It did not.
    Wrong(String),
    /// What it needs is not there.
    LeftOut(String),
}

/// A program that was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ran {
    /// Its name.
    pub program: String,
    /// The command by which it was asked for.
    pub command: String,
    /// How it fared.
    pub outcome: Outcome,
    /// Milliseconds from the command to its end, buying included.
    pub ms: u64,
}

impl Ran {
    /// Whether nothing went wrong.
    pub fn passed(&self) -> bool {
        !matches!(self.outcome, Outcome::Wrong(_))
    }

    fn left_out(program: &str, what: String) -> Ran {
        Ran {
            program: program.to_owned(),
            command: String::new(),
            outcome: Outcome::LeftOut(what),
            ms: 0,
        }
    }
}

/// The place of programs: a network, the node that leases for them, and their folder.
pub struct Setting<'a> {
    /// Nodes that run.
    pub network: &'a Network,
    /// The node that leases.
    pub buyer: &'a str,
    /// For the programs' files.
    pub folder: &'a Path,
}

/// Runs all programs, one after the other, on units that are leased for each; then, if they are to
/// be, on a cluster that is held.
///
/// # Errors
/// A file cannot be written, the serial run of a program fails, or no cluster is to be had.
pub async fn run_all(
    at: &Setting<'_>,
    (bits, times): (u32, u32),
    also_held: bool,
    progress: &Progress,
) -> anyhow::Result<Vec<Ran>> {
    let Setting {
        network,
        buyer,
        folder,
    } = *at;
    let mut ran = Vec::new();
    let mut note = |one: Ran| {
        progress.tell(&format!("{}: {:?}", one.program, one.outcome));
        ran.push(one);
    };
    let (mut programs, mut lacking) = (Vec::new(), Vec::new());
    for made in [
        words(folder)?,
        ring(folder)?,
        sort(folder, bits, times)?,
        squares(folder)?,
    ] {
        match made {
            Ok(program) => programs.push(program),
            Err((name, why)) => lacking.push(Ran::left_out(name, why)),
        }
    }
    for program in &programs {
        note(program.run(network, buyer, None).await);
    }
    if also_held {
        let held = Held::new(network, buyer).await?;
        for program in &programs {
            note(program.run(network, buyer, Some(&held)).await);
        }
        held.end().await?;
    }
    lacking.into_iter().for_each(note);
    Ok(ran)
}

/// A program, or its name and what it lacks.
type Made = Result<Program, (&'static str, String)>;

fn words(folder: &Path) -> anyhow::Result<Made> {
    let script = folder.join("words.sh");
    std::fs::write(&script, WORDS)?;
    Ok(Ok(Program {
        name: "count of words",
        kind: "--hosts",
        inputs: vec![script],
        argv: ["sh", "words.sh"].map(str::to_owned).into(),
        serial: output("sh", &["-c", WORDS_SERIAL]).context("the serial count of words")?,
    }))
}

/// An MPI program.
fn mpi(
    name: &'static str,
    place: PathBuf,
    source: &str,
    words: &[String],
    serial: impl FnOnce() -> anyhow::Result<String>,
) -> anyhow::Result<Made> {
    if output("mpirun", &["--version"]).is_none() || output("mpicc", &["--version"]).is_none() {
        return Ok(Err((name, "OpenMPI, with mpicc".to_owned())));
    }
    built("mpicc", &[], source, &place)?;
    let file = place.file_name().unwrap_or_default();
    let argv = [format!("./{}", file.display())];
    Ok(Ok(Program {
        name,
        kind: "--mpi",
        inputs: vec![place],
        argv: argv.iter().chain(words).cloned().collect(),
        serial: serial()?,
    }))
}

fn ring(folder: &Path) -> anyhow::Result<Made> {
    let squares: u32 = (0..RANKS).map(|rank| rank * rank).sum();
    let hosts: String = (0..RANKS).map(|rank| format!(" rank{rank}")).collect();
    let serial = || Ok(format!("{squares} of {RANKS} on{hosts}\n"));
    mpi("MPI ring", folder.join("ring"), RING, &[], serial)
}

fn sort(folder: &Path, bits: u32, times: u32) -> anyhow::Result<Made> {
    let words = [bits.to_string(), times.to_string()];
    let one = folder.join("sort-serial");
    let serial = || {
        built("cc", &["-DSERIAL"], SORT, &one)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        output(&one.display().to_string(), &words).context("the serial sort")
    };
    mpi(
        "MPI integer sort",
        folder.join("sort"),
        SORT,
        &words,
        serial,
    )
}

fn squares(folder: &Path) -> anyhow::Result<Made> {
    let name = "Dask sum";
    let found = output("/usr/bin/python3", &["-c", "import distributed"]);
    if found.is_none() || output("/usr/bin/dask", &["worker", "--help"]).is_none() {
        return Ok(Err((name, "dask with distributed".to_owned())));
    }
    let script = folder.join("squares.py");
    std::fs::write(&script, SQUARES)?;
    let sum: u32 = (0..100).map(|x| x * x).sum();
    let hosts: Vec<String> = (0..RANKS).map(|rank| format!("'rank{rank}'")).collect();
    Ok(Ok(Program {
        name,
        kind: "--dask",
        inputs: vec![script],
        argv: ["python3", "squares.py"].map(str::to_owned).into(),
        serial: format!("{sum} [{}]\n", hosts.join(", ")),
    }))
}

/// A cluster that the buyer holds.
struct Held<'a> {
    network: &'a Network,
    data: &'a Path,
    id: String,
}

impl<'a> Held<'a> {
    async fn new(network: &'a Network, buyer: &str) -> anyhow::Result<Held<'a>> {
        let node = network.node(buyer);
        let (data, ranks, began) = (node.home.path(), RANKS.to_string(), Instant::now());
        // The cheapest units are those of jobs that have just ended, until the slot ends. A cluster
        // that begins before would be moved to them, and begin anew.
        while !node
            .client()
            .get::<Vec<LeaseView>>("/leases")
            .await?
            .is_empty()
        {
            ensure!(began.elapsed() < KNOWN, "leases of jobs that ended go on");
            tokio::time::sleep(LOOK).await;
        }
        let words: Vec<&str> = ["-o", "json", "cluster", "new", "--time", HELD, "-n", &ranks]
            .into_iter()
            .chain(ORDER)
            .collect();
        let said = cli::run(network.program(), data, &words).await?;
        let id = serde_json::from_str::<ClusterRecord>(&said)?.id.to_string();
        Ok(Held { network, data, id })
    }

    async fn end(self) -> anyhow::Result<()> {
        let words = ["cluster", "end", &self.id];
        cli::run(self.network.program(), self.data, &words).await?;
        Ok(())
    }
}

impl Program {
    /// The words behind `gridbay`.
    fn command(&self, held: Option<&Held<'_>>) -> Vec<String> {
        let (ranks, wall) = (RANKS.to_string(), format!("{WALL}s"));
        let mut words = match held {
            Some(held) => ["run", "--cluster", &held.id, self.kind]
                .map(str::to_owned)
                .to_vec(),
            None => ["run"]
                .into_iter()
                .chain(ORDER)
                .chain(["-n", &ranks, "--time", &wall, self.kind])
                .map(str::to_owned)
                .collect(),
        };
        for input in &self.inputs {
            words.extend(["--input".to_owned(), input.display().to_string()]);
        }
        words.push("--".to_owned());
        words.extend(self.argv.iter().cloned());
        words
    }

    async fn run(&self, network: &Network, buyer: &str, held: Option<&Held<'_>>) -> Ran {
        let words = self.command(held);
        let data = network.node(buyer).home.path();
        let began = Instant::now();
        let printed = loop {
            let printed = cli::run(network.program(), data, &words).await;
            // The adverts that say what the nodes have may be on their way.
            let early = matches!(&printed, Err(e) if format!("{e:#}").contains("was not sent"));
            if !early || began.elapsed() > KNOWN {
                break printed;
            }
            tokio::time::sleep(LOOK).await;
        };
        let outcome = match printed {
            Ok(said) if said == self.serial => Outcome::Right,
            Ok(said) => Outcome::Wrong(format!("{said:?} instead of {:?}", self.serial)),
            Err(error) => Outcome::Wrong(format!("{error:#}")),
        };
        let on = held.map_or_else(|| format!("-n {RANKS}"), |_| "--cluster ID".to_owned());
        Ran {
            program: self.name.to_owned(),
            command: format!("run {on} {} -- {}", self.kind, self.argv.join(" ")),
            outcome,
            ms: began.elapsed().as_millis() as u64,
        }
    }
}
