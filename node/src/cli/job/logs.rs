//! `job logs`: what a job's ranks put out.

use super::read;
use crate::api::client::Client;
use crate::cli::error::CliError;
use crate::cli::meant::Meant;
use crate::cli::run::follow::{Follower, Output};
use crate::cli::run::tell_dropped;
use clap::Args;

/// Show what a job's ranks put out
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct LogsArgs {
    /// Its id, how that begins, or its name
    id: Meant,
    /// One rank only
    #[arg(long)]
    rank: Option<u32>,
    /// Go on until the job ends
    #[arg(long, short = 'f')]
    follow: bool,
    /// Begin each line with its rank
    #[arg(long)]
    label: bool,
    /// What an earlier attempt put out, while the job has not ended; see gridbay job describe
    #[arg(long, conflicts_with = "follow")]
    attempt: Option<u32>,
}

impl LogsArgs {
    pub(super) async fn run(self, client: &Client) -> Result<(), CliError> {
        let record = read(client, &self.id, "no logs").await?;
        let output = Output::Streams { label: self.label };
        let mut follower = Follower::new(client.clone(), &record, self.rank, output);
        follower.of_attempt(self.attempt);
        if self.follow {
            // A rank that the job does not have is told before the job is waited for.
            follower.pump().await?;
            follower.until_end().await?;
        } else {
            follower.catch_up().await?;
        }
        if self.attempt.is_none() {
            tell_dropped(&read(client, &self.id, "it is not known whether this is all").await?);
        }
        Ok(())
    }
}
