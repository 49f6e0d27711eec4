//! `appliance log`: the last lines that a node's process has logged.

use super::order::{Who, odd, order};
use crate::api::types::{Order, Outcome};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::ui::clean;
use clap::Args;

/// Show the last lines of a node's log since it started, after those of its agent
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct LogArgs {
    #[command(flatten)]
    who: Who,
    /// How many, at most 500; of the agent 64
    #[arg(long, value_name = "N", default_value_t = 50)]
    lines: u32,
}

impl LogArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let what = "no log";
        let asked = Order::Log { lines: self.lines };
        match order(at, self.who, asked, what)? {
            Outcome::Log(lines) => at.tell(&lines, |lines| {
                let shown = lines.iter().map(|line| format!("{}\n", clean(line)));
                shown.collect()
            }),
            _ => Err(odd(what)),
        }
    }
}
