//! How much work a clearing takes at the most.
//!
//! A step is one word of a set (64 nodes or slots), or one look at one node. With W words of nodes,
//! and for a bid of L slots with S possible starts, c classes that name n nodes in all, at most G
//! groups of them and C channels:
//!
//! | part | steps |
//! |---|---|
//! | what is busy: one slot of one node | `2 W` |
//! | a bid's sets and groups | `n + c^2 W + 2 c G + c G W` |
//! | an attempt begins with a copy of the calendar | `W * slots`, and the channels' words |
//! | the runs of a bid's length | `2 W (S + L)` |
//! | each start: the free nodes, one group twice and the others once, the channels | `S * (W (G + 2) + C (L / 64 + 2))` |
//! | nodes are picked | `G W + n (1 + G)` |
//! | and taken | `W (L + 1) + L` |
//!
//! The last four for every bid in every attempt. Attempts are `fronts * rankings`, with no more
//! fronts than bids.

use super::calendar::width;
use super::prepare::starts;
use super::{BIDS, Bid, CLASSES, GROUPS, Input, NODES, Orders, SLOTS};
use crate::mechanism::meter::{product, sum, wide};

/// Steps at the most; see the module.
pub(super) fn bound<K, N>(input: &Input<K, N>) -> u64 {
    if input.nodes.len() > NODES || input.slots > SLOTS || input.bids.len() > BIDS {
        return 0;
    }
    let words = wide(width(input.nodes.len()));
    let busy = sum([
        product(&[2, words, wide(input.busy.len())]),
        wide(input.busy_channels.len()),
    ]);
    let bids: Vec<Size> = input.bids.iter().map(|bid| Size::of(bid, input)).collect();
    let sets = sum(bids.iter().map(|bid| bid.sets(words)));
    let fits = sum(bids.iter().map(|bid| bid.fit(words)));
    let rankings = match input.policy.orders {
        Orders::Density => 1,
        Orders::Three => 3,
    };
    let fronts = u64::from(input.policy.fronts).clamp(1, wide(bids.len()).max(1));
    let slots = u64::from(input.slots);
    let channels = sum([wide(input.busy_channels.len()), wide(bids.len())]);
    let copy = words * slots + channels * slots.div_ceil(64);
    let attempts = product(&[rankings, fronts, sum([copy, fits])]);
    sum([busy, sets, attempts])
}

/// A bid in numbers, in the letters of the module.
struct Size {
    slots: u64,
    starts: u64,
    classes: u64,
    named: u64,
    groups: u64,
    channels: u64,
}

impl Size {
    /// All zero for a bid beyond the limits: the clearing is refused when it comes to it.
    fn of<K, N>(bid: &Bid<K, N>, input: &Input<K, N>) -> Size {
        let fits = bid.classes.len() <= CLASSES && bid.slots <= SLOTS;
        let classes = if fits { bid.classes.len() } else { 0 };
        let starts = starts(bid, input).filter(|_| fits);
        let channels = bid.channels.filter(|_| fits);
        Size {
            slots: if fits { bid.slots.into() } else { 0 },
            starts: starts.map_or(0, |s| u64::from(s.end() - s.start()) + 1),
            classes: wide(classes),
            named: bid.classes[..classes]
                .iter()
                .map(|c| wide(c.nodes.len().min(NODES)))
                .sum(),
            groups: wide(GROUPS).min((1 << classes) - 1),
            channels: channels.map_or(0, |c| u64::from(c.high.saturating_sub(c.low)) + 1),
        }
    }

    /// Its sets and groups.
    fn sets(&self, words: u64) -> u64 {
        let (c, g) = (self.classes, self.groups);
        self.named + c * c * words + 2 * c * g + c * g * words
    }

    /// One attempt to place it.
    fn fit(&self, words: u64) -> u64 {
        let (starts, slots, groups) = (self.starts, self.slots, self.groups);
        let runs = 2 * words * (starts + slots);
        let channels = product(&[self.channels, slots / 64 + 2]);
        let look = sum([words * (groups + 2), channels]);
        let pick = groups * words + self.named * (1 + groups);
        let take = words * (slots + 1) + slots;
        sum([runs, product(&[starts, look]), pick, take])
    }
}
