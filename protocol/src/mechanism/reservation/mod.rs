//! Repeated combinatorial greedy auction of Bellagio and Mirage (AuYoung, sections 3.2.1, 3.3.2,
//! 3.4.2).
//!
//! Nodes are reserved for a run of slots ahead. A bid wants so many nodes of each of several
//! classes (any sets of named nodes, they may overlap), all of them together for `slots` slots
//! from one start, perhaps with a channel that nobody else has meanwhile. All of it or nothing.
//!
//! 1. `prepare` refuses numbers out of range and passes over void bids: no slot, no class, a class
//!    with quantity 0, a window that ends before it begins, or less money than the reserve for its
//!    node-slots. A value of 0 is legal.
//! 2. `order` ranks bids by value density: value / (nodes * slots), ties by (time, id). A channel
//!    does not count as size. Attempt j moves the j-th densest bid to the front, for
//!    j < min([`Policy::fronts`], bids), at least once. [`Orders::Three`] then does the same from
//!    two more rankings: by value, and by value / sqrt(nodes * slots).
//! 3. `greedy` fits the bids of an attempt one after the other, each at the first start where
//!    `matching` finds nodes and `calendar` the lowest channel of its range. Nodes: class by class
//!    in the bid's order, the lexicographically smallest set that leaves enough for the rest.
//! 4. The attempt of the greatest total wins, ties to the smaller j. Winners pay their bids.
//!
//! `work` bounds the steps of a clearing: attempts x bids x starts x sets of nodes.
//!
//! [`rounds`] repeats it over a rolling window, [`hint`] takes a better allocation from elsewhere.

mod calendar;
mod greedy;
pub mod hint;
mod matching;
mod order;
mod prepare;
pub mod rounds;
mod specimen;
pub mod window;
mod work;

use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::marker::PhantomData;

use super::Mechanism;
use super::dice::shuffle;

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
    /// [`rounds`], the first round that the bid takes part in.
    pub time: u64,
    /// Its worth, and the payment of a winner, micro-credits.
    pub value: u64,
    /// First slot it may start at; below 0 means 0.
    pub earliest: i64,
    /// Last slot it may start at.
    pub latest: i64,
    /// Length in slots.
    pub slots: u32,
    /// The nodes that it wants at the same time; a node serves one class.
    pub classes: Vec<Want<N>>,
    /// The exclusive channel, if one is needed.
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
    fn end(&self, start: u32) -> u64 {
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
    /// More than [`rounds::ROUNDS`] rounds.
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

/// Clears one window.
///
/// # Errors
/// The input is beyond a limit of this module, or an id occurs twice.
pub fn clear<K, N>(input: &Input<K, N>) -> Result<Outcome<K, N>, Error<K, N>>
where
    K: Ord + Clone + Debug,
    N: Ord + Clone + Debug,
{
    prepare::check_busy(input)?;
    clear_window(input)
}

/// The same without a bound of the busy lists.
fn clear_window<K, N>(input: &Input<K, N>) -> Result<Outcome<K, N>, Error<K, N>>
where
    K: Ord + Clone + Debug,
    N: Ord + Clone + Debug,
{
    let prepared = prepare::prepare(input)?;
    let best = greedy::best(&prepared, input.policy);
    let mut awards: Vec<Award<K, N>> = best.fits.iter().map(|fit| prepared.award(fit)).collect();
    awards.sort_by(|a, b| a.placement.id.cmp(&b.placement.id));
    Ok(Outcome {
        attempt: Some(best.attempt),
        total: best.total,
        awards,
    })
}

/// The auction as a [`Mechanism`], for bids with ids of type `K` on nodes with ids of type `N`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reservation<K, N>(PhantomData<fn() -> (K, N)>);

impl<K, N> Reservation<K, N> {
    /// The marker, usable in statics.
    pub const NEW: Self = Reservation(PhantomData);
}

impl<K, N> Mechanism for Reservation<K, N>
where
    K: Ord + Clone + Debug + From<u8> + From<u16>,
    N: Ord + Clone + Debug + From<u8> + From<u16>,
{
    type Input = Input<K, N>;
    type Outcome = Outcome<K, N>;
    type Error = Error<K, N>;

    const NAME: &'static str = "reservation";
    const SUMMARY: &'static str = "so many nodes of these kinds for so long, any time in a window";

    fn clear(input: &Input<K, N>) -> Result<Outcome<K, N>, Error<K, N>> {
        clear(input)
    }

    fn bound(input: &Input<K, N>) -> u64 {
        work::bound(input)
    }

    fn audit(input: &Input<K, N>, outcome: &Outcome<K, N>) -> Result<(), &'static str> {
        hint::audit(input, outcome)
    }

    fn specimen(seed: u64) -> Input<K, N> {
        specimen::draw(seed)
    }

    fn extreme(seed: u64) -> Input<K, N> {
        specimen::extreme(seed)
    }

    fn shuffle(input: &mut Input<K, N>, draw: &mut dyn FnMut(u64) -> u64) {
        shuffle(&mut input.bids, draw);
        shuffle(&mut input.nodes, draw);
        shuffle(&mut input.busy, draw);
        shuffle(&mut input.busy_channels, draw);
    }
}
