//! `ledger balance|transfer|close|history|bank|verify`.

use super::chain::walk;
use super::context::Context;
use super::error::{CliError, During as _};
use super::text;
use crate::api::client::Client;
use crate::api::types::{
    Balance, BankReport, CloseRequest, ClosedAccount, Entries, Movement, TransferRequest,
    Transferred,
};
use crate::config::parse;
use crate::keys::random;
use crate::ui::Table;
use clap::Subcommand;
use gridbay_protocol::ids::{AccountId, BlockId, NetworkId, to_hex};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Money: balances, transfers, statements, proof.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum LedgerCommand {
    /// Show a balance
    Balance {
        /// Account [default: this node's]
        #[arg(long)]
        account: Option<AccountId>,
    },
    /// Move credits to another account
    Transfer {
        /// To whom
        to: AccountId,
        /// How many credits
        #[arg(value_parser = parse::credits)]
        amount: Credits,
        /// Note; the ledger carries its salted hash
        #[arg(long)]
        memo: Option<String>,
    },
    /// Close this node's account: nothing may be open, and what it has goes to another account
    Close {
        /// Who gets what it has
        #[arg(long, value_name = "ACCOUNT")]
        to: AccountId,
    },
    /// Show the last movements of an account's money
    History {
        /// Account [default: this node's]
        #[arg(long)]
        account: Option<AccountId>,
        /// How many
        #[arg(long, default_value_t = 20)]
        limit: usize,
    },
    /// Show what the bank publishes: supply, velocity and price indices
    Bank,
    /// Check every header and certificate from the genesis on, without trusting the node
    Verify {
        /// The genesis to start from [default: the data folder's]
        #[arg(long, value_name = "FILE")]
        genesis: Option<PathBuf>,
    },
}

/// What `ledger verify` reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Verified {
    network: NetworkId,
    height: u64,
    block: BlockId,
    validators: usize,
}

impl LedgerCommand {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        at.wait(async {
            let client = at.client()?;
            match self {
                LedgerCommand::Balance { account } => balance(at, &client, account).await,
                LedgerCommand::Transfer { to, amount, memo } => {
                    let request = TransferRequest { to, amount, memo };
                    transfer(at, &client, &request).await
                }
                LedgerCommand::Close { to } => close(at, &client, to).await,
                LedgerCommand::History { account, limit } => {
                    history(at, &client, account, limit).await
                }
                LedgerCommand::Bank => bank(at, &client).await,
                LedgerCommand::Verify { genesis } => verify(at, &client, genesis).await,
            }
        })
    }
}

fn of(account: Option<AccountId>, mark: char) -> String {
    account.map_or(String::new(), |id| format!("{mark}account={}", id.to_hex()))
}

async fn balance(
    at: &Context,
    client: &Client,
    account: Option<AccountId>,
) -> Result<(), CliError> {
    let path = format!("/ledger/balance{}", of(account, '?'));
    let balance: Balance = client.get(&path).await.during("no balance")?;
    at.show(&balance, balance_text)
}

fn balance_text(balance: &Balance) -> String {
    let Entries {
        spent,
        budget,
        spent_bytes,
        budget_bytes,
    } = balance.entries;
    text::fields(&[
        ("account", balance.account.to_hex()),
        ("free", balance.balance.to_string()),
        ("held for orders", balance.held.to_string()),
        ("staked", balance.staked.to_string()),
        ("retained", balance.retained.to_string()),
        ("in use", balance.in_use.to_string()),
        ("tax in arrears", balance.arrears.to_string()),
        ("credit line", balance.credit_line.to_string()),
        ("spendable", balance.spendable().to_string()),
        ("entries this epoch", format!("{spent} of {budget}")),
        ("bytes of them", format!("{spent_bytes} of {budget_bytes}")),
        ("at height", balance.height.to_string()),
    ])
}

async fn transfer(
    at: &Context,
    client: &Client,
    request: &TransferRequest,
) -> Result<(), CliError> {
    let what = "nothing was transferred";
    let key = to_hex(&random().during(what)?);
    let done = client.post("/ledger/transfer", request, Some(&key)).await;
    let done: Transferred = done.during(what)?;
    at.show(&done, |done| {
        format!(
            "done at height {}, entry {}\n",
            done.height,
            done.entry.to_hex()
        )
    })
}

async fn close(at: &Context, client: &Client, to: AccountId) -> Result<(), CliError> {
    let what = "the account was not closed";
    let key = to_hex(&random().during(what)?);
    let done = client
        .post("/ledger/close", &CloseRequest { to }, Some(&key))
        .await;
    let done: ClosedAccount = done.during(what)?;
    at.show(&done, |done| {
        format!(
            "closed at height {}, entry {}\n{} credits moved to account {}\n",
            done.height,
            done.entry.to_hex(),
            done.amount,
            done.to.to_hex()
        )
    })
}

async fn history(
    at: &Context,
    client: &Client,
    account: Option<AccountId>,
    limit: usize,
) -> Result<(), CliError> {
    let path = format!("/ledger/history?limit={limit}{}", of(account, '&'));
    let lines: Vec<Movement> = client.get(&path).await.during("no statement")?;
    at.show(&lines, |lines| {
        Table::of(
            lines,
            &[
                (">HEIGHT", &|l| l.height.to_string()),
                ("TIME", &|l| text::time(l.time_ms)),
                (">AMOUNT", &|l| l.amount.to_string()),
                ("REASON", &|l| {
                    format!("{:?}", l.reason).to_ascii_lowercase()
                }),
                ("ORDER", &|l| text::or_dash(l.order)),
                ("OTHER SIDE", &|l| l.other.clone()),
            ],
        )
    })
}

async fn bank(at: &Context, client: &Client) -> Result<(), CliError> {
    let report = client.get("/ledger/bank").await;
    let report: BankReport = report.during("no figures of the bank")?;
    at.show(&report, bank_text)
}

fn bank_text(report: &BankReport) -> String {
    let policy = &report.policy;
    let revenue = match policy.shared_every {
        None => "to the owners of the units".to_owned(),
        Some(every) => format!("by shares, every {every} heights"),
    };
    let tax = match (policy.tax_ppm, policy.tax_every) {
        (Some(ppm), Some(every)) => {
            format!("{} of savings, every {every} heights", percent(ppm.into()))
        }
        _ => "none".to_owned(),
    };
    let velocity = report.velocity_ppm.map(percent);
    let fields = text::fields(&[
        ("revenue", revenue),
        ("baseline", policy.baseline.to_string()),
        ("tax", tax),
        ("minted", report.supply.minted.to_string()),
        ("circulating", report.supply.circulating.to_string()),
        ("credit drawn", report.supply.drawn.to_string()),
        ("pool", report.supply.treasury.to_string()),
        ("velocity", text::or_dash(velocity)),
        ("epochs", report.epochs.len().to_string()),
        ("at height", report.height.to_string()),
    ]);
    let table = Table::of(
        &report.classes,
        &[
            ("CLASS", &|c| c.class.clone()),
            (">PRICE INDEX", &|c| text::or_dash(c.index_ppm.map(percent))),
        ],
    );
    format!("{fields}\n{table}")
}

/// Millionths as per cent with two decimals, rounded down.
fn percent(ppm: u64) -> String {
    format!("{}.{:02} %", ppm / 10_000, ppm % 10_000 / 100)
}

async fn verify(at: &Context, client: &Client, file: Option<PathBuf>) -> Result<(), CliError> {
    let genesis = at.genesis(file.as_deref())?;
    let chain = walk(client, &genesis, None).await?;
    let verified = Verified {
        network: genesis.network(),
        height: chain.height(),
        block: chain.head(),
        validators: chain.validators().members().len(),
    };
    at.show(&verified, |v| {
        format!(
            "ok: {} blocks of network {}, each certified by its validators (now {})\nhead {}\n",
            v.height,
            v.network,
            v.validators,
            v.block.to_hex()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::types::Signed;

    #[test]
    fn a_balance_shows_what_is_not_free_line_by_line() {
        let credits = |text: &str| text.parse().expect("an amount");
        let text = balance_text(&Balance {
            account: AccountId([1; 32]),
            balance: Signed(-1_500_000),
            held: credits("3"),
            staked: credits("4"),
            retained: credits("6"),
            in_use: credits("2"),
            arrears: credits("0.5"),
            credit_line: credits("5"),
            height: 42,
            entries: Entries {
                spent: 3,
                budget: 4_800,
                spent_bytes: 900,
                budget_bytes: 2_000_000,
            },
        });
        for (name, amount) in [
            ("free", "-1.5"),
            ("held for orders", "3"),
            ("staked", "4"),
            ("retained", "6"),
            ("in use", "2"),
            ("tax in arrears", "0.5"),
            ("spendable", "3.5"),
            ("entries this epoch", "3 of 4800"),
            ("bytes of them", "900 of 2000000"),
        ] {
            let line = text.lines().find(|line| line.starts_with(name));
            let line = line.unwrap_or_else(|| panic!("no {name} in {text}"));
            assert_eq!(line[name.len()..].trim(), amount, "{text}");
        }
    }
}
