//! `run` without a network: a market of this machine alone, for one command.
//!
//! 1. A folder of its own, for one member that votes, sells and buys (`found`).
//! 2. Its node is a process of its own, which ends with this one, however that ends (`node`).
//! 3. The node offers the machine's units. If the machine may not sell, the order is not sent.
//! 4. At the end the node, its jobs and the folder go (`end`), unless they are to stay. The node
//!    sees to that if this process is killed (`inside`).

mod end;
mod found;
mod inside;
mod node;

pub(in crate::cli) use inside::with_command;

use super::RunArgs;
use crate::api::types::{How, Offer, OfferRequest};
use crate::buy::flags::NOT_SENT;
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::cli::fit::Fit;
use crate::config::{Home, Sources};
use crate::ui;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::units::{Credits, MICROS_PER_CREDIT};
use node::Node;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time for everything until the units are for sale.
const START: Duration = Duration::from_secs(30);
/// Between two looks whether they are.
const LOOK: Duration = Duration::from_millis(50);
/// Prices in a market whose buyer is its seller: the money comes back.
const RESERVE: u64 = 1;
const BUY: u64 = 2;

/// Whether a job needs a market of its own, because no node is here to ask.
///
/// # Errors
/// It needs one and cannot be served there, or a market is to stay that it does not need.
pub(super) fn is_needed(at: &Context, args: &RunArgs, how: &How) -> Result<bool, CliError> {
    let home = &at.home;
    let folder = home.path().display();
    let refused = |why: String, next: &str| Err(CliError::new(Exit::USAGE, NOT_SENT, why, next));
    let joined = home.genesis().exists() || home.invitation().exists();
    if joined || at.config()?.api.socket.exists() {
        let why = format!("{folder} has a network, and --keep is for a market of the job's own");
        return match args.keep {
            true => refused(why, "leave --keep away"),
            false => Ok(false),
        };
    }
    if !matches!(how, How::Ausubel(_) | How::Buy(_)) {
        let why = format!(
            "{folder} belongs to no network, and a private market sells by bids and buys alone"
        );
        return refused(why, "join a network: gridbay join --file <invitation>");
    }
    if args.detach && !args.keep {
        let why = format!(
            "{folder} belongs to no network, and a private market would end with the command"
        );
        return refused(why, "let it stay: --keep");
    }
    Ok(true)
}

/// A market that runs, and ends with its owner.
#[derive(Debug)]
pub(super) struct Market {
    at: Context,
    node: Option<Node>,
    keep: bool,
}

impl Market {
    /// Founds one and waits until it sells.
    pub(super) async fn open(at: &Context, keep: bool, fit: &Fit) -> Result<Market, CliError> {
        let until = Instant::now() + START;
        let sources = Sources {
            flags: at.sources.flags.clone(),
            ..Sources::default()
        };
        let mut market = Market {
            at: Context {
                home: Home::new(found::folder()?),
                format: at.format,
                sources,
            },
            node: None,
            // Half a market is of no use to anybody.
            keep: false,
        };
        let units = found::found(&market.at.home, fit)?;
        ui::note(&format!(
            "{} belongs to no network: a private market of this machine alone runs the job, on \
             {units} x {}",
            at.home.path().display(),
            found::CLASS
        ));
        let node = Node::start(&market.at, keep)?;
        market.node.insert(node).ready(&market.at, until).await?;
        market.sell(units, until).await?;
        market.keep = keep;
        Ok(market)
    }

    /// The surroundings of commands to it.
    pub(super) fn context(&self) -> &Context {
        &self.at
    }

    /// Offers the units and waits until they can be had.
    async fn sell(&self, units: u32, until: Instant) -> Result<(), CliError> {
        let client = self.at.client()?;
        let credits = |count| Credits::from_micros(count * MICROS_PER_CREDIT).unwrap_or_default();
        let request = OfferRequest {
            label: None,
            class: found::CLASS.to_owned(),
            units,
            reserve: credits(RESERVE),
            buy: Some(credits(BUY)),
            notice_seconds: None,
            mechanism: Primary::Ausubel,
        };
        let _offer: Offer = client.put("/offers", &request).await.during(NOT_SENT)?;
        loop {
            let offers: Vec<Offer> = client.get("/offers").await.during(NOT_SENT)?;
            if offers.iter().any(|offer| offer.on_sale) {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(late("its units are not for sale yet"));
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

impl Drop for Market {
    fn drop(&mut self) {
        let home = &self.at.home;
        if self.keep {
            ui::note(&stays(home.path()));
            return;
        }
        if let Some(node) = &mut self.node {
            node.end();
        }
        if let Err(error) = end::remove(home) {
            let folder = home.path().display();
            ui::note(&format!("{folder} is left behind: {error:#}"));
        }
    }
}

/// How to use and to end a market that stays.
fn stays(folder: &Path) -> String {
    let folder = ui::quoted(&folder.to_string_lossy());
    format!(
        "the private market stays: gridbay --data {folder} run ..., and ends with: \
         gridbay --data {folder} node stop; rm -r {folder}"
    )
}

fn late(why: &str) -> CliError {
    let why = format!(
        "the private market did not begin within {} s: {why}",
        START.as_secs()
    );
    CliError::new(
        Exit::TIMEOUT,
        NOT_SENT,
        why,
        "try again when this machine has less to do",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_to_copy_name_one_folder() {
        let told = stays(Path::new("/tmp/a b; rm x/gridbay-1"));
        let folder = "'/tmp/a b; rm x/gridbay-1'";
        assert!(told.ends_with(&format!("rm -r {folder}")), "{told}");
        assert_eq!(
            told.matches(&format!("--data {folder} ")).count(),
            2,
            "{told}"
        );
    }
}
