//! Options that say what is bought, and for how much: of every command that orders nodes.

use crate::api::client::Client;
use crate::api::types::{How, Quote, Relays, Want};
use crate::buy::flags::{NODES, NOT_SENT};
use crate::buy::{Flags, Line};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::fit::Fit;
use crate::config::parse;
use crate::ui;
use clap::Args;
use gridbay_protocol::units::Credits;
use std::time::Duration;

/// Seconds below which a running time is said once more: a bare number may have been meant as
/// minutes.
const SHORT: u32 = 60;

/// The options.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct Buying {
    /// Nodes, all or none [default: 1]
    #[arg(long, short = 'n', value_parser = clap::value_parser!(u32).range(NODES))]
    pub(in crate::cli) nodes: Option<u32>,
    /// Tasks of which fewer are of use too
    #[arg(long, conflicts_with = "nodes", value_parser = clap::value_parser!(u32).range(NODES))]
    array: Option<u32>,
    /// Most credits per node-hour [default: what the node suggests]
    #[arg(long, value_name = "CREDITS", value_parser = parse::credits)]
    max_price: Option<Credits>,
    /// Hard limit on the running time
    #[arg(long, short = 't', default_value = "1h", value_parser = parse::duration)]
    time: Duration,
    #[command(flatten)]
    pub(super) fit: Fit,
    /// Most credits for everything
    #[arg(long, value_name = "CREDITS", value_parser = parse::credits)]
    budget: Option<Credits>,
    /// Where ranks have no way to one another and none is given, lease a relay, for so much an hour
    /// at the most
    #[arg(long, value_name = "CREDITS", value_parser = parse::credits)]
    relay_price: Option<Credits>,
    /// Have no packets relayed
    #[arg(long, conflicts_with = "relay_price")]
    no_relay: bool,
    /// Send the order also if sellers ask more, or offer less, than it can take as things stand
    #[arg(long)]
    anyway: bool,
    #[command(flatten)]
    pub(super) ways: Flags,
}

impl Buying {
    /// The relays that a network may have.
    pub(in crate::cli) fn relays(&self) -> Relays {
        match self.relay_price {
            Some(price) => Relays::Paid(price),
            None if self.no_relay => Relays::Off,
            None => Relays::Free,
        }
    }

    /// Refuses what is said of relays for a job without a network.
    pub(in crate::cli) fn needs_network(&self) -> Result<(), CliError> {
        if self.relay_price.is_none() && !self.no_relay {
            return Ok(());
        }
        let why = "--relay-price and --no-relay are about a network, and the job has none";
        Err(CliError::new(
            Exit::USAGE,
            NOT_SENT,
            why,
            "give it one: --network",
        ))
    }

    /// The wish that they are; `program` is the job's.
    pub(in crate::cli) fn want(&self, program: &[String]) -> Result<Want, CliError> {
        let seconds = self.time.as_millis().div_ceil(1_000);
        let seconds = u32::try_from(seconds)
            .ok()
            .filter(|s| *s > 0)
            .ok_or_else(|| {
                let why = "the time is zero or longer than any lease";
                CliError::new(Exit::USAGE, NOT_SENT, why, "as in --time 30m")
            })?;
        let worth = self.ways.worth()?;
        let seconds = worth.map_or(seconds, |worth| seconds.max(worth.length_seconds));
        let mut want = Want {
            class: self.fit.class.clone(),
            nodes: self
                .array
                .or(self.nodes)
                .or(self.ways.nodes()?)
                .unwrap_or(1),
            max_price: self.max_price,
            seconds,
            budget: self.budget,
            how: self.ways.how(&Line {
                seconds,
                divisible: self.array.is_some(),
                program: program.first().map_or("", String::as_str),
            }),
        };
        if let Some(worth) = worth {
            want.max_price = Some(worth.first_price(want.nodes));
            want.budget = want.budget.or(Some(worth.budget()));
        }
        Ok(want)
    }

    /// Asks what a wish can cost, tells it in a line, and refuses one that comes to nothing: the
    /// wish at the price that was told.
    pub(in crate::cli) async fn quoted(
        &self,
        client: &Client,
        want: Want,
    ) -> Result<Want, CliError> {
        let (mut want, quote) = self.fit.quoted(client, want, NOT_SENT).await?;
        ui::note(&want.how.way().line(&quote));
        if want.seconds < SHORT {
            ui::note(&format!(
                "the program is ended after {} s; for minutes write --time {0}m",
                want.seconds
            ));
        }
        self.refuse_hopeless(&quote, &want)?;
        // Sellers may raise their prices while files are staged: what was told is what it may cost.
        want.budget = want.budget.or(Some(quote.most));
        if matches!(want.how, How::Ausubel(_)) {
            // The price of a bid follows the last clearing, unless it is given.
            want.max_price = want.max_price.or(Some(quote.max_price));
        }
        Ok(want)
    }

    /// Asks the same without a word: the wish, its quote, and why it would not be sent.
    pub(in crate::cli) async fn looked(
        &self,
        client: &Client,
        want: Want,
    ) -> Result<(Want, Quote, Option<CliError>), CliError> {
        let (want, quote) = self.fit.quoted(client, want, NOT_SENT).await?;
        let refused = self.refuse_hopeless(&quote, &want).err();
        Ok((want, quote, refused))
    }

    fn refuse_hopeless(&self, quote: &Quote, want: &Want) -> Result<(), CliError> {
        if !quote.funded {
            let why = format!(
                "it can cost {} credits, {} can be spent",
                quote.most, quote.spendable
            );
            let next = "lower --budget, --max-price, --time or -n; see gridbay ledger balance";
            return Err(CliError::new(Exit::FUNDS, NOT_SENT, why, next));
        }
        match want.how.way().hopeless(quote).filter(|_| !self.anyway) {
            Some((why, next)) => Err(CliError::new(Exit::NO_MATCH, NOT_SENT, why, next)),
            None => Ok(()),
        }
    }
}
