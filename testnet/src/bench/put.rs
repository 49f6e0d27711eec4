//! Files to a rank of a cluster that is held, beside a plain copy over the same path.
//!
//! One seller and one buyer on this machine. In each round a file goes to the rank with `cluster
//! put`, and then its bytes as they are, over a connection of the same kind: through the node's
//! API, the buyer's own place in the lease's network, and the rank's device, into a file.

use crate::network::plan::Plan;
use crate::network::{Network, RunFolder, cli};
use crate::say::Progress;
use anyhow::Context as _;
use gridbay_node::api::types::ClusterRecord;
use gridbay_node::ui::Table;
use serde::Serialize;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Until all nodes are ready.
const START_TIME: Duration = Duration::from_secs(120);
/// Least share of a plain copy's speed, in percent.
const BAR: u64 = 70;
/// Disk of a unit beyond the two files.
const SPARE_MIB: u64 = 1_024;

/// The measurement to make.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The program of the nodes.
    pub(crate) program: PathBuf,
    /// Size of the file in MiB.
    pub(crate) mib: u64,
    /// Rounds.
    pub(crate) rounds: usize,
    /// Leave the run's folder.
    pub(crate) keep: bool,
}

/// The figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Figures {
    /// Size of the file in MiB.
    pub(crate) mib: u64,
    /// Milliseconds of each put.
    pub(crate) put_ms: Vec<u64>,
    /// Milliseconds of each plain copy.
    pub(crate) plain_ms: Vec<u64>,
    /// Speed of the median put in percent of the median plain copy's.
    pub(crate) share: u64,
}

impl Figures {
    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut table = Table::new(&["COPY", ">MEDIAN MS", ">MB/S", ">SHARE %"]);
        let speed = |ms: u64| (self.mib * 1_048_576 / 1_000) / ms.max(1);
        let rows = [
            ("plain", &self.plain_ms, 100),
            ("put", &self.put_ms, self.share),
        ];
        for (name, all, share) in rows {
            let ms = median(all);
            let figures = [ms, speed(ms), share].map(|figure| figure.to_string());
            table.row([name.to_owned()].into_iter().chain(figures));
        }
        table.render()
    }

    /// Whether a put is fast enough.
    pub(crate) fn is_good(&self) -> bool {
        self.share >= BAR
    }
}

fn median(all: &[u64]) -> u64 {
    let mut sorted = all.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// Measures.
pub(crate) async fn run(options: &Options, progress: &Progress) -> anyhow::Result<Figures> {
    let mut plan = Plan::local("put", 4, 1);
    plan.disk_mib = plan.disk_mib.max(2 * options.mib + SPARE_MIB);
    let folder = RunFolder::create("bench-put")?;
    let (data, file) = (folder.data("b1"), folder.path().join("file"));
    let program = options.program.clone();
    let started = Network::start(program, folder, plan, START_TIME, progress);
    let mut network = started.await?;
    write(&file, options.mib)?;
    let said = async |words: &[&str]| cli::run(&options.program, &data, words).await;
    let words = [
        "-o", "json", "cluster", "new", "--class", "small", "--time", "1h",
    ];
    let words = [&words[..], &["--max-price", "20"]].concat();
    let cluster: ClusterRecord = serde_json::from_str(&said(&words).await?)?;
    let id = cluster.id.to_string();
    let from = file
        .to_str()
        .context("the run's folder has no plain name")?;
    let (mut put_ms, mut plain_ms) = (Vec::new(), Vec::new());
    for round in 1..=options.rounds {
        progress.tell(&format!("round {round} of {}", options.rounds));
        for (times, words) in [
            (&mut put_ms, vec!["cluster", "put", &id, from, "0:put"]),
            (
                &mut plain_ms,
                vec!["cluster", "put", "--plain", &id, from, "0:plain"],
            ),
        ] {
            let begin = Instant::now();
            said(&words).await?;
            times.push(u64::try_from(begin.elapsed().as_millis())?);
        }
    }
    said(&["cluster", "exec", &id, "--", "cmp", "put", "plain"]).await?;
    if options.keep {
        network.keep_folder();
    }
    network.stop()?;
    let share = 100 * median(&plain_ms) / median(&put_ms).max(1);
    Ok(Figures {
        mib: options.mib,
        put_ms,
        plain_ms,
        share,
    })
}

/// A file that does not repeat itself.
fn write(path: &Path, mib: u64) -> anyhow::Result<()> {
    let mut file = File::create(path)?;
    let mut piece = vec![0; 1 << 20];
    for number in 0..mib {
        for (at, byte) in piece.iter_mut().enumerate() {
            *byte = (at as u64 * 31 + number * 7 + (at as u64 >> 8)) as u8;
        }
        file.write_all(&piece)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_of_medians() {
        let figures = Figures {
            mib: 1_000,
            put_ms: vec![900, 1_000, 5_000],
            plain_ms: vec![800, 700, 750],
            share: 75,
        };
        assert!(figures.is_good() && median(&figures.put_ms) == 1_000);
        assert!(figures.table().contains("1048"));
    }
}
