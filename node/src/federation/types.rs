//! The federation as JSON.

use crate::api::types::{amount, optional_amount};
use gridbay_protocol::ids::{AccountId, NetworkId, ValidatorId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The federation as the ledger has it. `GET /federation`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Federation {
    /// Id of the network.
    pub network: NetworkId,
    /// Height at which this holds.
    pub height: u64,
    /// Time of that block.
    pub block_ms: u64,
    /// Last blocks of which signatures and times are told.
    pub blocks: u64,
    /// Mean time from one of them to the next, in milliseconds; `null` before the second block.
    pub interval_ms: Option<u64>,
    /// Open accounts, of members and of those that they answer for.
    pub accounts: u64,
    /// Founding members, in the order of their accounts.
    pub members: Vec<FederationMember>,
    /// Validators, in the order of their ids.
    pub validators: Vec<FederationValidator>,
    /// Voting power of all validators.
    pub power: u64,
    /// The power that decides a block.
    pub quorum: u64,
    /// The rules.
    pub rules: FederationRules,
}

/// A founding member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FederationMember {
    /// Its account.
    pub account: AccountId,
    /// Its name.
    pub name: String,
    /// Whether it is this node's.
    pub own: bool,
    /// How far its balance may fall below zero.
    #[serde(with = "amount")]
    pub credit_line: Credits,
    /// Open accounts of others that it answers for.
    pub guests: u64,
    /// Voting power of its validators.
    pub power: u64,
}

/// A validator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FederationValidator {
    /// Its id.
    pub validator: ValidatorId,
    /// Name of its member.
    pub name: Option<String>,
    /// Transport key of its node.
    pub node: PublicKey,
    /// Whether it is this node.
    pub own: bool,
    /// Voting power.
    pub power: u64,
    /// The last of those blocks that it signed, by its height; `null` if none.
    pub signed: Option<u64>,
    /// How many of them it signed.
    pub signatures: u64,
}

/// The rules that its genesis sets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FederationRules {
    /// Least time between blocks while work is due.
    pub block_interval_ms: u64,
    /// Time between blocks while nothing is due.
    pub heartbeat_ms: u64,
    /// Time to wait for a proposal.
    pub propose_timeout_ms: u64,
    /// Blocks of a round.
    pub round_heights: u32,
    /// Rounds of a slot.
    pub slot_rounds: u32,
    /// Nominal length of a slot.
    pub slot_ms: u64,
    /// Name of the rule by which auctions find winners and payments.
    pub auction_rule: String,
    /// The gain per node-hour that is needed to move a running job.
    #[serde(with = "amount")]
    pub switch_cost: Credits,
    /// Surcharge of an evicted buy in millionths of its remainder; 0 if none is evicted.
    pub surcharge_ppm: u32,
    /// Slots that a buy may prepay at the most.
    pub max_firm_slots: u32,
    /// Slots ahead that are for sale by reservation.
    pub reservation_slots: u32,
    /// Slots of these in which a reservation may start.
    pub reservation_starts: u32,
    /// Heights within which every seller acknowledges a lease.
    pub delivery_heights: u64,
    /// Slots in which a buyer may complain.
    pub dispute_slots: u32,
    /// The highest credit line; `null` for any.
    #[serde(with = "optional_amount")]
    pub credit_limit: Option<Credits>,
    /// Steps of invitation from a member to the last account.
    pub invitation_depth: u8,
    /// Accounts of each depth that may be open under one member.
    pub accounts_per_member: u32,
    /// Of these, that may be opened in one epoch.
    pub invitations_per_epoch: u32,
    /// Open accounts that an invited one has invited, at the most.
    pub invitations_per_user: u32,
    /// Heights of an epoch.
    pub epoch_heights: u64,
    /// Entries of a member in an epoch.
    pub member_entries: u32,
    /// Entries of any other account in an epoch.
    pub user_entries: u32,
}
