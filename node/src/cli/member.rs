//! Members: institutions describe themselves to the writer of the genesis.
//!
//! Only public halves leave a node: `found member` makes the keys in the data folder and writes the
//! description; `found` puts the descriptions of all together.

use super::context::Context;
use super::error::{CliError, During as _};
use super::exit::Exit;
use super::text;
use crate::api::types::{amount, optional_amount};
use crate::config::{Home, parse};
use crate::keys::{KeyFolder, KeyName, private_folder};
use clap::Args;
use gridbay_protocol::account::{AccountKey, Roles};
use gridbay_protocol::bank::{BankPolicy, WEIGHT};
use gridbay_protocol::beacon::{CHAIN_STEPS, Chain};
use gridbay_protocol::genesis::{Member, MemberValidator};
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::{Credits, MICROS_PER_CREDIT};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;

const WHAT: &str = "the member was not described";
/// The endowment of a member if neither it nor the bank says otherwise: 1,000 credits.
const ENDOWMENT: Credits = match Credits::from_micros(1_000 * MICROS_PER_CREDIT) {
    Some(endowment) => endowment,
    None => Credits::ZERO,
};

/// A member's description of itself: JSON in a file of its own, TOML in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemberFile {
    /// Name, unique in the network.
    pub(super) name: String,
    /// Its account's key.
    pub(super) account_key: PublicKey,
    /// Transport key of its node.
    pub(super) node: PublicKey,
    /// Addresses of its node.
    pub(super) addresses: Vec<String>,
    /// Money minted to it at the start; if absent its baseline, or 1,000 credits where the bank
    /// knows none.
    #[serde(default, with = "optional_amount")]
    pub(super) endowment: Option<Credits>,
    /// How far its balance may fall below zero.
    #[serde(with = "amount")]
    pub(super) credit_line: Credits,
    /// What multiplies the bank's baseline and shares for it.
    #[serde(default = "one")]
    pub(super) weight: u32,
    /// Its validator, if it runs one.
    pub(super) validator: Option<ValidatorFile>,
}

/// The validator of a [`MemberFile`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ValidatorFile {
    /// Consensus key.
    pub(super) key: PublicKey,
    /// Tip of its beacon chain.
    pub(super) beacon_tip: Hash32,
    /// Voting power.
    pub(super) power: u64,
}

fn one() -> u32 {
    1
}

impl MemberFile {
    /// The member as the genesis holds it: one key with all roles.
    pub(super) fn member(self, bank: &BankPolicy) -> Member {
        let node = self.node;
        let baseline = bank.standing(self.weight).map(|standing| standing.base);
        let baseline = baseline.filter(|base| *base > Credits::ZERO);
        let endowment = self.endowment.or(baseline).unwrap_or(ENDOWMENT);
        Member {
            name: self.name,
            keys: vec![AccountKey {
                key: self.account_key,
                roles: Roles::ALL,
            }],
            endowment,
            credit_line: self.credit_line,
            weight: self.weight,
            validator: self.validator.map(|v| MemberValidator {
                key: v.key,
                node,
                power: v.power,
                beacon_tip: v.beacon_tip,
            }),
            addresses: self.addresses,
        }
    }
}

/// Arguments of `found member`.
#[derive(Clone, Debug, Args)]
pub(super) struct MemberArgs {
    /// The institution's name
    #[arg(long)]
    pub(super) name: String,
    /// Address at which others reach its node, as in /ip4/192.0.2.7/udp/7411/quic-v1
    #[arg(long = "address", value_name = "MULTIADDR", required = true, num_args = 1..)]
    pub(super) addresses: Vec<String>,
    /// Credits it starts with [default: its baseline, or 1000 where the bank knows none]
    #[arg(long, value_name = "CREDITS", value_parser = parse::credits)]
    pub(super) endowment: Option<Credits>,
    /// How far its balance may fall below zero
    #[arg(long, value_name = "CREDITS", default_value = "0", value_parser = parse::credits)]
    pub(super) credit_line: Credits,
    /// What multiplies the bank's baseline and shares for it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(WEIGHT)))]
    pub(super) weight: u32,
    /// Voting power of its validator
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    pub(super) power: u64,
    /// It runs no validator
    #[arg(long, conflicts_with = "power")]
    pub(super) no_validator: bool,
    /// Write the description to this file instead of printing it
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

impl MemberArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        let member = self.described(&at.home)?;
        match &self.out {
            None => print(at, &member),
            Some(path) => {
                let json = serde_json::to_string_pretty(&member)
                    .map_err(|error| CliError::fault(WHAT, error.to_string()))?;
                fs::write(path, format!("{json}\n")).map_err(|error| {
                    let why = format!("{}: {error}", path.display());
                    CliError::new(Exit::FAILED, WHAT, why, "name a file that can be written")
                })
            }
        }
    }

    /// The description; the keys of it that are missing are made in the data folder.
    pub(super) fn described(&self, home: &Home) -> Result<MemberFile, CliError> {
        for address in &self.addresses {
            parse::address(address).map_err(|why| {
                CliError::new(Exit::USAGE, WHAT, why, "give the address others will dial")
            })?;
        }
        private_folder(home.path()).during(WHAT)?;
        let folder = KeyFolder::open(&home.keys()).during(WHAT)?;
        folder.create_missing(&KeyName::NODE).during(WHAT)?;
        if !self.no_validator {
            folder.create_missing(&KeyName::VALIDATOR).during(WHAT)?;
        }
        let keys = folder.load().during(WHAT)?;
        let node = keys.node();
        let secrets = keys.validator.filter(|_| !self.no_validator);
        Ok(MemberFile {
            name: self.name.clone(),
            account_key: keys.account.public(),
            node,
            addresses: self.addresses.clone(),
            endowment: self.endowment,
            credit_line: self.credit_line,
            weight: self.weight,
            validator: secrets.map(|v| ValidatorFile {
                key: v.key.public(),
                beacon_tip: Hash32(Chain::new(&v.beacon_secret, CHAIN_STEPS).tip()),
                power: self.power,
            }),
        })
    }
}

fn print(at: &Context, member: &MemberFile) -> Result<(), CliError> {
    at.tell(member, |member| {
        let validator = match &member.validator {
            Some(v) => format!("{} with power {}", v.key.to_hex(), v.power),
            None => "none".to_owned(),
        };
        text::fields(&[
            ("member", member.name.clone()),
            ("account key", member.account_key.to_hex()),
            ("node", member.node.to_hex()),
            ("validator", validator),
            ("endowment", text::or_dash(member.endowment)),
            ("credit line", member.credit_line.to_string()),
            ("weight", member.weight.to_string()),
            ("addresses", member.addresses.join(" ")),
        ])
    })
}
