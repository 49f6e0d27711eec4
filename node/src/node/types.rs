//! The node: one screen about it.

use crate::api::types::{Signed, amount};
pub use crate::trouble::Trouble;
use gridbay_protocol::ids::{AccountId, NetworkId, ValidatorId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

named! {
    /// The activity of a node.
    pub enum NodeState {
        /// Looking for peers, opening its account, or behind the network's head.
        Joining = "joining",
        /// At the head: orders and offers are taken.
        Ready = "ready",
        /// Its account was closed since it started: it follows the ledger and neither buys nor
        /// sells.
        Closed = "closed",
        /// Takes no new leases, and holds its offers back until it is started again or resumes.
        Draining = "draining",
        /// Its disk fails: it answers what it can, acknowledges nothing, and goes on once that is
        /// cured.
        Halted = "halted",
    }
}

/// One screen about a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NodeStatus {
    /// State.
    pub state: NodeState,
    /// Name for people.
    pub name: String,
    /// Program version.
    pub version: String,
    /// Process id.
    pub pid: u32,
    /// When it started.
    pub started_ms: u64,
    /// Network.
    pub network: NetworkId,
    /// The network's name; `None` until the genesis is known.
    pub network_name: Option<String>,
    /// Transport key.
    pub node: PublicKey,
    /// Account; `None` until it is open.
    pub account: Option<AccountId>,
    /// Why the ledger does not open one with this node's invitation, and what to do; `None` if
    /// nothing is against it.
    #[serde(default)]
    pub joining: Option<String>,
    /// Validator, if it is one.
    pub validator: Option<ValidatorId>,
    /// Addresses it listens on.
    pub listen: Vec<String>,
    /// Peers connected.
    pub peers: u32,
    /// Last height decided here.
    pub height: u64,
    /// Ledger time of that block.
    pub block_ms: u64,
    /// Market round of the next height.
    pub round: u64,
    /// Slot of the next height.
    pub slot: u64,
    /// Free balance.
    pub balance: Signed,
    /// Locked for orders.
    #[serde(with = "amount")]
    pub held: Credits,
    /// Units offered.
    pub units_offered: u32,
    /// Units of those that are leased.
    pub units_leased: u32,
    /// Jobs of others that run here now.
    pub jobs_hosted: u32,
    /// Own jobs that have not ended.
    pub jobs_open: u32,
    /// The present troubles; empty if there are none.
    #[serde(default)]
    pub troubles: Vec<Trouble>,
    /// Set while the network makes no blocks.
    #[serde(default)]
    pub stall: Option<Stall>,
}

/// That no block comes: a while longer than the network's pace allows, though this node knows of no
/// newer one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stall {
    /// Milliseconds since the last block.
    pub ms: u64,
    /// Voting power of the validators that answer this node, its own included.
    pub answering: u64,
    /// The power that decides a block.
    pub quorum: u64,
    /// The power of all.
    pub power: u64,
    /// The validators that do not answer.
    pub silent: Vec<SilentValidator>,
}

/// A validator that does not answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SilentValidator {
    /// Name of its member.
    pub name: Option<String>,
    /// Transport key of its node.
    pub node: PublicKey,
}
