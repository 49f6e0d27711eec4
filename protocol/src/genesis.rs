//! Genesis: the constitution of a network. Its hash is the network's id.

use crate::account::{AccountKey, keys_are_valid};
use crate::bank::{BankPolicy, Standing};
use crate::calendar::Calendar;
use crate::class::{Class, name_is_valid};
use crate::codec::{self, CodecError};
use crate::entry_budget::EntryBudgets;
use crate::hash::{Domain, hash};
use crate::ids::{AccountId, Hash32, NetworkId};
use crate::keys::PublicKey;
use crate::limits;
use crate::mechanism::reservation::window::WindowPolicy;
use crate::policy::ausubel::AuctionPolicy;
use crate::policy::buy::BuyPolicy;
use crate::seats::InvitationPolicy;
use crate::units::Credits;
use crate::validator::{Validator, ValidatorSet, validator_id};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Version of the formats in this crate.
pub const FORMAT: u16 = 1;
/// Version of the market's rules.
pub const RULES: u32 = 1;

/// Pacing and market policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Lengths of rounds and slots in heights.
    pub calendar: Calendar,
    /// Least milliseconds between blocks while work is due, 10 to 60,000.
    pub block_interval_ms: u64,
    /// Milliseconds between blocks while nothing is due, at least the interval.
    pub heartbeat_ms: u64,
    /// Milliseconds to wait for a proposal, 50 to 60,000.
    pub propose_timeout_ms: u64,
    /// Full slots a buy may prepay at the most.
    pub max_firm_slots: u32,
    /// Heights after its start within which every seller acknowledges a lease.
    pub delivery_heights: u64,
    /// Slots for which what a slot earned is held while its buyer may complain, 0 to 8. With 0,
    /// acknowledgements alone pay: no heartbeat is asked for and no complaint heard.
    pub dispute_slots: u32,
    /// Accounts of each depth of invitation that may be open under one member.
    pub accounts_per_member: u32,
    /// The recipients of revenue, and the tax on savings.
    pub bank: BankPolicy,
    /// How far ahead units are reserved.
    pub reservation: WindowPolicy,
    /// How classes are cleared.
    pub auction: AuctionPolicy,
    /// Whether buys may evict buys.
    pub buy: BuyPolicy,
    /// How much one account may put into the ledger.
    pub entries: EntryBudgets,
    /// How far invitations go.
    pub invitations: InvitationPolicy,
}

impl Policy {
    /// Blocks every 250 ms, rounds of 1 s, slots of 2 s: for one machine or one room.
    pub fn local() -> Policy {
        Policy {
            calendar: Calendar {
                round_heights: 4,
                slot_rounds: 2,
            },
            block_interval_ms: 250,
            heartbeat_ms: 10_000,
            propose_timeout_ms: 400,
            max_firm_slots: 43_200,
            delivery_heights: 40,
            dispute_slots: 1,
            accounts_per_member: 1_000,
            bank: BankPolicy::default(),
            reservation: WindowPolicy::MIRAGE,
            auction: AuctionPolicy::default(),
            buy: BuyPolicy::default(),
            entries: EntryBudgets::default(),
            invitations: InvitationPolicy::default(),
        }
    }
    /// Blocks every second, rounds of 5 s, slots of 60 s: for a federation over a wide area.
    pub fn wide_area() -> Policy {
        Policy {
            calendar: Calendar {
                round_heights: 5,
                slot_rounds: 12,
            },
            block_interval_ms: 1_000,
            heartbeat_ms: 10_000,
            propose_timeout_ms: 2_000,
            max_firm_slots: 1_440,
            delivery_heights: 60,
            dispute_slots: 1,
            accounts_per_member: 1_000,
            bank: BankPolicy::default(),
            reservation: WindowPolicy::MIRAGE,
            auction: AuctionPolicy::default(),
            buy: BuyPolicy::default(),
            entries: EntryBudgets::default(),
            invitations: InvitationPolicy::default(),
        }
    }
    /// The same with blocks `interval_ms` apart: rounds, slots and the time to deliver take as long
    /// as before. `None` unless a round is a whole number of such blocks and all is in range. The
    /// bank's choice depends on it too and is the caller's ([`crate::bank::Preset::policy`]).
    pub fn with_block_interval(mut self, interval_ms: u64) -> Option<Policy> {
        let heights = |old: u64| {
            old.checked_mul(self.block_interval_ms)?
                .checked_div(interval_ms)
        };
        let round = heights(self.calendar.round_heights.into())?;
        let round_ms = self.block_interval_ms * u64::from(self.calendar.round_heights);
        let delivery = heights(self.delivery_heights)?;
        self.calendar.round_heights = u32::try_from(round).ok()?;
        self.delivery_heights = delivery;
        self.block_interval_ms = interval_ms;
        (round * interval_ms == round_ms && self.is_valid()).then_some(self)
    }
    /// Nominal length of a slot in milliseconds, by which hourly prices are converted.
    pub fn slot_ms(&self) -> u64 {
        self.calendar
            .slot_heights()
            .saturating_mul(self.block_interval_ms)
    }
    /// Whether earnings are held for no more slots than may be, and slots leave time for what they
    /// ask of sellers then: a sign of life in each, which validators owe a place in the book
    /// [`limits::INCLUSION_HEIGHTS`] after their tip at the slot's first block.
    fn disputes_in_time(&self) -> bool {
        let least = limits::INCLUSION_HEIGHTS + 2;
        let in_time = self.dispute_slots == 0 || self.calendar.slot_heights() >= least;
        self.dispute_slots <= limits::DISPUTE_SLOTS && in_time
    }
    /// Whether all values are in range.
    pub fn is_valid(&self) -> bool {
        self.calendar.is_valid()
            && (10..=60_000).contains(&self.block_interval_ms)
            && (self.block_interval_ms..=3_600_000).contains(&self.heartbeat_ms)
            && (50..=60_000).contains(&self.propose_timeout_ms)
            && (1..=limits::ORDER_SLOTS).contains(&self.max_firm_slots)
            && (1..=limits::ORDER_WINDOW).contains(&self.delivery_heights)
            && self.disputes_in_time()
            && self.bank.is_valid()
            && self.reservation.is_valid()
            && self.auction.is_valid()
            && self.buy.is_valid()
            && self.entries.is_valid()
            && self.invitations.is_valid()
    }
}

/// A founding member: an institution with an account, and possibly a validator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Name for people; unique.
    pub name: String,
    /// Keys of its account.
    pub keys: Vec<AccountKey>,
    /// Money minted to it at the start.
    pub endowment: Credits,
    /// How far its balance may fall below zero (mutual credit between institutions), within what
    /// the bank allows.
    pub credit_line: Credits,
    /// The factor of the bank's baseline and shares for it, 1 to [`crate::bank::WEIGHT`]; 1 if
    /// there is neither.
    pub weight: u32,
    /// Its validator, if it runs one.
    pub validator: Option<MemberValidator>,
    /// Addresses of its node (multiaddr text), for joining.
    pub addresses: Vec<String>,
}

/// The validator of a founding member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberValidator {
    /// Consensus key.
    pub key: PublicKey,
    /// Transport key of its node.
    pub node: PublicKey,
    /// Voting power, at least 1.
    pub power: u64,
    /// Tip of its beacon chain.
    pub beacon_tip: Hash32,
}

/// The constitution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Genesis {
    /// [`FORMAT`].
    pub format: u16,
    /// [`RULES`].
    pub rules: u32,
    /// Name of the network.
    pub name: String,
    /// When it was founded, milliseconds since 1970, at most [`limits::GENESIS_MS`]; the first
    /// block is later.
    pub time_ms: u64,
    /// Policy.
    pub policy: Policy,
    /// Classes traded, ascending by id; names unique.
    pub classes: Vec<Class>,
    /// Founding members, ascending by name.
    pub members: Vec<Member>,
    /// First beacon.
    pub beacon: Hash32,
}

/// Why a genesis is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenesisError {
    /// Not the canonical bytes of a genesis.
    #[error("not a genesis file")]
    Bytes(#[from] CodecError),
    /// Written for other formats or rules.
    #[error("format {format} and rules {rules}, this program has {FORMAT} and {RULES}")]
    Version {
        /// Format found.
        format: u16,
        /// Rules found.
        rules: u32,
    },
    /// A credit line beyond what the bank allows.
    #[error("member {member} has a credit line of {line}, the bank allows {limit}")]
    CreditLine {
        /// The member.
        member: String,
        /// Its line.
        line: Credits,
        /// The bank's limit.
        limit: Credits,
    },
    /// A weight out of range, or one that would multiply nothing.
    #[error("member {member} has a weight of {weight}, this bank knows 1 to {most}")]
    Weight {
        /// The member.
        member: String,
        /// Its weight.
        weight: u32,
        /// The highest weight under this bank.
        most: u32,
    },
    /// A value out of range; names the part.
    #[error("{0} is out of range, repeated or out of order")]
    Invalid(String),
}

impl Genesis {
    /// Parses and checks canonical bytes.
    pub fn decode(bytes: &[u8]) -> Result<Genesis, GenesisError> {
        let genesis: Genesis = codec::decode(bytes, limits::GENESIS_BYTES)?;
        genesis.check()?;
        Ok(genesis)
    }
    /// Canonical bytes.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }
    /// Id of the network.
    pub fn network(&self) -> NetworkId {
        NetworkId(hash(Domain::Genesis, &[&self.encode()]))
    }
    /// Checks versions, ranges, order and uniqueness.
    pub fn check(&self) -> Result<(), GenesisError> {
        if (self.format, self.rules) != (FORMAT, RULES) {
            return Err(GenesisError::Version {
                format: self.format,
                rules: self.rules,
            });
        }
        let invalid = |part: String| Err(GenesisError::Invalid(part));
        if !name_is_valid(&self.name) {
            return invalid("network name".into());
        }
        if self.time_ms > limits::GENESIS_MS {
            return invalid("founding time".into());
        }
        if !self.policy.is_valid() {
            return invalid("policy".into());
        }
        let ids: Vec<_> = self.classes.iter().map(|c| c.key.id()).collect();
        if !(1..=limits::CLASSES).contains(&ids.len()) || !ids.windows(2).all(|w| w[0] < w[1]) {
            return invalid("list of classes".into());
        }
        if let Some(i) = self.classes.iter().position(|c| !c.is_valid()) {
            return invalid(format!("class number {}", i + 1));
        }
        let names: BTreeSet<_> = self.classes.iter().map(|c| &c.name).collect();
        if names.len() != self.classes.len() {
            return invalid("list of class names".into());
        }
        if let Some(i) = self.members.iter().position(|m| !m.is_valid()) {
            return invalid(format!("member number {}", i + 1));
        }
        let ordered = self.members.windows(2).all(|w| w[0].name < w[1].name);
        if !ordered || self.members.len() > limits::MEMBERS {
            return invalid("list of members".into());
        }
        self.check_bank()?;
        // Nobody can ever hold more than all endowments and all credit together.
        let money = self
            .members
            .iter()
            .flat_map(|m| [m.endowment, m.credit_line]);
        if Credits::sum(money).is_none() {
            return invalid("sum of endowments and credit lines".into());
        }
        if self.validators().is_none() {
            return invalid("list of validators".into());
        }
        Ok(())
    }
    /// The members against the bank's policy.
    fn check_bank(&self) -> Result<(), GenesisError> {
        let bank = &self.policy.bank;
        let most = if bank.weighs() {
            crate::bank::WEIGHT
        } else {
            1
        };
        for member in &self.members {
            if !(1..=most).contains(&member.weight) {
                return Err(GenesisError::Weight {
                    member: member.name.clone(),
                    weight: member.weight,
                    most,
                });
            }
            if member.credit_line > bank.credit_limit {
                return Err(GenesisError::CreditLine {
                    member: member.name.clone(),
                    line: member.credit_line,
                    limit: bank.credit_limit,
                });
            }
        }
        Ok(())
    }
    /// A founding member's endowment by the bank's policy; nothing for a weight out of range, which
    /// the check refuses.
    pub fn standing(&self, member: &Member) -> Standing {
        let standing = self.policy.bank.standing(member.weight);
        standing.unwrap_or_default()
    }
    /// Account of a founding member.
    pub fn account(&self, member: &Member) -> AccountId {
        AccountId(hash(
            Domain::Account,
            &[&codec::encode(member), &self.time_ms.to_be_bytes()],
        ))
    }
    /// The validators of the first heights; `None` unless there is a legal set.
    pub fn validators(&self) -> Option<ValidatorSet> {
        let validator = |m: &Member| {
            m.validator.as_ref().map(|v| Validator {
                id: validator_id(&v.key),
                key: v.key,
                node: v.node,
                account: self.account(m),
                power: v.power,
            })
        };
        ValidatorSet::new(self.members.iter().filter_map(validator).collect())
    }
}

impl Member {
    fn is_valid(&self) -> bool {
        name_is_valid(&self.name)
            && keys_are_valid(&self.keys)
            && self.addresses.len() <= limits::ADDRESSES
            && self
                .addresses
                .iter()
                .all(|a| a.len() <= limits::ADDRESS_CHARS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_take_as_long_whatever_lies_between_blocks() {
        for policy in [Policy::local(), Policy::wide_area()] {
            let same = policy.clone().with_block_interval(policy.block_interval_ms);
            assert_eq!(same.as_ref(), Some(&policy));
            let faster = policy.clone().with_block_interval(100).unwrap();
            assert_eq!(faster.block_interval_ms, 100);
            assert_eq!(faster.slot_ms(), policy.slot_ms());
            let ms = |p: &Policy| p.delivery_heights * p.block_interval_ms;
            assert_eq!(ms(&faster), ms(&policy));
        }
        for wrong in [0, 5, 9, 300, 600, 1_000] {
            let policy = Policy::local().with_block_interval(wrong);
            assert_eq!(policy, None, "{wrong} ms");
        }
    }
}
