//! Whole nodes behind NATs: a lease's network carries parallel programs, and relays that are paid
//! carry it where no direct way is possible.
//!
//! 1. Four founders are on public hosts, sellers behind two routers, the buyer behind one of its
//!    own.
//! 2. With routers of kind `cone` a cluster of all four sellers is leased, each pair's way shown
//!    (`ways`), and [`parallel`](crate::parallel) programs are run.
//! 3. With routers of kind `symmetric` one seller behind each of them is leased, with a relay that
//!    the buyer pays: one of two nodes on public hosts that sell it. Echoes go over it for a while;
//!    then the relay is killed; then one of the two sellers moves (`relayed`).
//! 4. With two routers that let nothing out but TCP to port 443 the sellers behind them and one
//!    behind a router of each of some other kinds ask one another for echoes, over streams to a
//!    founder (`strict`).

mod echoes;
mod relayed;
mod report;
mod stage;
mod strict;
mod ways;

pub(crate) use report::Report;
pub(crate) use stage::Options;

use super::Kind;
use crate::parallel;
use crate::say::Progress;
use stage::Stage;
use std::path::PathBuf;

/// Builds the labs, one after the other, and measures.
///
/// # Errors
/// A lab or its nodes do not stand, or what is to be measured does not come about.
pub(crate) async fn run(
    program: PathBuf,
    options: &Options,
    progress: &Progress,
) -> anyhow::Result<Report> {
    let mut report = Report::default();
    if let Some(keys) = options.keys {
        let stage = Stage::up(Kind::Cone, program.clone(), options, progress).await?;
        report.ways = ways::of_all(&stage, progress).await?;
        let at = parallel::Setting {
            network: stage.network(),
            buyer: stage::BUYER,
            folder: stage.folder(),
        };
        report.programs = parallel::run_all(&at, keys, true, progress).await?;
    }
    if options.hold > 0 {
        let mut stage = Stage::up(Kind::Symmetric, program.clone(), options, progress).await?;
        report.relayed = Some(relayed::run(&mut stage, options.hold, progress).await?);
    }
    if options.strict > 0 {
        let stage = Stage::up(Kind::Tcp443, program, options, progress).await?;
        report.strict = Some(strict::run(&stage, options.strict, progress).await?);
    }
    Ok(report)
}
