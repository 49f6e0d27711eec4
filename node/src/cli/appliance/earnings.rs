//! `appliance earnings`: what a node's account has, and its last movements.

use super::order::{Who, odd, order};
use crate::api::types::{Earnings, Order, Outcome};
use crate::cli::context::{Context, Format};
use crate::cli::error::CliError;
use crate::cli::text::{ago, fields};
use crate::ui::Table;
use clap::Args;

/// Show what a node's account has, and the last movements of its money
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct EarningsArgs {
    #[command(flatten)]
    who: Who,
    /// How many movements
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
    /// For programs, as -o json
    #[arg(long)]
    json: bool,
}

impl EarningsArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let what = "no earnings";
        let asked = Order::Earnings { limit: self.limit };
        let Outcome::Earnings(earnings) = order(at, self.who, asked, what)? else {
            return Err(odd(what));
        };
        let mut at = at.clone();
        if self.json {
            at.format = Format::Json;
        }
        at.tell(&*earnings, text)
    }
}

fn text(earnings: &Earnings) -> String {
    let balance = &earnings.balance;
    let head = fields(&[
        ("account", balance.account.to_hex()),
        ("free", balance.balance.to_string()),
        ("retained", balance.retained.to_string()),
        ("staked", balance.staked.to_string()),
        ("at height", balance.height.to_string()),
    ]);
    let table = Table::of(
        &earnings.movements,
        &[
            (">HEIGHT", &|l| l.height.to_string()),
            ("TIME", &|l| ago(l.time_ms)),
            (">AMOUNT", &|l| l.amount.to_string()),
            ("REASON", &|l| {
                format!("{:?}", l.reason).to_ascii_lowercase()
            }),
            ("OTHER SIDE", &|l| l.other.clone()),
        ],
    );
    format!("{head}\n{table}")
}
