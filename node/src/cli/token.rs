//! `token create|list|revoke`: what programs show that use the API over HTTP.

use super::context::Context;
use super::error::{CliError, During as _};
use super::listing::Listing;
use super::meant::Meant;
use super::text;
use crate::api::scope::Scope;
use crate::api::types::{NewToken, TokenRecord, TokenRequest};
use crate::config::parse;
use crate::ui::Table;
use clap::Subcommand;
use std::time::Duration;

/// Tokens of programs that use the API over HTTP.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum TokenCommand {
    /// Make a token; it is shown this once
    Create {
        /// Its name
        name: String,
        /// What it may do: read, trade, operate or admin
        #[arg(long, value_parser = Scope::parse)]
        scope: Scope,
        /// How long it counts; for ever without it
        #[arg(long, value_name = "DURATION", value_parser = parse::duration)]
        expires: Option<Duration>,
    },
    /// List the tokens, without what they are
    List(Listing),
    /// Revoke a token
    Revoke {
        /// Its name
        name: Meant,
    },
}

impl TokenCommand {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        at.wait(async {
            let client = at.client()?;
            match self {
                TokenCommand::Create {
                    name,
                    scope,
                    expires,
                } => {
                    let asked = TokenRequest {
                        name,
                        scope,
                        valid_seconds: expires.map(seconds),
                    };
                    let made = client.post("/tokens", &asked, None).await;
                    let made: NewToken = made.during("no token was made")?;
                    at.show(&made, |made| format!("{}\n", made.token))
                }
                TokenCommand::List(listing) => {
                    let from = ("/tokens", "no list of tokens");
                    listing.of(at, &client, from, table).await
                }
                TokenCommand::Revoke { name } => {
                    let gone = client.delete(&format!("/tokens/{name}")).await;
                    let gone: TokenRecord = gone.during("no token was revoked")?;
                    at.tell(&gone, |gone| {
                        format!("{} opens nothing any more\n", gone.name)
                    })
                }
            }
        })
    }
}

/// Whole seconds, at least one.
fn seconds(time: Duration) -> u32 {
    u32::try_from(time.as_secs().max(1)).unwrap_or(u32::MAX)
}

fn table(all: &[TokenRecord]) -> String {
    let mut table = Table::new(&["NAME", "SCOPE", "MADE", "ENDS", "COUNTS"]);
    for token in all {
        let ends = token.ends_ms.map_or("never".to_owned(), text::ago);
        let counts = if token.counts { "yes" } else { "no" };
        table.row([
            token.name.clone(),
            token.scope.name().to_owned(),
            text::ago(token.made_ms),
            ends,
            counts.to_owned(),
        ]);
    }
    table.render()
}
