//! Leases as JSON.

use crate::api::types::{JobId, amount, optional_amount};
use gridbay_core::buyer::Setup;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

named! {
    /// This node's part in a lease.
    pub enum LeasePart {
        /// Its order won it.
        Buyer = "buyer",
        /// It serves units of it.
        Seller = "seller",
        /// Both.
        Both = "both",
    }
}

/// A lease. `GET /leases`, `GET /leases/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeaseView {
    /// Its id.
    pub lease: LeaseId,
    /// This node's part in it.
    pub part: LeasePart,
    /// The job that it is for, if it is this node's.
    pub job: Option<JobId>,
    /// That job's name.
    pub name: Option<String>,
    /// Name of the class.
    pub class: String,
    /// Units in all.
    pub units: u32,
    /// The slot that it is paid for.
    pub slot: u64,
    /// Paid for this slot, less refunds.
    #[serde(with = "amount")]
    pub paid: Credits,
    /// The nodes that serve it.
    pub nodes: Vec<LeaseNode>,
    /// Whether this node knows a network of it: its own job asked for one, or it serves in one.
    pub network: bool,
    /// How long that network took, once all its members have reached one another. The buyer's node
    /// knows it.
    pub setup: Option<NetSetup>,
}

/// A node that serves units of a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeaseNode {
    /// Its transport key.
    pub node: PublicKey,
    /// Name of its owner, if a member.
    pub name: Option<String>,
    /// Units.
    pub units: u32,
}

/// From the block that decided a lease to its complete network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NetSetup {
    /// Nodes in it.
    pub members: u32,
    /// Milliseconds until all pairs had reached each other.
    pub ms: u64,
}

impl From<&Setup> for NetSetup {
    fn from(setup: &Setup) -> NetSetup {
        NetSetup {
            members: setup.members,
            ms: setup.ms,
        }
    }
}

/// The private network of a lease as this node knows it. `GET /leases/{id}/net`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LeaseNet {
    /// The lease.
    pub lease: LeaseId,
    /// Members whose word is in here: all of them at the buyer's node, itself at a seller's.
    pub members: Vec<NetMember>,
    /// How long it took to stand.
    pub setup: Option<NetSetup>,
    /// The relays that are asked to carry for members, which the buyer's node knows.
    pub relays: Vec<NetRelay>,
    /// What this node has refused, by reason; empty if it is no member.
    pub refused: BTreeMap<String, u64>,
}

/// A relay of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NetRelay {
    /// Its node.
    pub node: PublicKey,
    /// Whether it carries, by its own word.
    pub carries: bool,
    /// The order that leases it; none if it carries for nothing.
    pub job: Option<JobId>,
    /// Paid for it for the slot that runs; none likewise.
    #[serde(with = "optional_amount")]
    pub paid: Option<Credits>,
    /// Pairs of members that it is to carry for.
    pub pairs: u32,
    /// Bytes that it has carried for them, by its own word.
    pub bytes: u64,
}

/// A member, and how it reaches the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NetMember {
    /// Its transport key.
    pub node: PublicKey,
    /// Its ranks; 1021 is the buyer's own.
    pub ranks: Vec<u32>,
    /// The others.
    pub pairs: Vec<NetPair>,
}

/// One other member, as the one above sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NetPair {
    /// Its lowest rank.
    pub rank: u32,
    /// `lan`, `direct`, `punched`, `relay`, `stream`; `null` while there is no way.
    pub path: Option<String>,
    /// The relay by which that way leads, as the buyer's node knows it.
    pub relay: Option<PublicKey>,
    /// Round trip in milliseconds.
    pub round_trip_ms: Option<f64>,
    /// Mbit/s sent lately, inside the tunnel.
    pub sent_mbit: Option<f64>,
    /// Bytes sent.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
    /// Share of probes that were lost, in percent.
    pub loss_percent: Option<f64>,
    /// Bytes of a packet that the path takes.
    pub mtu: Option<u16>,
    /// Seconds since the last handshake.
    pub handshake_seconds: Option<u64>,
}
