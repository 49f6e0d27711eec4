//! The types of a market of reservations, the limits, and the types of a clearing's outcome.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

/// Nodes for sale in one market, also nodes that one bid or one of its classes may name or want.
/// Sets of nodes are bits; this is 16 words of them.
pub const NODES: usize = 1_024;
/// Slots of a window, also of one bid: six weeks of hours.
pub const SLOTS: u32 = 1_008;
/// Bids of one clearing.
pub const BIDS: usize = 256;
/// Classes of one bid.
pub const CLASSES: usize = 16;
/// Channels that may suit one bid: all may have to be looked at for every start.
pub const CHANNELS: u32 = 64;
/// Sets of overlapping classes of one bid: each is counted at every start. Six classes that all
/// overlap make 63; classes without a common node make one each.
pub const GROUPS: usize = 64;
/// Bound of the slots that a bid's window names, either sign: what JSON numbers hold.
pub const SLOT_RANGE: i64 = 1 << 53;

/// Nodes of one class that a bid wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Want<N> {
    /// How many; a bid that wants 0 of a class is passed over.
    pub quantity: u32,
    /// Any of these, in any order. Repetitions and nodes that are not for sale do not matter.
    pub nodes: Vec<N>,
}

/// Channels that suit a bid; it needs one of them for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Channels {
    /// The lowest.
    pub low: u32,
    /// The highest, less than [`CHANNELS`] above the lowest; below it none suits.
    pub high: u32,
}

/// One bid: all of it or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bid<K, N> {
    /// Unique among the bids of a clearing.
    pub id: K,
    /// First tie-break, smaller wins: a replicated number, never the bidder's clock. For
    /// [`rounds`](super::rounds), the first round that the bid takes part in.
    pub time: u64,
    /// Its worth, and the payment of a winner (v of eq. 3.1), micro-credits.
    pub value: u64,
    /// First slot it may start at (s of eq. 3.1); below 0 means 0.
    pub earliest: i64,
    /// Last slot it may start at (t of eq. 3.1).
    pub latest: i64,
    /// Length in slots (d of eq. 3.1).
    pub slots: u32,
    /// The nodes that it wants at the same time (n and ok of eq. 3.1, in classes as in 3.3.2 p.
    /// 39); a node serves one class.
    pub classes: Vec<Want<N>>,
    /// The exclusive channel (f_min, f_max of eq. 3.1), if one is needed.
    pub channels: Option<Channels>,
}

impl<K, N> Bid<K, N> {
    /// Nodes wanted, times slots.
    #[must_use]
    pub fn node_slots(&self) -> u128 {
        let nodes: u64 = self.classes.iter().map(|c| u64::from(c.quantity)).sum();
        u128::from(nodes) * u128::from(self.slots)
    }

    /// The slot after its last if it starts at `start`.
    pub(super) fn end(&self, start: u32) -> u64 {
        u64::from(start) + u64::from(self.slots)
    }
}

/// Rankings that attempts begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Orders {
    /// Value density only, as in Bellagio and Mirage.
    #[default]
    Density,
    /// Then value, then value / sqrt(node-slots). Three times the attempts, never a smaller total.
    Three,
}

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Bids that are moved to the front in turn (k of the paper); 0 counts as 1.
    pub fronts: u32,
    /// Rankings that this is done with.
    pub orders: Orders,
}

impl Default for Policy {
    /// The 10 attempts of Bellagio and Mirage.
    fn default() -> Self {
        Policy {
            fronts: 10,
            orders: Orders::Density,
        }
    }
}

/// The input of a clearing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input<K, N> {
    /// How much is tried.
    pub policy: Policy,
    /// Least price of a node-slot, micro-credits.
    pub reserve: u64,
    /// Slots for sale are `0..slots` (T of the paper; 104 in Mirage, 42 in Bellagio).
    pub slots: u32,
    /// Reservations start at `0..starts` (S of the paper; 72 in Mirage, 42 in Bellagio).
    pub starts: u32,
    /// The nodes, in any order.
    pub nodes: Vec<N>,
    /// Nodes that are taken in a slot. Other nodes and slots than those for sale do not matter.
    pub busy: Vec<(N, u32)>,
    /// Channels that are taken in a slot.
    pub busy_channels: Vec<(u32, u32)>,
    /// The bids, in any order.
    pub bids: Vec<Bid<K, N>>,
}

/// Where a bid is placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement<K, N> {
    /// The bid.
    pub id: K,
    /// Its first slot.
    pub start: u32,
    /// Its nodes class by class, each class by rising id.
    pub nodes: Vec<Vec<N>>,
    /// Its channel, if it needs one.
    pub channel: Option<u32>,
}

/// The booking of one winner, and its payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Award<K, N> {
    /// When and where.
    pub placement: Placement<K, N>,
    /// Its bid, micro-credits.
    pub pay: u64,
}

/// The result of a clearing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome<K, N> {
    /// The attempt that it is from; `None` if it came as a hint.
    pub attempt: Option<u32>,
    /// Sum of the winners' bids, micro-credits.
    pub total: u128,
    /// Winners only, by id.
    pub awards: Vec<Award<K, N>>,
}

/// Why a clearing is refused. Of several guilty bids the one with the smallest id is named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error<K: Debug, N: Debug> {
    /// More than [`NODES`] nodes.
    #[error("{0} nodes are for sale, more than {NODES}")]
    TooManyNodes(usize),
    /// Two nodes have one id.
    #[error("the node {0:?} is for sale twice")]
    DuplicateNode(N),
    /// More than [`SLOTS`] slots.
    #[error("{0} slots are for sale, more than {SLOTS}")]
    TooManySlots(u32),
    /// A busy list is longer than all nodes in all slots.
    #[error("a list of what is busy has {0} entries")]
    TooManyBusy(usize),
    /// More than [`ROUNDS`](super::rounds::ROUNDS) rounds.
    #[error("{0} rounds are too many")]
    TooManyRounds(u32),
    /// More than [`BIDS`] bids.
    #[error("{0} bids, more than {BIDS}")]
    TooManyBids(usize),
    /// Two bids have one id.
    #[error("two bids have the id {0:?}")]
    DuplicateId(K),
    /// More than [`CLASSES`] classes.
    #[error("the bid {0:?} has more than {CLASSES} classes")]
    TooManyClasses(K),
    /// More than [`NODES`] nodes wanted, or named for a class.
    #[error("the bid {0:?} wants or names more than {NODES} nodes")]
    TooLarge(K),
    /// More than [`SLOTS`] slots.
    #[error("the bid {0:?} is longer than {SLOTS} slots")]
    TooLong(K),
    /// A window beyond [`SLOT_RANGE`].
    #[error("the window of the bid {0:?} is out of range")]
    WindowRange(K),
    /// A range of more than [`CHANNELS`] channels.
    #[error("more than {CHANNELS} channels would suit the bid {0:?}")]
    TooManyChannels(K),
    /// More than [`GROUPS`] sets of overlapping classes.
    #[error("the classes of the bid {0:?} overlap in more than {GROUPS} ways")]
    TooEntangled(K),
}
