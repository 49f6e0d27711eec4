//! `found`: from members' descriptions, classes and a policy to the genesis file.
//!
//! 1. Each founding member runs `found member` on its own node and sends the description.
//! 2. One of them runs `found` with all descriptions; everybody compares the network's id.
//! 3. Each places the file with `join genesis.cbor` and starts its node.

pub(super) mod genesis;
mod repeated;

use super::context::Context;
use super::error::{CliError, chain};
use super::exit::Exit;
use super::member::{MemberArgs, MemberFile};
use crate::api::types::amount;
use crate::config::parse;
use crate::ui::Table;
use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use gridbay_protocol::bank::Preset;
use gridbay_protocol::class::{Class, ClassKey, Isolation};
use gridbay_protocol::entry_budget::{EntryBudget, EntryBudgets};
use gridbay_protocol::genesis::{Genesis, GenesisError, Member, Policy};
use gridbay_protocol::ids::{AccountId, NetworkId};
use gridbay_protocol::limits::BLOCK_ENTRIES;
use gridbay_protocol::mechanism::ausubel::Rule;
use gridbay_protocol::policy::ausubel::AuctionPolicy;
use gridbay_protocol::units::{Credits, Price};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Arguments of `found`.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct FoundArgs {
    #[command(subcommand)]
    step: Option<Step>,
    /// Name of the network
    #[arg(long, default_value = "gridbay")]
    name: String,
    /// Descriptions of members, as written by `found member`
    #[arg(long = "member", value_name = "FILE", num_args = 1..)]
    members: Vec<PathBuf>,
    /// A TOML list of descriptions: tables [[member]]
    #[arg(long = "members", value_name = "FILE")]
    list: Option<PathBuf>,
    /// A class: name=small,vcpu=1,memory=1GiB,disk=2GiB,gpu=0,price=1 (reference price, credits
    /// per node-hour); also isolation=process|container|machine and circle=NAME
    #[arg(
        long = "class", value_name = "SPEC", num_args = 1..,
        default_value = "name=small,vcpu=1,memory=512MiB,disk=1GiB,price=1"
    )]
    classes: Vec<String>,
    /// Pacing: rounds of 1 s and slots of 2 s, or of 5 s and 60 s
    #[arg(long, value_enum, default_value = "wide-area")]
    policy: Pace,
    /// Milliseconds between blocks while there is something to decide: a part of the round, which
    /// takes as long as before, and 100 at the least, since entries are good for 40 blocks; the
    /// policy's own (250 or 1000) without
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(100..=60_000))]
    block_ms: Option<u64>,
    /// The bank: revenue to the owners of the units and mutual credit; revenue by shares and a tax
    /// on savings; or revenue to the owners and the tax
    #[arg(long, value_parser = one_of(Preset::ALL, Preset::name), default_value = "owners")]
    bank: Preset,
    /// The auction's rule: truthful for known institutions; against false names; or the paper's own
    #[arg(long, value_parser = one_of(Rule::ALL, Rule::name), default_value = "exact")]
    rule: Rule,
    /// What a unit that nobody holds must be worth above its reserve, credits per node-hour:
    /// running jobs are moved for no less
    #[arg(long, value_name = "CREDITS", default_value = "0")]
    switch_cost: Credits,
    /// Let a buy evict other buys if there is nothing else, for this part of what they have prepaid
    /// and not used, in percent; 0 evicts nobody
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=900))]
    surcharge: u32,
    /// Entries that a member's account may put into the ledger, a height on average
    #[arg(long, value_name = "ENTRIES", default_value_t = 64, value_parser = entries())]
    member_entries: u32,
    /// The same for any other account
    #[arg(long, value_name = "ENTRIES", default_value_t = 4, value_parser = entries())]
    user_entries: u32,
    /// Where to write the genesis
    #[arg(long, value_name = "FILE", default_value = "genesis.cbor")]
    out: PathBuf,
}

#[derive(Clone, Debug, Subcommand)]
enum Step {
    /// Make this node's keys and describe it as a founding member
    Member(MemberArgs),
}

/// How fast a federation goes: a choice of `found --policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// Four blocks a second, rounds of 1 s, slots of 2 s: for tests and shows, which wait for them.
    Local,
    /// A block a second, rounds of 5 s, slots of 60 s: what federations are founded with.
    WideArea,
}

/// Up to as many as a block holds.
fn entries() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(1..=BLOCK_ENTRIES as u64)
}

/// Reads the name of one of a closed list.
fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.map(name)).map(move |given| {
        let found = all.into_iter().find(|one| name(*one) == given);
        found.expect("the parser takes these names alone")
    })
}

impl Pace {
    /// Its name as the option's value.
    pub fn word(self) -> &'static str {
        match self {
            Pace::Local => "local",
            Pace::WideArea => "wide-area",
        }
    }

    /// The policy that is founded with it.
    pub fn policy(self) -> Policy {
        match self {
            Pace::Local => Policy::local(),
            Pace::WideArea => Policy::wide_area(),
        }
    }
}

/// What `found` reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Founded {
    network: NetworkId,
    name: String,
    file: PathBuf,
    bank: String,
    rule: Rule,
    /// Credits per node-hour.
    #[serde(with = "amount")]
    switch_cost: Credits,
    /// Percent.
    surcharge: u32,
    members: Vec<FoundedMember>,
    classes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FoundedMember {
    name: String,
    account: AccountId,
    power: u64,
    weight: u32,
    #[serde(with = "amount")]
    endowment: Credits,
}

impl FoundArgs {
    pub(super) fn run(self, at: &Context) -> Result<(), CliError> {
        if let Some(Step::Member(args)) = self.step {
            return args.run(at);
        }
        let out = self.out.clone();
        let bank = self.bank.name().to_owned();
        let genesis = self.genesis()?;
        // Members may have joined with an earlier one.
        let written =
            fs::File::create_new(&out).and_then(|mut file| file.write_all(&genesis.encode()));
        written.map_err(|error| {
            let why = format!("{}: {error}", out.display());
            not_founded(
                Exit::FAILED,
                why,
                "name a new file that can be written: --out",
            )
        })?;
        let member = |m: &Member| FoundedMember {
            name: m.name.clone(),
            account: genesis.account(m),
            power: m.validator.as_ref().map_or(0, |v| v.power),
            weight: m.weight,
            endowment: m.endowment,
        };
        let founded = Founded {
            network: genesis.network(),
            name: genesis.name.clone(),
            file: out,
            bank,
            rule: genesis.policy.auction.rule,
            switch_cost: genesis
                .policy
                .auction
                .switch_cost
                .hourly(genesis.policy.slot_ms()),
            surcharge: genesis.policy.buy.surcharge_ppm / 10_000,
            members: genesis.members.iter().map(member).collect(),
            classes: genesis.classes.iter().map(|c| c.name.clone()).collect(),
        };
        at.tell(&founded, table)
    }

    fn genesis(self) -> Result<Genesis, CliError> {
        let mut members = Vec::new();
        for path in &self.members {
            members.push(read_member(path)?);
        }
        if let Some(path) = &self.list {
            members.extend(read_list(path)?);
        }
        if let Some(why) = repeated::repeated(&members) {
            let next = "give each description once, made by gridbay found member on each node";
            return Err(not_founded(Exit::USAGE, why, next));
        }
        let mut policy = self.paced()?;
        policy.bank = self.bank.policy(policy.block_interval_ms);
        policy.auction = self.auction(policy.slot_ms())?;
        policy.buy.surcharge_ppm = self.surcharge * 10_000;
        policy.entries = EntryBudgets {
            member: EntryBudget::a_height(self.member_entries),
            user: EntryBudget::a_height(self.user_entries),
        };
        let members = members.into_iter();
        let members = members.map(|file| file.member(&policy.bank)).collect();
        let mut classes = Vec::new();
        for spec in &self.classes {
            let class = class(spec, policy.slot_ms()).map_err(|why| {
                not_founded(
                    Exit::USAGE,
                    why,
                    "see the form of --class in gridbay found --help",
                )
            })?;
            classes.push(class);
        }
        genesis::of_now(self.name, policy, classes, members).map_err(|error| {
            let next = match error {
                GenesisError::CreditLine { .. } => {
                    "choose --bank owners for credit lines, or describe the member without one"
                }
                GenesisError::Weight { .. } => {
                    "weights count with --bank mirage or bellagio; describe the member with --weight 1"
                }
                _ => "names are unique, and at least one member has a validator",
            };
            not_founded(Exit::USAGE, error.to_string(), next)
        })
    }
}

impl FoundArgs {
    fn paced(&self) -> Result<Policy, CliError> {
        let policy = self.policy.policy();
        let Some(interval) = self.block_ms else {
            return Ok(policy);
        };
        let round_ms = policy.block_interval_ms * u64::from(policy.calendar.round_heights);
        policy.with_block_interval(interval).ok_or_else(|| {
            let why = format!("blocks {interval} ms apart do not fill a round of {round_ms} ms");
            let next = "choose a whole part of the round, such as 100, 200, 250 or 500";
            not_founded(Exit::USAGE, why, next)
        })
    }

    fn auction(&self, slot_ms: u64) -> Result<AuctionPolicy, CliError> {
        let cost = Price::from_hourly(self.switch_cost, slot_ms);
        let switch_cost = cost.ok_or_else(|| {
            let why = format!("a switch cost of {} is too high", self.switch_cost);
            not_founded(
                Exit::USAGE,
                why,
                "choose one below the prices of your classes",
            )
        })?;
        Ok(AuctionPolicy {
            rule: self.rule,
            switch_cost,
        })
    }
}

fn not_founded(exit: Exit, why: impl Into<String>, next: &str) -> CliError {
    CliError::new(exit, "the network was not founded", why, next)
}

fn read(path: &Path) -> Result<String, CliError> {
    fs::read_to_string(path).map_err(|error| {
        let why = format!("{}: {error}", path.display());
        not_founded(Exit::NOT_FOUND, why, "check the names of the files")
    })
}

fn read_member(path: &Path) -> Result<MemberFile, CliError> {
    serde_json::from_str(&read(path)?).map_err(|error| {
        let why = format!("{}: {error}", path.display());
        not_founded(
            Exit::USAGE,
            why,
            "use the file that gridbay found member wrote",
        )
    })
}

fn read_list(path: &Path) -> Result<Vec<MemberFile>, CliError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct List {
        member: Vec<MemberFile>,
    }
    toml::from_str(&read(path)?)
        .map(|list: List| list.member)
        .map_err(|error| {
            let why = format!("{}: {}", path.display(), chain(&error));
            not_founded(
                Exit::USAGE,
                why,
                "write one table [[member]] for each member",
            )
        })
}

/// Parses `name=small,vcpu=1,…`.
fn class(spec: &str, slot_ms: u64) -> Result<Class, String> {
    let mut class = Class {
        name: String::new(),
        key: ClassKey {
            vcpu: 1,
            memory_mib: 512,
            disk_mib: 1_024,
            gpu: 0,
            isolation: Isolation::Process,
            circle: "members".to_owned(),
        },
        reference_price: Price::default(),
    };
    let mut price: Credits = parse::credits("1")?;
    for part in spec.split(',') {
        let (name, value) = part
            .split_once('=')
            .ok_or_else(|| format!("`{part}` is no key=value"))?;
        let number = || {
            value
                .parse()
                .map_err(|_| format!("`{part}`: want a number"))
        };
        match name {
            "name" => class.name = value.to_owned(),
            "vcpu" => class.key.vcpu = number()?,
            "memory" => class.key.memory_mib = mebibytes(value)?,
            "disk" => class.key.disk_mib = mebibytes(value)?,
            "gpu" => class.key.gpu = number()?,
            "price" => price = parse::credits(value)?,
            "circle" => class.key.circle = value.to_owned(),
            "isolation" => {
                let known = Isolation::ALL.into_iter().find(|i| i.name() == value);
                class.key.isolation =
                    known.ok_or_else(|| format!("`{part}`: want process, container or machine"))?;
            }
            _ => return Err(format!("a class has no `{name}`")),
        }
    }
    class.reference_price = Price::from_hourly(price, slot_ms)
        .ok_or_else(|| format!("a price of {price} is too high"))?;
    if class.is_valid() {
        Ok(class)
    } else {
        Err(format!("`{spec}` has no name, or a value is out of range"))
    }
}

/// A size of a class, which is counted in MiB.
fn mebibytes(text: &str) -> Result<u64, String> {
    let bytes = parse::size(text)?;
    if bytes < 1 << 20 {
        return Err(format!(
            "`{text}` is less than 1 MiB: write it with its unit, as in 512MiB"
        ));
    }
    Ok(bytes >> 20)
}

fn table(founded: &Founded) -> String {
    let table = Table::of(
        &founded.members,
        &[
            ("MEMBER", &|m| m.name.clone()),
            (">POWER", &|m| m.power.to_string()),
            (">WEIGHT", &|m| m.weight.to_string()),
            (">ENDOWMENT", &|m| m.endowment.to_string()),
            ("ACCOUNT", &|m| m.account.to_hex()),
        ],
    );
    format!(
        "network {} {}\nbank {}\nrule {}, switch cost {}, surcharge {} %\nwrote {}; each member runs: gridbay join --file {}\n\n{table}",
        founded.name,
        founded.network.to_hex(),
        founded.bank,
        founded.rule.name(),
        founded.switch_cost,
        founded.surcharge,
        founded.file.display(),
        founded.file.display(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_specs() {
        let spec = "name=big,vcpu=8,memory=4GiB,disk=10GiB,gpu=1,price=3.6,isolation=machine";
        let big = class(spec, 2_000).unwrap();
        assert_eq!((big.key.vcpu, big.key.gpu), (8, 1));
        assert_eq!((big.key.memory_mib, big.key.disk_mib), (4_096, 10_240));
        assert_eq!(big.key.isolation, Isolation::Machine);
        assert_eq!(big.reference_price, Price(2_000));
        for (bad, says) in [
            ("vcpu=1", "no name"),
            ("name=a,vcpu=0", "out of range"),
            ("name=a,vcpu=x", "want a number"),
            ("name=a,memory=1KiB", "less than 1 MiB"),
            ("name=a,memory=512", "with its unit, as in 512MiB"),
            ("name=a,cores=2", "no `cores`"),
            ("name=a,isolation=none", "want process"),
            ("name", "no key=value"),
        ] {
            let error = class(bad, 2_000).unwrap_err();
            assert!(error.contains(says), "{bad}: {error}");
        }
    }
}
