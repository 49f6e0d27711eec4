//! Kill tests of real processes: a federation under load whose nodes are killed at random moments,
//! and a reader that compares acknowledgements with the ledger.
//!
//! 1. A federation is founded; every node's account pays others, the buyers also order jobs
//!    ([`load`]). Before any kill the load must reach a floor, else the run is void.
//! 2. Nodes are killed with SIGKILL and started again, as [`aim`] decides from the seed: one, one
//!    again while it starts, several that a quorum can spare, now and then all ([`strike`]).
//! 3. All the while a reader notes what the nodes show ([`reader`]), beside the acknowledgements
//!    ([`history`]).
//! 4. At the end every request is answered, all nodes show their whole chain, and [`judge`]
//!    compares: nothing acknowledged lost, nothing done twice, one chain everywhere.

mod aim;
mod history;
mod judge;
mod load;
mod options;
mod reader;
mod report;
pub(crate) mod rng;
mod strike;

pub(crate) use options::Options;
pub(crate) use report::Report;

use crate::network::plan::{Plan, credits};
use crate::network::{Network, RunFolder};
use crate::say::Progress;
use anyhow::bail;
use history::History;
use options::BUYERS;
use rng::Rng;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Until the federation is ready.
const START_TIME: Duration = Duration::from_secs(60);
/// Load before the first kill.
const WARM_UP: Duration = Duration::from_secs(5);
/// Acknowledgements per second that the load must reach before the first kill, or the run says
/// nothing.
const FLOOR: f64 = 3.0;
/// Time until all requests must be answered, once nobody is killed any more.
const SETTLE_TIME: Duration = Duration::from_secs(180);

/// Runs the whole test on a federation of its own.
pub(crate) async fn run(options: Options, progress: &Progress) -> anyhow::Result<Report> {
    let name = format!("kill-{}", std::process::id());
    let plan = Plan {
        purse: credits(1_000),
        log: options.log.clone(),
        ..Plan::local(&name, options.validators, BUYERS)
    };
    plan.check()?;
    let folder = RunFolder::create(&name)?;
    progress.tell(&format!("run folder {}", folder.path().display()));
    let program = options.program.clone();
    let mut network = Network::start(program, folder, plan, START_TIME, progress).await?;
    if options.keep {
        network.keep_folder();
    }
    let history = Arc::new(History::new(reader::accounts(&network).await?));
    let mut rng = Rng::new(options.seed);
    let load = load::start(&network, &history, &mut rng);
    let reading = reader::start(&network, &history);

    tokio::time::sleep(WARM_UP).await;
    let rate = history.acknowledged() as f64 / WARM_UP.as_secs_f64();
    progress.tell(&format!(
        "{rate:.1} acknowledgements per second before any kill"
    ));
    if rate < FLOOR {
        bail!("void: fewer than {FLOOR} acknowledgements per second before any kill");
    }
    let began = Instant::now();
    let struck = strike::all(&mut network, &history, &options, &mut rng, progress).await?;
    let seconds = began.elapsed().as_secs_f64();

    progress.tell("nobody is killed any more; waiting for what is still open");
    load.end(SETTLE_TIME).await?;
    progress.tell("comparing");
    let (chains, statements) = reading.end(&network).await?;
    let problems = reader::problems_in_logs(&network)?;
    let found = history.judged(&chains, &statements, problems);
    network.stop()?;
    if !found.is_clean() {
        network.keep_folder();
    }
    Ok(Report::new(&options, struck, found, rate, seconds))
}
