//! Options of lists: how many rows, and whether again and again.

use super::context::Context;
use super::error::{CliError, During as _};
use crate::api::client::Client;
use crate::ui;
use clap::Args;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Lines in one answer of the node at the most.
pub(super) const PAGE: usize = 1_000;

/// Whether a list is shown again.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Again {
    /// Show the list again every two seconds
    #[arg(long)]
    pub(super) watch: bool,
}

/// How much of a list without end is shown.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Newest {
    /// How many
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    limit: usize,
    /// All that the node knows
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    #[command(flatten)]
    again: Again,
}

impl Newest {
    /// Shows the list of an address; `filter` begins with an ampersand if there is one.
    pub(super) async fn of<T: DeserializeOwned + Serialize>(
        &self,
        at: &Context,
        client: &Client,
        (path, filter, what): (&str, &str, &str),
        table: impl Fn(&[T]) -> String,
    ) -> Result<(), CliError> {
        let most = if self.all { PAGE } else { self.limit };
        let path = format!("{path}?limit={most}{filter}");
        let look = async || {
            let lines: Vec<T> = match self.all {
                true => client.all(&path).await.during(what)?,
                false => client.get(&path).await.during(what)?,
            };
            at.show(&lines, |lines| table(lines))
        };
        at.shown(self.again.watch, look).await
    }
}

/// How much of a list is shown.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Listing {
    /// The first of them, so many at the most
    #[arg(long, value_name = "COUNT")]
    limit: Option<usize>,
    #[command(flatten)]
    again: Again,
}

impl Listing {
    /// Shows the list of an address.
    pub(super) async fn of<T: DeserializeOwned + Serialize>(
        &self,
        at: &Context,
        client: &Client,
        (path, what): (&str, &str),
        table: impl Fn(&[T]) -> String,
    ) -> Result<(), CliError> {
        self.kept(at, client, (path, what), |_| true, table).await
    }

    /// Shows those of them that are asked for.
    pub(super) async fn kept<T: DeserializeOwned + Serialize>(
        &self,
        at: &Context,
        client: &Client,
        (path, what): (&str, &str),
        keep: impl Fn(&T) -> bool,
        table: impl Fn(&[T]) -> String,
    ) -> Result<(), CliError> {
        let look = async || {
            let mut all: Vec<T> = client.get(path).await.during(what)?;
            all.retain(&keep);
            let there = all.len();
            let shown = self.limit.map_or(there, |limit| limit.min(there));
            if shown < there && at.format.is_text() {
                ui::note(&format!("{shown} of {there}; --limit for more"));
            }
            all.truncate(shown);
            at.show(&all, |all| table(all))
        };
        at.shown(self.again.watch, look).await
    }
}
