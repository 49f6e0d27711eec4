//! The demo: one market, end to end, in real processes on this machine.
//!
//! 1. Found a federation of four validators that also sell, and seven other nodes that join by
//!    invitation: six buyers, and one that provides for others.
//! 2. Play the scenes ([`scene`]): a full class, a contest of sealed bids, a buy that displaces,
//!    jobs by deadlines, nodes reserved ahead and jobs under contract (both go on while a validator
//!    is killed and restarted), shares of a pool, two hires at a posted price, and settlement. All
//!    jobs are real programs ([`work`]).
//! 3. Gather the evidence from all nodes ([`evidence`]) and judge it ([`check`], and
//!    a check beside its scene).
//! 4. Stop everything, check that nothing is left, and report.

mod check;
mod evidence;
mod order;
mod report;
#[cfg(test)]
mod sample;
mod scene;
mod stage;
mod statement;
pub(crate) mod work;

use crate::network::{Network, Plan, RunFolder, find_processes};
use crate::say::Progress;
use check::Check;
use report::Report;
use stage::Stage;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Validators that also sell.
pub(crate) const VALIDATORS: usize = 4;
/// Nodes that sell nothing of their own.
pub(crate) const BUYERS: usize = 7;

/// Time until all nodes must be ready.
const START_TIME: Duration = Duration::from_secs(45);
/// Time until all orders must be over.
const PLAY_TIME: Duration = Duration::from_secs(120);

/// Runs the demo in a new run folder, with nodes that are `program` run again.
pub(crate) async fn run(
    program: PathBuf,
    folder: RunFolder,
    mut plan: Plan,
    keep: bool,
    progress: &Progress,
) -> anyhow::Result<Report> {
    let path = folder.path().to_owned();
    scene::prepare(&mut plan);
    let mut network = Network::start(program, folder, plan, START_TIME, progress).await?;
    if keep {
        network.keep_folder();
    }
    let mut stage = Stage {
        network,
        orders: Vec::new(),
        crash: None,
        progress,
        deadline: Instant::now() + PLAY_TIME,
    };
    scene::play(&mut stage).await?;
    let evidence = evidence::gather(&mut stage).await?;
    let mut report = Report::new(&evidence);

    let ended = stage.network.stop();
    let left = find_processes(&path)?.len();
    drop(stage);
    let verdict = match (ended, left) {
        (Err(error), _) => Err(format!("{error:#}")),
        (Ok(()), 0) if keep => Ok("all processes ended, the folder was to be kept".to_owned()),
        (Ok(()), 0) if path.exists() => Err(format!("{} is left", path.display())),
        (Ok(()), 0) => Ok("all processes and files are gone".to_owned()),
        (Ok(()), n) => Err(format!("{n} processes are left")),
    };
    report.add(Check::new("nothing is left of the run", verdict));
    report.end(progress.seconds());
    Ok(report)
}
