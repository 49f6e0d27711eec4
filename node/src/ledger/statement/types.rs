//! The shape of a statement.

use crate::api::types::{JobId, Movement, Signed, amount};
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::payment::Reason;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An account's money at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Money {
    /// Free balance.
    pub balance: Signed,
    /// Locked in the escrows of its orders.
    pub held: Signed,
    /// Earned, and held while buyers may complain.
    pub retained: Signed,
    /// All three together.
    pub total: Signed,
}

/// `GET /ledger/statement`: an account's money from one moment to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Statement {
    /// Name of the network.
    pub network: String,
    /// Account.
    pub account: AccountId,
    /// Its name, if it is a member.
    pub name: Option<String>,
    /// The project whose orders alone it tells of, from nothing on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Ledger time from which movements count; 0 for the ledger's beginning.
    pub from_ms: u64,
    /// Ledger time before which they count.
    pub to_ms: u64,
    /// Height of the last block in it.
    pub height: u64,
    /// Before the first movement.
    pub opening: Money,
    /// After the last one.
    pub closing: Money,
    /// Its own orders, in the order in which they first cost something.
    pub bought: Vec<Bought>,
    /// The income from its units, class by class, and from single orders where the ledger names
    /// them.
    pub sold: Vec<Sold>,
    /// All else, by reason.
    pub other: Vec<Other>,
    /// Days (UTC) on which anything of this happened.
    pub days: Vec<Day>,
    /// Movements of the free balance, in their order.
    pub movements: Vec<Moved>,
}

/// An own order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Bought {
    /// Order.
    pub order: OrderId,
    /// Its job on this node, if it is still known here.
    pub job: Option<JobId>,
    /// Name of that job.
    pub name: Option<String>,
    /// Paid.
    #[serde(with = "amount")]
    pub paid: Credits,
    /// Given back.
    #[serde(with = "amount")]
    pub returned: Credits,
    /// Paid less given back.
    pub cost: Signed,
}

/// Income from units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Sold {
    /// `class <name>`, or `order <hex>`.
    pub of: String,
    /// Earned.
    #[serde(with = "amount")]
    pub earned: Credits,
    /// Given back to buyers.
    #[serde(with = "amount")]
    pub returned: Credits,
    /// Earned less given back.
    pub income: Signed,
}

/// Movements for another reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Other {
    /// Why.
    pub reason: Reason,
    /// Received.
    #[serde(with = "amount")]
    pub received: Credits,
    /// Spent.
    #[serde(with = "amount")]
    pub spent: Credits,
}

/// A day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Day {
    /// As in `2026-01-31`, UTC.
    pub day: String,
    /// The cost of its own orders.
    pub cost: Signed,
    /// Income from its units.
    pub income: Signed,
    /// All else, received less spent.
    pub other: Signed,
    /// By how much its money became more.
    pub change: Signed,
}

/// A movement, and the free balance after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Moved {
    /// The movement.
    #[serde(flatten)]
    pub movement: Movement,
    /// Free balance after it.
    pub balance: Signed,
}
