//! Preparation: from bids in any order to lots with nodes as bits.
//!
//! 1. Refuse inputs beyond a limit and ids that occur twice: first busy lists, nodes and slots,
//!    then bids by id.
//! 2. Pass over bids that do not count, see [`counts`].
//! 3. Number the nodes by rising id. Class lists become sets; unknown nodes vanish.
//! 4. Starts are `max(0, earliest) ..= min(latest, starts - 1, slots - length)`, perhaps none.

use std::fmt::Debug;
use std::ops::RangeInclusive;

use super::calendar::{Calendar, insert, width};
use super::matching::Matching;
use super::{
    Award, BIDS, Bid, CHANNELS, CLASSES, Error, Input, NODES, Placement, SLOT_RANGE, SLOTS,
};
use crate::mechanism::meter;

/// A bid that counts.
#[derive(Debug)]
pub(super) struct Lot<'a, K, N> {
    pub(super) bid: &'a Bid<K, N>,
    /// Node-slots.
    pub(super) size: u64,
    /// Where it may start; `None` if nowhere.
    pub(super) starts: Option<RangeInclusive<u32>>,
    pub(super) matching: Matching,
}

/// Where a lot fits, in numbers of the prepared market.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fit {
    pub(super) lot: usize,
    pub(super) start: u32,
    pub(super) nodes: Vec<Vec<usize>>,
    pub(super) channel: Option<u32>,
}

/// The market in canonical form.
#[derive(Debug)]
pub(super) struct Prepared<'a, K, N> {
    /// By rising id.
    nodes: Vec<&'a N>,
    /// By rising id.
    pub(super) lots: Vec<Lot<'a, K, N>>,
    /// The nodes and channels that are busy from the beginning.
    pub(super) calendar: Calendar,
}

impl<K: Clone, N: Clone> Prepared<'_, K, N> {
    /// A fit in the words of the input.
    pub(super) fn award(&self, fit: &Fit) -> Award<K, N> {
        let bid = self.lots[fit.lot].bid;
        let named = |nodes: &Vec<usize>| nodes.iter().map(|&n| self.nodes[n].clone()).collect();
        Award {
            placement: Placement {
                id: bid.id.clone(),
                start: fit.start,
                nodes: fit.nodes.iter().map(named).collect(),
                channel: fit.channel,
            },
            // 3.2.1 p. 31: first price; B.2, 5.
            pay: bid.value,
        }
    }
}

/// The bound of the busy lists, of step 1: what is asked of a market, not of each of its rounds.
pub(super) fn check_busy<K: Debug, N: Debug>(input: &Input<K, N>) -> Result<(), Error<K, N>> {
    let busy = input.busy.len().max(input.busy_channels.len());
    if busy > NODES * SLOTS as usize {
        return Err(Error::TooManyBusy(busy));
    }
    Ok(())
}

/// Steps 1 to 4.
pub(super) fn prepare<K, N>(input: &Input<K, N>) -> Result<Prepared<'_, K, N>, Error<K, N>>
where
    K: Ord + Clone + Debug,
    N: Ord + Clone + Debug,
{
    let nodes = nodes_by_id(input)?;
    let bids = bids_by_id(&input.bids)?;
    let mut calendar = Calendar::new(nodes.len(), input.slots);
    for (node, slot) in input.busy.iter().filter(|(_, slot)| *slot < input.slots) {
        let known = nodes.binary_search(&node).ok();
        calendar.take(known.into_iter(), *slot, u32::from(known.is_some()));
    }
    for &(channel, slot) in &input.busy_channels {
        if slot < input.slots {
            calendar.take_channel(channel, slot, 1);
        }
    }
    let mut lots = Vec::with_capacity(bids.len());
    for bid in bids {
        check(bid)?;
        if counts(bid, input.reserve) {
            lots.push(lot(bid, input, &nodes)?);
        }
    }
    Ok(Prepared {
        nodes,
        lots,
        calendar,
    })
}

/// Whether a bid takes part: at least one slot, one class and one node of each, a window that
/// does not end before it begins, and no less money than the reserve.
pub(super) fn counts<K, N>(bid: &Bid<K, N>, reserve: u64) -> bool {
    // B.2, 1.
    bid.slots > 0
        && !bid.classes.is_empty()
        && bid.classes.iter().all(|class| class.quantity > 0)
        && bid.earliest <= bid.latest
        // A price that overflows is above every value.
        && bid.node_slots().checked_mul(reserve.into()).is_some_and(|least| least <= bid.value.into())
}

/// Checks nodes and slots.
fn nodes_by_id<K: Debug, N>(input: &Input<K, N>) -> Result<Vec<&N>, Error<K, N>>
where
    N: Ord + Clone + Debug,
{
    if input.nodes.len() > NODES {
        return Err(Error::TooManyNodes(input.nodes.len()));
    }
    if input.slots > SLOTS {
        return Err(Error::TooManySlots(input.slots));
    }
    let mut nodes: Vec<&N> = input.nodes.iter().collect();
    nodes.sort_unstable();
    match nodes.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::DuplicateNode(pair[0].clone())),
        None => Ok(nodes),
    }
}

fn bids_by_id<K, N: Debug>(bids: &[Bid<K, N>]) -> Result<Vec<&Bid<K, N>>, Error<K, N>>
where
    K: Ord + Clone + Debug,
{
    if bids.len() > BIDS {
        return Err(Error::TooManyBids(bids.len()));
    }
    let mut bids: Vec<&Bid<K, N>> = bids.iter().collect();
    bids.sort_by(|a, b| a.id.cmp(&b.id));
    match bids.windows(2).find(|pair| pair[0].id == pair[1].id) {
        Some(pair) => Err(Error::DuplicateId(pair[0].id.clone())),
        None => Ok(bids),
    }
}

/// The limits of one bid that do not depend on the market.
pub(super) fn check<K: Clone + Debug, N: Debug>(bid: &Bid<K, N>) -> Result<(), Error<K, N>> {
    let id = || bid.id.clone();
    if bid.classes.len() > CLASSES {
        return Err(Error::TooManyClasses(id()));
    }
    let wanted: u64 = bid.classes.iter().map(|c| u64::from(c.quantity)).sum();
    let named = bid.classes.iter().map(|c| c.nodes.len()).max();
    if wanted > NODES as u64 || named.is_some_and(|named| named > NODES) {
        return Err(Error::TooLarge(id()));
    }
    if bid.slots > SLOTS {
        return Err(Error::TooLong(id()));
    }
    let range = -SLOT_RANGE..=SLOT_RANGE;
    if !range.contains(&bid.earliest) || !range.contains(&bid.latest) {
        return Err(Error::WindowRange(id()));
    }
    let beyond = bid.channels.and_then(|c| c.high.checked_sub(c.low));
    if beyond.is_some_and(|beyond| beyond >= CHANNELS) {
        return Err(Error::TooManyChannels(id()));
    }
    Ok(())
}

/// Steps 3 and 4 for one bid.
fn lot<'a, K, N>(
    bid: &'a Bid<K, N>,
    input: &Input<K, N>,
    nodes: &[&N],
) -> Result<Lot<'a, K, N>, Error<K, N>>
where
    K: Clone + Debug,
    N: Ord + Debug,
{
    let set = |named: &[N]| {
        let mut set = vec![0; width(nodes.len())];
        meter::steps(named.len());
        for node in named {
            if let Ok(number) = nodes.binary_search(&node) {
                insert(&mut set, number);
            }
        }
        set
    };
    let classes = bid.classes.iter();
    let classes = classes.map(|c| (c.quantity, set(&c.nodes))).collect();
    let matching = Matching::new(classes).ok_or_else(|| Error::TooEntangled(bid.id.clone()))?;
    let wanted: u64 = bid.classes.iter().map(|c| u64::from(c.quantity)).sum();
    Ok(Lot {
        bid,
        size: wanted * u64::from(bid.slots),
        starts: starts(bid, input),
        matching,
    })
}

/// Step 4 for one bid.
pub(super) fn starts<K, N>(bid: &Bid<K, N>, input: &Input<K, N>) -> Option<RangeInclusive<u32>> {
    // B.2, 4.
    let horizon = input.starts.checked_sub(1)?;
    let room = input.slots.checked_sub(bid.slots)?;
    let first = u32::try_from(bid.earliest.max(0)).ok()?;
    let last = bid.latest.min(horizon.min(room).into());
    let last = u32::try_from(last).ok()?;
    (first <= last).then_some(first..=last)
}
