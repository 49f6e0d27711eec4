//! How fast the private network of a lease is, beside what people use.
//!
//! 1. Two namespaces with a pair of devices between them; in each round every tool takes its turn
//!    on new ones, so that a change of the machine's speed meets all alike. Figures are medians.
//! 2. One turn: the round trip of ICMP echoes while nothing else happens; then one TCP flow
//!    (cubic) and, meanwhile, echoes again and the CPU of the tool's processes at both ends; then
//!    datagrams of 200 bytes, as many as a socket takes, of which those are counted that arrive.
//! 3. The tools are those that are installed. What is not is named and left out.
//! 4. The data plane without root: two processes on the loopback, a user namespace for each rank,
//!    the devices made inside. The same for two ranks on one node.
//! 5. A rank without a device, in userspace: to a rank with one, and from it.
//! 6. A long and lossy way ([`lossy`]), with and without our data plane.
//! 7. Flow, echoes and datagrams are made by this program ([`part`]).

mod figures;
mod lossy;
mod part;
mod stage;
mod tools;
mod turn;

use crate::lab;
use crate::say::Progress;
use anyhow::{Context as _, ensure};
pub(crate) use figures::{Figures, bars};
pub(crate) use part::{WORD, run as part};
use stage::Stage;
use std::path::PathBuf;
use std::time::Duration;
use tools::Tool;

/// What the long and lossy way is called among the tools.
const LOSSY: &str = "lossy";

/// The measurement to make.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// This program.
    pub(crate) program: PathBuf,
    /// Turns of each tool.
    pub(crate) rounds: usize,
    /// Length of a flow.
    pub(crate) flow: Duration,
    /// Only these tools; all if empty.
    pub(crate) only: Vec<String>,
}

/// Measures; takes root.
pub(crate) fn run(options: &Options, progress: &Progress) -> anyhow::Result<Figures> {
    ensure!(
        lab::is_root(),
        "the two namespaces take root; nothing outside them is changed"
    );
    let folder = std::env::temp_dir().join(format!("gridbay-bench-network-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = rounds(options, &folder, progress);
    std::fs::remove_dir_all(&folder).ok();
    tools::tidy();
    measured
}

fn rounds(
    options: &Options,
    folder: &std::path::Path,
    progress: &Progress,
) -> anyhow::Result<Figures> {
    let (mut tools, mut missing) = (Vec::new(), Vec::new());
    for tool in Tool::ALL {
        let wanted = options.only.is_empty() || options.only.iter().any(|name| name == tool.name());
        match tool.missing().filter(|_| wanted) {
            Some(program) => {
                progress.tell(&format!("{} left out: no {program}", tool.name()));
                missing.push(tool.name().to_owned());
            }
            None if wanted => tools.push(tool),
            None => {}
        }
    }
    let mut lossy = options.only.is_empty() || options.only.iter().any(|name| name == LOSSY);
    if let Some(what) = lossy::missing().filter(|_| lossy) {
        progress.tell(&format!("{LOSSY} left out: no {what}"));
        missing.push(LOSSY.to_owned());
        lossy = false;
    }
    ensure!(lossy || !tools.is_empty(), "no such tool");
    for tool in &tools {
        tool.prepare(folder)
            .with_context(|| format!("preparing {}", tool.name()))?;
    }
    let mut turns = Vec::new();
    for round in 1..=options.rounds {
        for tool in &tools {
            let stage = Stage::new(&options.program, folder)?;
            let turn = tool
                .turn(&stage, options.flow)
                .with_context(|| format!("a turn of {}", tool.name()))?;
            progress.tell(&format!("round {round}: {} {turn}", tool.name()));
            turns.push((*tool, turn));
        }
    }
    let lossy = lossy.then(|| lossy::run(&options.program, options.rounds, options.flow, progress));
    Ok(Figures::of(&turns, missing, lossy.transpose()?))
}
