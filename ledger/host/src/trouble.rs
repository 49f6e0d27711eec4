//! Trouble with the clock: noticed, told, and over by itself.
//!
//! Blocks carry the time of their proposer's clock, and more than two thirds of the validators have
//! found it at most a second ahead of theirs. So blocks tell a node whether its own clock is right:
//!
//! 1. only live blocks count: those after which no peer is known to be further;
//! 2. [`limits::CLOCK_BLOCKS`] live blocks in a row whose time is more than
//!    [`limits::CLOCK_BLOCK_OLD_MS`] before our clock, or more than [`CLOCK_AHEAD_MS`] after it,
//!    mean that our clock is wrong. One such block means nothing: it may have waited for a quorum,
//!    and a lying proposer may date it back;
//! 3. the next live block within these bounds ends the trouble.
//!
//! While it lasts the node refuses new entries of its users and acknowledges none, because it would
//! judge the blocks that should hold them by a wrong clock. All else goes on: it follows, serves
//! and votes.

use crate::limits;
use gridbay_protocol::limits::CLOCK_AHEAD_MS;

/// Why this node takes no new entries for the time being.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The clock shows a later time than the network's.
    #[error(
        "this machine's clock is about {} s ahead of the network's: set it right; entries are refused until then",
        .ahead_ms / 1_000
    )]
    ClockAhead {
        /// By how many milliseconds when it was noticed.
        ahead_ms: u64,
    },
    /// The clock shows an earlier time than the network's.
    #[error(
        "this machine's clock is about {} s behind the network's: set it right; entries are refused until then",
        .behind_ms.div_ceil(1_000)
    )]
    ClockBehind {
        /// By how many milliseconds when it was noticed.
        behind_ms: u64,
    },
}

/// Compares the clock with the blocks.
#[derive(Debug, Default)]
pub(crate) struct ClockWatch {
    /// Live blocks in a row that the clock does not fit.
    misfits: u32,
    trouble: Option<Trouble>,
}

impl ClockWatch {
    /// The trouble there is.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        self.trouble
    }
    /// Takes note of a live block of time `block_ms` at `wall_ms`; the news, if it begins or ends a
    /// trouble.
    pub(crate) fn observe(&mut self, block_ms: u64, wall_ms: u64) -> Option<Option<Trouble>> {
        let ahead_ms = wall_ms.saturating_sub(block_ms);
        let behind_ms = block_ms.saturating_sub(wall_ms);
        let seen = if behind_ms > CLOCK_AHEAD_MS {
            Some(Trouble::ClockBehind { behind_ms })
        } else if ahead_ms > limits::CLOCK_BLOCK_OLD_MS {
            Some(Trouble::ClockAhead { ahead_ms })
        } else {
            None
        };
        self.misfits = seen.map_or(0, |_| self.misfits.saturating_add(1));
        let kind = |trouble: &Trouble| matches!(trouble, Trouble::ClockAhead { .. });
        let news = match seen {
            None => self.trouble.is_some(),
            // Told again only if the clock has jumped from one side to the other.
            Some(_) if self.misfits < limits::CLOCK_BLOCKS => false,
            Some(seen) => self.trouble.as_ref().map(kind) != Some(kind(&seen)),
        };
        if !news {
            return None;
        }
        self.trouble = seen;
        Some(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_700_000_000_000;

    #[test]
    fn three_live_blocks_in_a_row_begin_a_trouble_and_one_ends_it() {
        let mut watch = ClockWatch::default();
        let old = NOW - limits::CLOCK_BLOCK_OLD_MS - 1;
        assert_eq!(watch.observe(old, NOW), None);
        assert_eq!(watch.observe(old, NOW), None);
        assert_eq!(watch.observe(NOW, NOW), None, "one good block starts anew");
        assert_eq!(watch.observe(old, NOW), None);
        assert_eq!(watch.observe(old, NOW), None);
        let ahead = Trouble::ClockAhead { ahead_ms: 30_001 };
        assert_eq!(watch.observe(old, NOW), Some(Some(ahead)));
        assert_eq!(watch.observe(old, NOW), None, "told once");
        assert_eq!(watch.trouble(), Some(ahead));
        assert_eq!(watch.observe(NOW + 1_000, NOW), Some(None));
        assert_eq!(watch.trouble(), None);
    }

    #[test]
    fn the_message_says_which_way_and_how_far() {
        let mut watch = ClockWatch::default();
        let told = (0..3).filter_map(|_| watch.observe(NOW + 1_001, NOW));
        let told: Vec<_> = told.flatten().map(|t| t.to_string()).collect();
        assert_eq!(told.len(), 1);
        assert!(told[0].contains("2 s behind"), "{}", told[0]);
        let year = 365 * 86_400_000;
        let told = watch.observe(NOW, NOW + year).flatten();
        assert_eq!(told, Some(Trouble::ClockAhead { ahead_ms: year }));
    }
}
