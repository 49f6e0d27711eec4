//! Allocations from elsewhere: a block may carry one that its proposer found with a solver.
//!
//! It is taken only if every validator can see that it is right and that it pays:
//!
//! 1. Placements by rising id, each of a bid that counts.
//! 2. Each as its bid asks: a start in its window and the market's, so many nodes of each class by
//!    rising id, a channel of its range if and only if it needs one.
//! 3. No node and no channel is taken twice in a slot, nor one that is busy.
//! 4. The bids placed are worth strictly more than the outcome that the rule itself found.
//!
//! Winners pay their bids then as well. Nothing here looks at how the rule finds its outcome, so
//! the same steps serve as its audit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use super::{Award, Bid, Input, Outcome, Placement, prepare};

/// Why an allocation is not taken. Placements are looked at in their order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal<K: Debug, N: Debug> {
    /// A placement does not come behind the one with the next smaller id.
    #[error("the placement of {0:?} is out of order")]
    OutOfOrder(K),
    /// Nobody made this bid.
    #[error("there is no bid {0:?}")]
    NoSuchBid(K),
    /// The rule passes over this bid.
    #[error("the bid {0:?} does not count")]
    DoesNotCount(K),
    /// The start is outside the bid's window or the market's.
    #[error("{0:?} cannot start there")]
    Start(K),
    /// Not the quantities of the bid.
    #[error("{0:?} does not get what it asks for")]
    Quantity(K),
    /// The nodes of a class do not rise, or one of them is twice in it.
    #[error("the nodes of {0:?} do not rise")]
    NodesOutOfOrder(K),
    /// The node is not in the class it is to serve, or not for sale.
    #[error("{0:?} gets the node {1:?}, which does not serve its class")]
    WrongNode(K, N),
    /// The node is busy or given to somebody else.
    #[error("{0:?} gets the node {1:?}, which is taken")]
    NodeTaken(K, N),
    /// A channel that the bid did not ask for, or none though it did.
    #[error("{0:?} gets a channel it did not ask for, or none")]
    Channel(K),
    /// The channel is busy or given to somebody else.
    #[error("{0:?} gets the channel {1}, which is taken")]
    ChannelTaken(K, u32),
    /// Feasible, but worth no more than what the rule found.
    #[error("it is worth {offered}, and {found} was found without it")]
    NotBetter {
        /// Sum of the bids that the hint places, micro-credits.
        offered: u128,
        /// Sum of the bids that the rule places.
        found: u128,
    },
}

/// The outcome with a hint, where `found` is what [`super::clear`] makes of the same input.
///
/// # Errors
/// The hint is not feasible or not worth strictly more.
pub fn take<K, N>(
    input: &Input<K, N>,
    found: &Outcome<K, N>,
    hint: &[Placement<K, N>],
) -> Result<Outcome<K, N>, Refusal<K, N>>
where
    K: Ord + Clone + Debug,
    N: Ord + Clone + Debug,
{
    let values = feasible(input, hint)?;
    let offered = values.iter().map(|&value| u128::from(value)).sum();
    if offered <= found.total {
        let found = found.total;
        return Err(Refusal::NotBetter { offered, found });
    }
    let award = |(placement, &pay): (&Placement<K, N>, &u64)| Award {
        placement: placement.clone(),
        pay,
    };
    Ok(Outcome {
        attempt: None,
        total: offered,
        awards: hint.iter().zip(&values).map(award).collect(),
    })
}

/// Steps 1 to 3; the values of the bids placed, in their order.
///
/// # Errors
/// The first step that a placement fails.
pub fn feasible<'a, K, N>(
    input: &Input<K, N>,
    placements: impl IntoIterator<Item = &'a Placement<K, N>>,
) -> Result<Vec<u64>, Refusal<K, N>>
where
    K: Ord + Clone + Debug + 'a,
    N: Ord + Clone + Debug + 'a,
{
    let bids: BTreeMap<&K, &Bid<K, N>> = input.bids.iter().map(|bid| (&bid.id, bid)).collect();
    let for_sale: BTreeSet<&N> = input.nodes.iter().collect();
    let mut taken: BTreeSet<(&N, u32)> = input.busy.iter().map(|(n, slot)| (n, *slot)).collect();
    let mut channels: BTreeSet<(u32, u32)> = input.busy_channels.iter().copied().collect();
    let (mut values, mut last) = (Vec::new(), None);
    for placement in placements {
        let id = || placement.id.clone();
        if last
            .replace(&placement.id)
            .is_some_and(|before| before >= &placement.id)
        {
            return Err(Refusal::OutOfOrder(id()));
        }
        let bid = bids
            .get(&placement.id)
            .ok_or_else(|| Refusal::NoSuchBid(id()))?;
        if !prepare::counts(bid, input.reserve) {
            return Err(Refusal::DoesNotCount(id()));
        }
        let window = bid.earliest..=bid.latest;
        let starts = window.contains(&i64::from(placement.start)) && placement.start < input.starts;
        if !starts || bid.end(placement.start) > u64::from(input.slots) {
            return Err(Refusal::Start(id()));
        }
        serve(bid, placement, &for_sale)?;
        let slots = || placement.start..placement.start + bid.slots;
        for node in placement.nodes.iter().flatten() {
            if !slots().all(|slot| taken.insert((node, slot))) {
                return Err(Refusal::NodeTaken(id(), node.clone()));
            }
        }
        if let Some(channel) = placement.channel
            && !slots().all(|slot| channels.insert((channel, slot)))
        {
            return Err(Refusal::ChannelTaken(id(), channel));
        }
        values.push(bid.value);
    }
    Ok(values)
}

/// Whether nodes and channel are what the bid asks for.
fn serve<K, N>(
    bid: &Bid<K, N>,
    placement: &Placement<K, N>,
    for_sale: &BTreeSet<&N>,
) -> Result<(), Refusal<K, N>>
where
    K: Clone + Debug,
    N: Ord + Clone + Debug,
{
    let id = || bid.id.clone();
    let given = placement.nodes.iter().map(|nodes| nodes.len() as u64);
    if !given.eq(bid.classes.iter().map(|class| u64::from(class.quantity))) {
        return Err(Refusal::Quantity(id()));
    }
    for (nodes, class) in placement.nodes.iter().zip(&bid.classes) {
        if !nodes.is_sorted_by(|a, b| a < b) {
            return Err(Refusal::NodesOutOfOrder(id()));
        }
        let class: BTreeSet<&N> = class.nodes.iter().collect();
        let serves = |node: &&N| class.contains(*node) && for_sale.contains(*node);
        if let Some(node) = nodes.iter().find(|node| !serves(node)) {
            return Err(Refusal::WrongNode(id(), node.clone()));
        }
    }
    let suits = match (bid.channels, placement.channel) {
        (None, None) => true,
        (Some(range), Some(channel)) => (range.low..=range.high).contains(&channel),
        _ => false,
    };
    if suits {
        Ok(())
    } else {
        Err(Refusal::Channel(id()))
    }
}

/// See [`super::Mechanism::audit`].
pub(super) fn audit<K, N>(input: &Input<K, N>, outcome: &Outcome<K, N>) -> Result<(), &'static str>
where
    K: Ord + Clone + Debug,
    N: Ord + Clone + Debug,
{
    let placements = outcome.awards.iter().map(|award| &award.placement);
    let values = feasible(input, placements).map_err(|_| "the allocation is not feasible")?;
    if !outcome.awards.iter().map(|award| award.pay).eq(values) {
        return Err("a winner does not pay its bid");
    }
    let revenue: u128 = outcome.awards.iter().map(|a| u128::from(a.pay)).sum();
    if revenue != outcome.total {
        return Err("the sums do not add up");
    }
    Ok(())
}
