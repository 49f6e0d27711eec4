//! `ledger balance|transfer|close|history|proof|check|statement|invoice|bank|verify`.

mod dry;
mod head;
mod proof;
mod statement;

use super::chain::walk;
use super::context::Context;
use super::error::{CliError, During as _};
use super::exit::Exit;
use super::listing::Newest;
use super::meant::Meant;
use super::once::{Deed, Once};
use super::text;
use crate::api::client::Client;
use crate::api::types::{
    Balance, BankReport, CloseRequest, ClosedAccount, Entries, Movement, Stale, TransferRequest,
    Transferred,
};
use crate::config::parse;
use crate::ui::{self, Table};
use clap::Subcommand;
use gridbay_protocol::ids::{AccountId, BlockId, NetworkId};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

const TRANSFER: Deed = Deed {
    path: "/ledger/transfer",
    undone: "nothing was transferred",
    unknown: "it is not known whether the credits were transferred",
    look: "gridbay ledger history",
};
const CLOSE: Deed = Deed {
    path: "/ledger/close",
    undone: "the account was not closed",
    unknown: "it is not known whether the account was closed",
    look: "gridbay ledger balance",
};

/// Money: balances, transfers, statements, proof.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum LedgerCommand {
    /// Show a balance
    Balance {
        /// Account, or name of a founding member [default: this node's]
        #[arg(long)]
        account: Option<Meant>,
    },
    /// Move credits to another account
    Transfer {
        /// To whom: an account, or the name of a founding member
        to: Meant,
        /// How many credits
        #[arg(value_parser = parse::credits)]
        amount: Credits,
        /// Note; the ledger carries its salted hash
        #[arg(long)]
        memo: Option<String>,
        #[command(flatten)]
        once: Once,
        /// Say what would move and whether it can, and move nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Close this node's account: nothing may be open, and what it has goes to another account
    Close {
        /// Who gets what it has: an account, or the name of a founding member
        #[arg(long, value_name = "ACCOUNT")]
        to: Meant,
        #[command(flatten)]
        once: Once,
    },
    /// Show the last movements of an account's money
    History {
        /// Account, or name of a founding member [default: this node's]
        #[arg(long)]
        account: Option<Meant>,
        #[command(flatten)]
        newest: Newest,
    },
    /// Prove an account's payments in a block to somebody who does not trust this node
    Proof {
        /// Height of the block, see `ledger history`
        height: u64,
        /// Account, or name of a founding member [default: this node's]
        #[arg(long)]
        account: Option<Meant>,
        /// Leave out the first N payments of the account in this block: 256 are proved at a time
        #[arg(long, value_name = "N", default_value_t)]
        after: u64,
        /// Write the proof to this file instead of showing what it proves
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Check a proof of payments against the genesis, without trusting who made it
    Check {
        /// File of `ledger proof --out`
        file: PathBuf,
        /// The genesis to start from [default: the data folder's]
        #[arg(long, value_name = "FILE")]
        genesis: Option<PathBuf>,
    },
    /// Show every movement of an account's money in a time, with the balances before and after
    Statement(statement::PeriodArgs),
    /// Print what an account bought and sold in a time: sums by job and by day
    Invoice(statement::PeriodArgs),
    /// Show the last block of this node's ledger
    Head,
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
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        at.wait(async {
            let client = at.client()?;
            match self {
                LedgerCommand::Balance { account } => balance(at, &client, account).await,
                LedgerCommand::Transfer {
                    to,
                    amount,
                    memo,
                    once,
                    dry_run,
                } => {
                    let to = account(&client, &to, TRANSFER.undone).await?;
                    let request = TransferRequest { to, amount, memo };
                    if dry_run {
                        return dry::tell(at, &client, request).await;
                    }
                    transfer(at, &client, &once, &request).await
                }
                LedgerCommand::Close { to, once } => close(at, &client, &once, &to).await,
                LedgerCommand::History { account, newest } => {
                    let account = of(account, '&');
                    let what = ("/ledger/history", &account[..], "no statement");
                    newest.of(at, &client, what, history).await
                }
                LedgerCommand::Proof {
                    height,
                    account,
                    after,
                    out,
                } => {
                    let which = (height, account, after);
                    proof::make(at, &client, which, out.as_deref()).await
                }
                LedgerCommand::Check { file, genesis } => {
                    proof::check(at, &client, &file, genesis).await
                }
                LedgerCommand::Statement(args) => statement::statement(at, &client, &args).await,
                LedgerCommand::Invoice(args) => statement::invoice(at, &client, &args).await,
                LedgerCommand::Head => head::show(at, &client).await,
                LedgerCommand::Bank => bank(at, &client).await,
                LedgerCommand::Verify { genesis } => verify(at, &client, genesis).await,
            }?;
            Ok(Exit::OK)
        })
    }
}

fn of(account: Option<Meant>, mark: char) -> String {
    account.map_or(String::new(), |who| format!("{mark}account={who}"))
}

/// The account that a word means, which the node knows.
async fn account(client: &Client, who: &Meant, what: &str) -> Result<AccountId, CliError> {
    let balance = client.get(&format!("/ledger/balance?account={who}")).await;
    let balance: Balance = balance.during(what)?;
    Ok(balance.account)
}

async fn balance(at: &Context, client: &Client, account: Option<Meant>) -> Result<(), CliError> {
    let path = format!("/ledger/balance{}", of(account, '?'));
    let balance: Balance = client.get(&path).await.during("no balance")?;
    if let Some(stale) = &balance.stale {
        ui::note(&age(stale));
    }
    at.tell(&balance, balance_text)
}

/// Of when a balance is that may be old.
fn age(stale: &Stale) -> String {
    let why = match stale.behind {
        true => "the node is catching up",
        false => "the node knows of no newer block; see gridbay doctor",
    };
    let (height, ago) = (stale.height, text::span(stale.age_ms));
    format!("as of height {height}, {ago} ago; {why}")
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
    once: &Once,
    request: &TransferRequest,
) -> Result<(), CliError> {
    let done: Transferred = once.post(client, &TRANSFER, request).await?;
    at.tell(&done, |done| {
        format!(
            "done at height {}, entry {}\n",
            done.height,
            done.entry.to_hex()
        )
    })
}

async fn close(at: &Context, client: &Client, once: &Once, to: &Meant) -> Result<(), CliError> {
    let to = account(client, to, CLOSE.undone).await?;
    let done: ClosedAccount = once.post(client, &CLOSE, &CloseRequest { to }).await?;
    at.tell(&done, |done| {
        format!(
            "closed at height {}, entry {}\n{} credits moved to account {}\n",
            done.height,
            done.entry.to_hex(),
            done.amount,
            done.to.to_hex()
        )
    })
}

fn history(lines: &[Movement]) -> String {
    Table::of(
        lines,
        &[
            (">HEIGHT", &|l| l.height.to_string()),
            ("TIME", &|l| text::ago(l.time_ms)),
            (">AMOUNT", &|l| l.amount.to_string()),
            ("REASON", &|l| {
                format!("{:?}", l.reason).to_ascii_lowercase()
            }),
            ("ORDER", &|l| text::or_dash(l.order)),
            ("OTHER SIDE", &|l| l.other.clone()),
        ],
    )
}

async fn bank(at: &Context, client: &Client) -> Result<(), CliError> {
    let report = client.get("/ledger/bank").await;
    let report: BankReport = report.during("no figures of the bank")?;
    at.tell(&report, bank_text)
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
    at.tell(&verified, |v| {
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
    fn an_old_balance_says_of_when_it_is() {
        let mut stale = Stale {
            height: 120,
            age_ms: 3_900_000,
            behind: true,
        };
        let told = "as of height 120, 1h05m ago; the node is catching up";
        assert_eq!(age(&stale), told);
        stale.behind = false;
        assert!(age(&stale).ends_with("knows of no newer block; see gridbay doctor"));
    }

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
            stale: None,
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
