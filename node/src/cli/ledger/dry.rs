//! `ledger transfer --dry-run`: what would move, and whether it can.

use crate::api::client::Client;
use crate::api::types::{Balance, TransferRequest};
use crate::cli::context::Context;
use crate::cli::dry::Would;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;

/// Looks at the own balance, and tells what a transfer would leave.
pub(super) async fn tell(
    at: &Context,
    client: &Client,
    request: TransferRequest,
) -> Result<Exit, CliError> {
    let own: Balance = client.get("/ledger/balance").await.during("no balance")?;
    let (works, why, next) = outlook(&own, &request);
    let what = format!(
        "{} credits to account {}",
        request.amount,
        request.to.to_hex()
    );
    let would = Would {
        costs: Some(request.amount),
        sends: request,
        holds: None,
        works,
        why,
        next: next.to_owned(),
    };
    would.tell(at, &what)
}

fn outlook(own: &Balance, request: &TransferRequest) -> (bool, String, &'static str) {
    if own.account == request.to {
        let why = "it is this node's own account".to_owned();
        return (false, why, "name another account");
    }
    let spendable = own.spendable();
    match spendable.checked_sub(request.amount) {
        Some(left) => (true, format!("{left} credits of {spendable} are left"), ""),
        None => {
            let why = format!("{spendable} credits can be spent");
            (false, why, "lower the amount; see gridbay ledger balance")
        }
    }
}
