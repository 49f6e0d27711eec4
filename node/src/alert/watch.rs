//! The pace of blocks, from the looks at them.

use super::facts::Facts;
use std::collections::VecDeque;

/// Looks remembered.
const LOOKS: usize = 64;
/// Blocks from which a mean is taken at the least: fewer may be apart by chance.
const BLOCKS: u64 = 16;

/// The last looks at the chain. Begins anew with the node.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Height and ledger time, one for each look that found a new block, ascending.
    blocks: VecDeque<(u64, u64)>,
    /// When the last height was first seen, by the node's clock.
    since_ms: u64,
}

impl Watch {
    /// Takes in a look.
    pub(super) fn note(&mut self, facts: &Facts) {
        if self
            .blocks
            .back()
            .is_some_and(|last| last.0 == facts.block.0)
        {
            // A clock that was set back must not make the wait endless.
            self.since_ms = self.since_ms.min(facts.now_ms);
            return;
        }
        self.blocks.push_back(facts.block);
        self.since_ms = facts.now_ms;
        if self.blocks.len() > LOOKS {
            self.blocks.pop_front();
        }
    }
    /// Milliseconds without a new block. A node that catches up has new ones all the time.
    pub(super) fn still_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.since_ms)
    }
    /// The mean time between the last blocks in milliseconds, if there were enough.
    pub(super) fn mean_ms(&self) -> Option<u64> {
        let last = self.blocks.back()?;
        let enough = |first: &&(u64, u64)| last.0.saturating_sub(first.0) >= BLOCKS;
        let first = self.blocks.iter().rev().find(enough)?;
        let heights = last.0.saturating_sub(first.0);
        last.1.saturating_sub(first.1).checked_div(heights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(now_ms: u64, block: (u64, u64)) -> Facts {
        Facts {
            now_ms,
            block,
            ..Facts::default()
        }
    }

    #[test]
    fn a_mean_wants_enough_blocks_and_a_wait_counts_from_the_first_sight() {
        let mut watch = Watch::default();
        for n in 0..BLOCKS {
            watch.note(&at(n * 10, (n, n * 250)));
            assert_eq!(watch.mean_ms(), None, "{n}");
        }
        watch.note(&at(200, (BLOCKS, BLOCKS * 250)));
        assert_eq!(watch.mean_ms(), Some(250));
        watch.note(&at(900, (BLOCKS, BLOCKS * 250)));
        assert_eq!(watch.still_ms(1_000), 800);
        watch.note(&at(100, (BLOCKS, BLOCKS * 250)));
        assert_eq!(watch.still_ms(1_000), 900, "the clock was set back");
        for n in 0..1_000 {
            watch.note(&at(n, (n + 100, n * 50)));
        }
        assert_eq!((watch.blocks.len(), watch.mean_ms()), (LOOKS, Some(50)));
    }
}
