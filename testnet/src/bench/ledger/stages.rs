//! Processor time by stage, of all nodes together.
//!
//! A node counts what its core's thread takes to verify, execute and encode, and its calls of the
//! disk ([`METRIC`]). The system counts threads: what the core's thread takes beyond that is
//! *other*, the index has a thread of its own, and all outside the two is the network and the API,
//! where nodes also sign what their clients ask for.

use super::super::crowd;
use crate::network::Node;
use anyhow::Context as _;
use serde::Serialize;

/// The metric of the stages that a node counts, up to the name of one.
const METRIC: &str = "gridbay_ledger_stage_seconds_total{stage=\"";
/// The threads that are told apart.
const CORE: &str = "core";
const INDEX: &str = "index";

/// Figures by stage: seconds, or cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Stages {
    /// Signatures of entries, and the form of blocks.
    pub(crate) verify: f64,
    /// What blocks change: tried, made and applied.
    pub(crate) execute: f64,
    /// Messages of the ledger from bytes and to bytes.
    pub(crate) encode: f64,
    /// Block file, journal and snapshots.
    pub(crate) disk: f64,
    /// The thread that writes the index.
    pub(crate) index: f64,
    /// The network and the API, with signing.
    pub(crate) network: f64,
    /// The rest of the core's thread: consensus, the pool, the market's agents.
    pub(crate) other: f64,
}

impl Stages {
    /// Seconds until now of nodes, whose metrics these are.
    pub(super) fn now(nodes: &[&Node], metrics: &[String]) -> anyhow::Result<Stages> {
        let all = crowd::used(nodes.iter().copied())?.as_secs_f64();
        let of = |stage: &str| metrics.iter().map(|text| counted(text, stage)).sum();
        Ok(Stages {
            verify: of("verify"),
            execute: of("execute"),
            encode: of("encode"),
            disk: of("disk"),
            ..Stages::default()
        }
        .with(all, threads(nodes, CORE)?, threads(nodes, INDEX)?))
    }

    /// Fills in what follows from the seconds of whole processes and of their two threads.
    fn with(self, all: f64, core: f64, index: f64) -> Stages {
        let counted = self.verify + self.execute + self.encode + self.disk;
        Stages {
            index,
            network: all - core - index,
            other: core - counted,
            ..self
        }
    }

    /// Cores in use since earlier seconds, over so many. The system counts in hundredths of a
    /// second, so a figure near nothing could fall below it.
    pub(super) fn since(&self, before: &Stages, seconds: f64) -> Stages {
        let (now, before) = (self.all(), before.all());
        let cores = |n: usize| ((now[n] - before[n]) / seconds.max(0.001)).max(0.0);
        Stages {
            verify: cores(0),
            execute: cores(1),
            encode: cores(2),
            disk: cores(3),
            index: cores(4),
            network: cores(5),
            other: cores(6),
        }
    }

    /// Names for people, in the order of the figures.
    pub(super) const NAMES: [&str; 7] = [
        ">VERIFY", ">EXECUTE", ">ENCODE", ">DISK", ">INDEX", ">NETWORK", ">OTHER",
    ];

    /// The figures.
    pub(super) fn all(&self) -> [f64; 7] {
        [
            self.verify,
            self.execute,
            self.encode,
            self.disk,
            self.index,
            self.network,
            self.other,
        ]
    }
}

/// Seconds of a stage by a node's metrics.
fn counted(metrics: &str, stage: &str) -> f64 {
    let of = |line: &str| {
        let (name, seconds) = line.strip_prefix(METRIC)?.split_once("\"} ")?;
        seconds.parse().ok().filter(|_: &f64| name == stage)
    };
    metrics.lines().find_map(of).unwrap_or(0.0)
}

/// Seconds of the threads of a name.
fn threads(nodes: &[&Node], name: &str) -> anyhow::Result<f64> {
    let mut ticks = 0;
    for node in nodes {
        let used = node
            .process()
            .and_then(|process| process.thread_ticks(name));
        ticks += used.with_context(|| format!("{} is gone", node.name))?;
    }
    let per_second = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK)?.unwrap_or(100);
    Ok(ticks as f64 / per_second as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_make_up_all_that_the_nodes_used() {
        let text = format!("{METRIC}verify\"}} 2.5\n{METRIC}disk\"}} 0.5\nother 7\n");
        assert_eq!(counted(&text, "verify"), 2.5);
        assert_eq!(counted(&text, "execute"), 0.0);
        let of = |text: &str| Stages {
            verify: counted(text, "verify"),
            disk: counted(text, "disk"),
            ..Stages::default()
        };
        let now = of(&text).with(10.0, 6.0, 1.0);
        assert_eq!(now.all(), [2.5, 0.0, 0.0, 0.5, 1.0, 3.0, 3.0]);
        assert_eq!(now.all().iter().sum::<f64>(), 10.0);
        let cores = now.since(&of("").with(2.0, 2.0, 0.0), 2.0);
        assert_eq!(cores.all(), [1.25, 0.0, 0.0, 0.25, 0.5, 1.5, 0.5]);
        let none = of("").with(0.0, 0.0, 0.0).since(&now, 2.0);
        assert_eq!(none, Stages::default(), "never below nothing");
    }
}
