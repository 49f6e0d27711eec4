//! Clusters that are held: requests and records.

use crate::api::types::{JobId, JobState, Relays, Want, amount, optional_amount};
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use utoipa::ToSchema;

named! {
    /// What a cluster's nodes must have for programs that come later.
    pub enum Runtime {
        /// OpenMPI.
        Mpi = "mpi",
        /// Dask with its scheduler.
        Dask = "dask",
    }
}

/// `POST /clusters`: an order for nodes to hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterRequest {
    /// Name for people.
    pub name: Option<String>,
    /// The units wanted.
    pub want: Want,
    /// Relays of its network.
    #[serde(default)]
    pub relays: Relays,
    /// Whether its programs may reach the web, by sellers that let their jobs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub internet: bool,
    /// Runtimes that every node must have.
    #[serde(default)]
    pub runtimes: BTreeSet<Runtime>,
}

/// `POST /clusters/{id}/admit` and `/dismiss`: a key of another user's node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Guest {
    /// Key of its account.
    pub key: PublicKey,
    /// Name for people.
    #[serde(default)]
    pub name: Option<String>,
}

/// `POST /clusters/{lease}/enter`: this node into the network of another user's cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Enter {
    /// Transport key of the owner's node.
    pub owner: PublicKey,
}

/// This node as a guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct VisitRecord {
    /// The cluster's lease, by which its commands name it here.
    pub lease: LeaseId,
    /// Transport key of the owner's node.
    pub owner: PublicKey,
    /// Its rank in the network.
    pub rank: u32,
}

/// `GET /clusters/{id}/ranks`, also of another user's cluster by its lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ranks {
    /// The lease that the cluster has now.
    pub lease: LeaseId,
    /// Ranks are 0 to one less than this.
    pub size: u32,
}

/// One rank of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HeldRank {
    /// Rank.
    pub rank: u32,
    /// Transport key of its node; `None` while it has none.
    pub node: Option<PublicKey>,
    /// Name of the seller, if it is a member.
    pub seller: Option<String>,
    /// Whether it runs.
    pub running: bool,
    /// How often it was started anew.
    pub attempt: u32,
}

/// `GET /clusters/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClusterRecord {
    /// Id: that of its job.
    pub id: JobId,
    /// Name.
    pub name: String,
    /// State of the job.
    pub state: JobState,
    /// Its (last) lease.
    pub lease: Option<LeaseId>,
    /// Name of the class.
    pub class: String,
    /// Ranks.
    pub size: u32,
    /// Each of them.
    pub ranks: Vec<HeldRank>,
    /// When the first one ran.
    pub running_ms: Option<u64>,
    /// Seconds until its time is over.
    pub left_seconds: Option<u64>,
    /// Paid so far.
    #[serde(with = "amount")]
    pub paid: Credits,
    /// Locked for it now.
    #[serde(with = "amount")]
    pub locked: Credits,
    /// Mean price per node-hour paid so far.
    #[serde(with = "optional_amount")]
    pub price: Option<Credits>,
    /// Transport key of the owner's node, which guests name to enter.
    pub owner: PublicKey,
    /// Keys that may run programs on it beside its owner's.
    pub guests: Vec<Guest>,
}

/// The key by which this node gives orders: what others admit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClusterKey {
    /// Key of this node's account.
    pub key: PublicKey,
}
