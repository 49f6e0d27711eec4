//! `cluster ps` and `cluster stop`.

use super::way::{Way, each};
use crate::api::ApiError;
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::cli::text;
use crate::config::parse;
use crate::rank::order::{Answer, Command, GRACE, Program};
use crate::rank::remote::ask;
use crate::ui::{self, Table};
use clap::Args;
use serde::Serialize;
use std::time::Duration;

/// End programs that run on a cluster: first politely, then for good
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct StopArgs {
    /// The cluster's id, how that begins, or its name
    id: String,
    /// The rank [default: all]
    #[arg(long)]
    rank: Option<u32>,
    /// The program's number on its rank, as in cluster ps [default: all of the rank]
    #[arg(long, requires = "rank")]
    program: Option<u32>,
    /// Time between the polite word and the last one, a minute at the most
    #[arg(long, default_value = "10s", value_parser = parse::duration)]
    grace: Duration,
}

/// A program and its rank.
#[derive(Serialize)]
struct Running {
    rank: u32,
    #[serde(flatten)]
    program: Program,
}

/// Lists what runs on all ranks. One that cannot be reached is told of, also by the exit code, and
/// holds nothing up.
pub(super) fn list(at: &Context, id: &str) -> Result<Exit, CliError> {
    let way = Way::new(at, id)?;
    let answers = each(0..way.size(at)?, |rank| {
        Ok(ask(&*way, rank, &Command::List))
    })?;
    let (mut all, mut exit) = (Vec::new(), Exit::OK);
    for (rank, answer) in answers {
        match answer.map(|(_, answer)| answer) {
            Ok(Answer::Programs(programs)) => {
                all.extend(
                    programs
                        .into_iter()
                        .map(|program| Running { rank, program }),
                );
            }
            Ok(_) => {}
            Err(error) => {
                exit = Exit::of(error.code);
                ui::note(&format!("gridbay: {error}"));
            }
        }
    }
    at.show(&all, |all| table(all))?;
    Ok(exit)
}

fn table(all: &[Running]) -> String {
    Table::of(
        all,
        &[
            (">RANK", &|r| r.rank.to_string()),
            (">PROGRAM", &|r| r.program.program.to_string()),
            ("BY", &|r| r.program.by.clone()),
            (">SINCE", &|r| text::span(r.program.age_ms)),
            (">CPU", &|r| text::span(r.program.cpu_ms)),
            (">PROCESSES", &|r| r.program.processes.to_string()),
            ("CONNECTED", &|r| {
                if r.program.connected { "yes" } else { "no" }.to_owned()
            }),
            ("COMMAND", &|r| r.program.argv.join(" ")),
        ],
    )
}

impl StopArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let way = Way::new(at, &self.id)?;
        let ranks = match self.rank {
            Some(rank) => vec![rank],
            None => (0..way.size(at)?).collect(),
        };
        let grace = u32::try_from(self.grace.as_secs()).unwrap_or(u32::MAX);
        let order = Command::Stop {
            program: self.program,
            grace: grace.min(GRACE),
        };
        let stopped = each(ranks, |rank| {
            let answer: Result<_, ApiError> = ask(&*way, rank, &order);
            match answer.during("the programs were not all ended")?.1 {
                Answer::Stopped(count) => Ok(count),
                _ => Ok(0),
            }
        })?;
        // A rank may say what it likes.
        let count: u64 = stopped.iter().map(|(_, count)| u64::from(*count)).sum();
        at.tell(&count, |count| match count {
            1 => "ended 1 program\n".to_owned(),
            count => format!("ended {count} programs\n"),
        })
    }
}
