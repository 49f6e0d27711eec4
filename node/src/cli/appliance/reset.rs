//! `appliance reset`: the end of an appliance as it is.

use super::order::Who;
use super::status::shown;
use crate::api::types::Order;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use clap::Args;
use gridbay_protocol::ids::AccountId;

/// Erase an appliance's keys, settings and jobs at its next boot, which comes at once
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct ResetArgs {
    #[command(flatten)]
    who: Who,
    /// Its account, which is lost by that; as appliance earnings shows it
    #[arg(long, value_name = "ACCOUNT")]
    account: AccountId,
    /// Do it also while the account has money
    #[arg(long)]
    lose_balance: bool,
}

impl ResetArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let order = Order::Reset {
            account: self.account,
            lose: self.lose_balance,
        };
        shown(at, self.who, order, "nothing is erased")
    }
}
