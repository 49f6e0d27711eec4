//! Nodes of the owner's: requests and records.

use crate::api::types::{Balance, Movement, NodeStatus, amount, optional_amount};
use gridbay_protocol::ids::{AccountId, ContentId, EntryId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `GET /appliances`, `POST /appliances/add`: a node that this node's user owns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Appliance {
    /// Name for people.
    pub name: String,
    /// Transport key of the node.
    pub node: PublicKey,
}

/// `POST /appliances/remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Removed {
    /// Its name.
    pub name: String,
}

/// `POST /appliances/order`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Instruction {
    /// The node's name, or its transport key.
    pub who: String,
    /// The order.
    pub order: Order,
}

/// An order of an owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Tell how you are.
    Status,
    /// Tell what the account has, and its last movements.
    Earnings {
        /// How many.
        limit: u32,
    },
    /// Go by this from now on.
    Set(Setting),
    /// Take no new leases.
    Drain,
    /// Take leases again.
    Resume,
    /// Take this update from the node that orders it, for the agent to write.
    Update {
        /// Its hash.
        content: ContentId,
        /// Its bytes.
        bytes: u64,
    },
    /// Tell the last lines of the log.
    Log {
        /// How many.
        lines: u32,
    },
    /// Move money to the owner's account.
    Collect {
        /// How much; `None` for all that is free.
        #[serde(default, with = "optional_amount")]
        amount: Option<Credits>,
    },
    /// Erase the keys and all else.
    Reset {
        /// The account that is lost by that.
        account: AccountId,
        /// Whether what it has may be lost as well.
        lose: bool,
    },
}

impl Order {
    /// The change that it asks for, in a word; `None` if it only asks.
    pub(crate) fn changes(&self) -> Option<&'static str> {
        match self {
            Order::Status | Order::Earnings { .. } | Order::Log { .. } => None,
            Order::Set(_) => Some("set"),
            Order::Drain => Some("drain"),
            Order::Resume => Some("resume"),
            Order::Update { .. } => Some("update"),
            Order::Collect { .. } => Some("collect"),
            Order::Reset { .. } => Some("reset"),
        }
    }
}

named! {
    /// What an owner may set.
    pub enum SettingKey {
        /// Least price per node-hour.
        Price = "price",
        /// Buy-it-now price per node-hour.
        Buy = "buy",
        /// Units sold at the most.
        Units = "units",
        /// Processors that are not sold.
        ReserveVcpu = "reserve-vcpu",
        /// Memory that is not sold.
        ReserveMemory = "reserve-memory",
        /// Disk that is not sold.
        ReserveDisk = "reserve-disk",
        /// Hours of the day in which it sells, in UTC.
        Hours = "hours",
        /// Whether it sells.
        Sell = "sell",
    }
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Which.
    pub key: SettingKey,
    /// Its value; `None` to go by the configuration disk again.
    pub value: Option<String>,
}

/// What an owner told a node from afar: the contents of `owner.json`. Keys of a later version are
/// passed over, so that a node that goes back to this one starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Desired {
    /// Key of the owner who told it, in hex: what another one told does not count.
    pub owner: String,
    /// Counts the changes.
    pub count: u64,
    /// Whether it takes no new leases, also after a restart.
    pub drain: bool,
    /// See [`SettingKey::Price`].
    pub price: Option<String>,
    /// See [`SettingKey::Buy`].
    pub buy: Option<String>,
    /// See [`SettingKey::Units`].
    pub units: Option<u32>,
    /// See [`SettingKey::ReserveVcpu`].
    pub reserve_vcpu: Option<u32>,
    /// See [`SettingKey::ReserveMemory`], in MiB.
    pub reserve_memory_mib: Option<u64>,
    /// See [`SettingKey::ReserveDisk`], in MiB.
    pub reserve_disk_mib: Option<u64>,
    /// See [`SettingKey::Hours`], as in `22:00-06:00`.
    pub hours: Option<String>,
    /// See [`SettingKey::Sell`].
    pub sell: Option<bool>,
    /// Transport key, in hex, of the node that is to be erased: another one is not.
    pub reset: Option<String>,
}

/// The answer to an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// To status, drain, resume, update and reset.
    Status(Box<RemoteStatus>),
    /// To earnings.
    Earnings(Box<Earnings>),
    /// To a setting.
    Set(Box<Desired>),
    /// To log.
    Log(Vec<String>),
    /// To collect.
    Collected(Box<Collected>),
}

/// Money that an owner got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Collected {
    /// How much.
    #[serde(with = "amount")]
    pub amount: Credits,
    /// The owner's account.
    pub to: AccountId,
    /// The entry.
    pub entry: EntryId,
    /// Height of its block.
    pub height: u64,
}

/// How a node is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RemoteStatus {
    /// Its status.
    pub node: NodeStatus,
    /// What the agent beside it tells; `None` where no agent runs.
    pub agent: Option<AgentStatus>,
    /// What its owner told it from afar.
    pub orders: Desired,
    /// The update that its owner handed over last since it started.
    #[serde(default)]
    pub update: Option<Handover>,
}

named! {
    /// How far an update has come.
    pub enum HandoverState {
        /// It is on its way.
        Coming = "coming",
        /// It is whole, and the agent's to take.
        Handed = "handed",
        /// The agent has taken or refused it.
        Over = "over",
        /// It did not come.
        Failed = "failed",
    }
}

/// An update on its way from an owner's node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Handover {
    /// Its hash.
    pub content: ContentId,
    /// Its bytes.
    pub bytes: u64,
    /// Bytes that are there.
    pub held: u64,
    /// How far it has come.
    pub state: HandoverState,
    /// Why it did not come.
    pub why: String,
}

/// What an appliance's agent tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct AgentStatus {
    /// Its state in a word.
    pub state: String,
    /// Why.
    pub reason: String,
    /// What the owner can do.
    pub hint: String,
    /// What else is to be known.
    pub notes: Vec<AgentNote>,
    /// The image's version.
    pub version: String,
    /// The update that starts next or is on trial; empty without one.
    pub trial: String,
    /// The change of [`Desired`] that it goes by.
    pub orders: u64,
    /// Its last lines with their times, oldest first; empty in a status from afar.
    pub log: Vec<String>,
}

/// A note of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct AgentNote {
    /// What it is.
    pub reason: String,
    /// What to do.
    pub hint: String,
}

/// What a node's account has, and its last movements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Earnings {
    /// Its balance.
    pub balance: Balance,
    /// Its last movements, newest first.
    pub movements: Vec<Movement>,
}
