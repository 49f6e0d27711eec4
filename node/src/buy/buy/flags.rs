//! Options of `run --buy`.

use super::{Also, BuyHow};
use crate::buy::flags::NODES;
use crate::config::parse;
use clap::Args;
use gridbay_protocol::units::Credits;
use std::time::Duration;

/// Buying.
#[derive(Clone, Debug, Args)]
pub(in crate::buy) struct BuyFlags {
    /// Buy now instead of bidding: dearer, at once, not preempted
    #[arg(long, conflicts_with = "array")]
    buy: bool,
    /// With --buy: nodes of another class too, with the others all or none; as in --also large=2
    #[arg(long, value_name = "CLASS=NODES", requires = "buy", value_parser = also)]
    also: Vec<Also>,
    /// With --buy: wait so long for nodes if there are not enough
    #[arg(long, value_name = "DURATION", requires = "buy", value_parser = parse::duration)]
    wait: Option<Duration>,
    /// With --buy: pay up to this on top to evict others' buys, where the federation allows it
    #[arg(long, value_name = "CREDITS", requires = "buy", value_parser = parse::credits)]
    surcharge: Option<Credits>,
}

impl BuyFlags {
    /// The terms, if the command buys.
    pub(in crate::buy) fn how(&self) -> Option<BuyHow> {
        let wait = self.wait.unwrap_or_default().as_millis().div_ceil(1_000);
        self.buy.then(|| BuyHow {
            wait_seconds: u32::try_from(wait).unwrap_or(u32::MAX),
            surcharge: self.surcharge.unwrap_or_default(),
            also: self.also.clone(),
        })
    }
}

/// Reads nodes of a class.
fn also(text: &str) -> Result<Also, String> {
    let (class, nodes) = text.rsplit_once('=').ok_or("want CLASS=NODES")?;
    let nodes = nodes.parse().map_err(|_| "want a number of nodes")?;
    if class.is_empty() || !NODES.contains(&i64::from(nodes)) {
        return Err(format!(
            "want the name of a class and 1 to {} nodes",
            NODES.end()
        ));
    }
    let class = class.to_owned();
    Ok(Also { class, nodes })
}
