//! `appliance collect`: what a node has earned, for its owner.

use super::order::{Who, odd, order};
use crate::api::types::{Order, Outcome};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::config::parse;
use clap::Args;
use gridbay_protocol::units::Credits;

/// Move what a node's account has to the account of this node
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct CollectArgs {
    #[command(flatten)]
    who: Who,
    /// How many credits [default: all that is free]
    #[arg(value_parser = parse::credits)]
    amount: Option<Credits>,
}

impl CollectArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let what = "nothing is known to be collected";
        let asked = Order::Collect {
            amount: self.amount,
        };
        match order(at, self.who, asked, what)? {
            Outcome::Collected(got) => at.tell(&*got, |got| {
                format!(
                    "{} credits moved to account {} at height {}, entry {}\n",
                    got.amount,
                    got.to.to_hex(),
                    got.height,
                    got.entry.to_hex()
                )
            }),
            _ => Err(odd(what)),
        }
    }
}
