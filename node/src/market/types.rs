//! The market: prices by class, and sellers by a query.

use crate::api::types::{amount, optional_amount};
use gridbay_protocol::ids::{AccountId, ClassId, OfferId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// `GET /prices`: one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClassPrice {
    /// Name.
    pub class: String,
    /// Its id.
    pub id: ClassId,
    /// Virtual processors of a unit.
    pub vcpu: u32,
    /// Memory of a unit in MiB.
    pub memory_mib: u64,
    /// Disk of a unit in MiB.
    pub disk_mib: u64,
    /// Graphics processors of a unit.
    pub gpu: u32,
    /// Units offered.
    pub units_offered: u32,
    /// Units leased.
    pub units_leased: u32,
    /// Lowest reserve per node-hour.
    #[serde(with = "optional_amount")]
    pub reserve: Option<Credits>,
    /// Lowest buy-it-now price per node-hour.
    #[serde(with = "optional_amount")]
    pub buy: Option<Credits>,
    /// Mean price per node-hour of the last clearing that sold something.
    #[serde(with = "optional_amount")]
    pub last: Option<Credits>,
    /// Height of that clearing.
    pub last_height: Option<u64>,
    /// Orders that stand and hold nothing.
    pub waiting: u32,
}

/// `POST /find`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FindRequest {
    /// The query (`docs/discovery.md`).
    #[schema(max_length = 4096)]
    pub query: String,
    /// Nodes to show at the most, and to look for in the DHT if fewer are known; `None` shows up to
    /// 1,000 and is content with one.
    #[serde(default)]
    pub limit: Option<u32>,
    /// Whether to tell what each condition did, also if enough was found.
    #[serde(default)]
    pub explain: bool,
}

/// An offer that fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FoundOffer {
    /// Its id.
    pub offer: OfferId,
    /// Name of its class.
    pub class: String,
    /// Units free, as the seller says.
    pub free: u32,
    /// Least price per node-hour.
    #[serde(with = "amount")]
    pub price: Credits,
    /// Buy-it-now price per node-hour.
    #[serde(with = "optional_amount")]
    pub buy: Option<Credits>,
    /// Mechanism its units are sold under first.
    pub mechanism: String,
    /// Whether the seller never takes units back.
    pub firm: bool,
}

/// A node that fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FoundNode {
    /// Transport key.
    pub node: PublicKey,
    /// Its seller.
    pub seller: AccountId,
    /// Its statements about itself.
    pub attributes: BTreeMap<String, String>,
    /// Round trip from here in microseconds.
    pub rtt_us: Option<u64>,
    /// Whether that was measured from here, and not taken from what nodes say about landmarks.
    pub rtt_measured: bool,
    /// Its offers that fit, in the query's order.
    pub offers: Vec<FoundOffer>,
}

/// The effect of a condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FindStep {
    /// The condition.
    pub condition: String,
    /// Nodes left after it and all before it.
    pub left: u32,
    /// Nodes that fulfil everything else: what it alone removed.
    pub alone: u32,
    /// Nodes left before it that do not say what it asks.
    pub unknown: u32,
    /// The nearest value among those that it alone removed.
    pub nearest: Option<String>,
}

/// How a group was looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FindGroup {
    /// The demand.
    pub wanted: String,
    /// Whether it was found.
    pub found: bool,
    /// Nodes that fit each on its own and name no site, where sites are wanted.
    pub siteless: u32,
    /// Nodes looked at.
    pub candidates: u32,
    /// Different sites among them.
    pub sites: u32,
    /// Pairs of them, where round trips are wanted.
    pub pairs: u32,
    /// Pairs near enough.
    pub near_pairs: u32,
    /// Pairs of which nothing is known.
    pub unknown_pairs: u32,
    /// Whether it was given up before everything was tried.
    pub gave_up: bool,
    /// Longest round trip within the group found, in microseconds.
    pub longest_us: Option<u64>,
}

/// The answer to a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FindReport {
    /// The query as it was understood.
    pub query: String,
    /// Nodes that were looked at.
    pub known: u32,
    /// Of these, that fit each on its own.
    pub fitting: u32,
    /// The nodes, in order.
    pub nodes: Vec<FoundNode>,
    /// Nodes asked for their adverts because too few were known.
    pub asked: u32,
    /// Adverts learnt by that.
    pub learnt: u32,
    /// The effects of the conditions; empty if nobody asked and enough was found.
    pub steps: Vec<FindStep>,
    /// How the group was looked for, if the query wants one.
    pub group: Option<FindGroup>,
}
