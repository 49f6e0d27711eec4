//! How long an entry takes until all validators have it, as a proposer learns it. Pure.
//!
//! 1. An entry that came within this time goes along with a block whole (`host/short.rs`).
//! 2. It begins at zero: on one machine the entries outrun the block.
//! 3. A validator that has to ask for entries of a block doubles it, from [`FIRST`] up to
//!    [`LONGEST`]: asking costs that validator a round trip, an entry that goes along its bytes.
//! 4. A block of ours that nobody asked for until the next one shortens it by one in [`SLOW`].

use gridbay_protocol::ids::BlockId;

/// Milliseconds after the first time that somebody lacks an entry.
const FIRST: u64 = 50;
/// Milliseconds at the most: five times the way around the world in fibre.
const LONGEST: u64 = 1_000;
/// Blocks in which it falls by two thirds.
const SLOW: u64 = 64;

/// The time, and the block that shows next whether it is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spread {
    ms: u64,
    /// The last block of ours that went short, unless somebody asked for it.
    last: Option<BlockId>,
}

impl Spread {
    /// Whether somebody may lack an entry that came so many milliseconds ago.
    pub(crate) fn may_lack(&self, age: u64) -> bool {
        age < self.ms
    }
    /// A block of ours goes short.
    pub(crate) fn went(&mut self, block: BlockId) {
        if self.last.replace(block).is_some_and(|last| last != block) {
            self.ms -= self.ms.div_ceil(SLOW);
        }
    }
    /// A validator asks for a block, also after others decided on it.
    pub(crate) fn asked(&mut self, block: &BlockId) {
        if self.last.take_if(|last| last == block).is_some() {
            self.ms = (self.ms * 2).clamp(FIRST, LONGEST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_fast_where_entries_are_lacking_and_falls_slowly_where_they_are_not() {
        let mut spread = Spread::default();
        assert!(!spread.may_lack(0));
        let block = |n: u8| BlockId([n; 32]);
        let mut after = Vec::new();
        for n in 0..7 {
            spread.went(block(n));
            spread.asked(&block(n + 1));
            // Three validators may ask.
            (0..3).for_each(|_| spread.asked(&block(n)));
            after.push(spread.ms);
        }
        assert_eq!(after, [50, 100, 200, 400, 800, 1_000, 1_000]);
        assert!(spread.may_lack(999) && !spread.may_lack(1_000));
        let mut blocks = 0u8;
        while spread.may_lack(330) {
            spread.went(block(blocks));
            spread.went(block(blocks));
            blocks += 1;
        }
        assert!((60..80).contains(&blocks), "{blocks}");
        (0..300).for_each(|n| spread.went(block((n % 2) as u8)));
        assert_eq!(spread.ms, 0);
    }
}
