//! `job logs`: what a job's ranks put out.

use super::{job_id, read};
use crate::api::client::Client;
use crate::api::types::{JobId, JobRecord};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::run::follow::{Follower, Output};
use clap::Args;

/// Show what a job's ranks put out
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct LogsArgs {
    /// Its id, or how it begins
    #[arg(value_parser = job_id)]
    id: JobId,
    /// One rank only
    #[arg(long)]
    rank: Option<u32>,
    /// Go on until the job ends
    #[arg(long, short = 'f')]
    follow: bool,
    /// Begin each line with its rank
    #[arg(long)]
    label: bool,
    /// What an earlier attempt put out, while the job has not ended; see gridbay job show
    #[arg(long, conflicts_with = "follow")]
    attempt: Option<u32>,
}

impl LogsArgs {
    pub(super) async fn run(self, client: &Client) -> Result<(), CliError> {
        let record = read(client, &self.id, "no logs").await?;
        self.check(&record)?;
        let output = Output::Streams { label: self.label };
        let mut follower = Follower::new(client.clone(), &record, self.rank, output);
        follower.of_attempt(self.attempt);
        if self.follow {
            follower.until_end().await?;
        } else {
            follower.catch_up().await?;
        }
        Ok(())
    }

    /// Refuses a rank or an attempt that the job does not have: its silence would pass for a rank
    /// that put nothing out.
    fn check(&self, record: &JobRecord) -> Result<(), CliError> {
        let none = |why: String| {
            let next = format!("see gridbay job show {}", record.id);
            Err(CliError::new(Exit::NOT_FOUND, "no logs", why, next))
        };
        if let Some(rank) = self.rank.filter(|rank| *rank >= record.nodes) {
            let last = record.nodes.saturating_sub(1);
            return none(format!("the job has no rank {rank}, only 0 to {last}"));
        }
        let of_rank = |rank| self.rank.is_none_or(|asked| asked == rank);
        let mut of_ranks = record.attempts.iter().filter(|a| of_rank(a.rank));
        match self.attempt {
            Some(n) if !of_ranks.any(|a| a.attempt == n) => {
                none(format!("there is no attempt {n}"))
            }
            _ => Ok(()),
        }
    }
}
