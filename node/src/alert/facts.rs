//! The facts that alerts follow from, without the node.

/// One look at the node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Milliseconds since 1970, by the node's clock.
    pub(super) now_ms: u64,
    /// Account and free balance in micro-credits, once there is an account.
    pub(super) account: Option<(String, i64)>,
    /// The last block's height and ledger time.
    pub(super) block: (u64, u64),
    /// The least and the most time between blocks, in milliseconds.
    pub(super) pace: (u64, u64),
    /// Own orders that are not over.
    pub(super) orders: Vec<OrderFact>,
    /// Own leases that end by their own terms.
    pub(super) leases: Vec<LeaseFact>,
    /// Connected peers.
    pub(super) peers: usize,
    /// The other validators' nodes: key, name of the member, and whether it is connected or rests.
    pub(super) validators: Vec<(String, String, bool)>,
    /// The node's troubles: kind, text and advice.
    pub(super) troubles: Vec<(&'static str, String, String)>,
}

/// An own order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OrderFact {
    /// Id of its job.
    pub(super) job: String,
    /// The job's name.
    pub(super) name: String,
    /// Leases lost so far.
    pub(super) lost: u32,
    /// Whether it has no nodes now and looks for others.
    pub(super) waits: bool,
}

/// An own lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeaseFact {
    /// Its id.
    pub(super) lease: String,
    /// Name of its job.
    pub(super) name: String,
    /// Milliseconds until it ends, at the least time between blocks.
    pub(super) left_ms: u64,
}
