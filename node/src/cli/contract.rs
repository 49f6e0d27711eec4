//! `contract list|show|sign|close`. A contract is proposed by `run --provider`.

use super::context::Context;
use super::error::{CliError, During as _};
use super::exit::Exit;
use super::listing::Listing;
use crate::api::types::{Contract, ContractRole};
use crate::ui::Table;
use clap::Subcommand;

/// Contracts for batches of jobs, as client and as provider.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum ContractCommand {
    /// List contracts, this node's own alone unless --all
    List {
        /// Those of others too
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        listing: Listing,
    },
    /// Show one contract
    Show {
        /// The beginning of its id
        id: String,
    },
    /// Sign a contract that was proposed to this node: stakes the penalty of every job
    Sign {
        /// The beginning of its id
        id: String,
    },
    /// Request no more jobs; a proposal that is not signed is taken back
    Close {
        /// The beginning of its id
        id: String,
    },
}

const UNDONE: &str = "nothing was changed";

impl ContractCommand {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        at.wait(async {
            let client = at.client()?;
            let from = ("/contracts", "no list of contracts");
            if let ContractCommand::List { all, listing } = self {
                let keep = |c: &Contract| all || c.role != ContractRole::None;
                return listing.kept(at, &client, from, keep, table).await;
            }
            let all: Vec<Contract> = client.get(from.0).await.during(from.1)?;
            match self {
                ContractCommand::List { .. } => Ok(()),
                ContractCommand::Show { id } => at.tell(&find(all, &id)?, describe),
                ContractCommand::Sign { id } => {
                    let id = find(all, &id)?.contract.to_hex();
                    let word = format!("/contracts/{id}/sign");
                    let signed: Contract = client.post(&word, &(), None).await.during(UNDONE)?;
                    at.tell(&signed, describe)
                }
                ContractCommand::Close { id } => {
                    let id = find(all, &id)?.contract.to_hex();
                    let word = format!("/contracts/{id}/close");
                    let closed: Contract = client.post(&word, &(), None).await.during(UNDONE)?;
                    at.tell(&closed, describe)
                }
            }
        })
    }
}

/// The only contract whose id begins so.
fn find(all: Vec<Contract>, id: &str) -> Result<Contract, CliError> {
    let mut meant = all
        .into_iter()
        .filter(|c| c.contract.to_hex().starts_with(id));
    match (meant.next(), meant.next()) {
        (Some(contract), None) => Ok(contract),
        (None, _) => Err(CliError::new(
            Exit::NOT_FOUND,
            "no such contract",
            format!("no contract begins with {id}"),
            "see gridbay contract list --all",
        )),
        (Some(_), Some(_)) => Err(CliError::new(
            Exit::USAGE,
            "no contract was chosen",
            format!("more than one contract begins with {id}"),
            "give more digits",
        )),
    }
}

fn state(contract: &Contract) -> &'static str {
    match (contract.signed, contract.closed) {
        (false, false) => "proposed",
        (true, false) => "signed",
        (_, true) => "closed",
    }
}

fn role(contract: &Contract) -> &'static str {
    match contract.role {
        ContractRole::Client => "client",
        ContractRole::Provider => "provider",
        ContractRole::None => "-",
    }
}

fn table(contracts: &[Contract]) -> String {
    Table::of(
        contracts,
        &[
            ("CONTRACT", &|c| c.contract.to_string()),
            ("ROLE", &|c| role(c).to_owned()),
            ("CLASS", &|c| c.class.clone()),
            ("STATE", &|c| state(c).to_owned()),
            (">JOBS", &|c| c.jobs.to_string()),
            ("->ASKED", &|c| c.requested.to_string()),
            (">DONE", &|c| c.completed.to_string()),
            ("->FAILED", &|c| c.failed.to_string()),
            (">VALUE", &|c| c.value.to_string()),
            ("->PENALTY", &|c| c.penalty.to_string()),
        ],
    )
}

fn describe(c: &Contract) -> String {
    let alpha = f64::from(c.alpha_ppm) / 1_000_000.0;
    let beta = f64::from(c.beta16) / 16.0;
    let lines = [
        ("contract", c.contract.to_hex()),
        ("client", c.client.to_hex()),
        ("provider", c.provider.to_hex()),
        ("class", c.class.clone()),
        ("state", state(c).to_owned()),
        (
            "jobs",
            format!(
                "{}: {} requested, {} served now, {} done, {} failed",
                c.jobs, c.requested, c.served, c.completed, c.failed
            ),
        ),
        (
            "each",
            format!(
                "{} s, pays {} for {} s, then nothing after {} s more; penalty {}",
                c.job_seconds, c.value, c.hold_seconds, c.decay_seconds, c.penalty
            ),
        ),
        ("all", format!("alpha {alpha}, beta {beta}")),
        (
            "requests",
            format!("in slots {} to {}", c.first_slot, c.last_slot),
        ),
        (
            "locked",
            format!("{} by the client, {} by the provider", c.escrow, c.bond),
        ),
        ("so far", format!("{} earned, {} owed", c.earned, c.owed)),
    ];
    let line = |(name, value): &(&str, String)| format!("{name:<10}{value}\n");
    lines.iter().map(line).collect()
}
