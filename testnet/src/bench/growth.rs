//! The growth of what a ledger keeps: the mempool, the journal, the blocks, the state.
//!
//! An account's budget is by the epoch, and it may spend most of it in the first seconds. So growth
//! an hour is judged by an epoch at the least; of a shorter time it is shown only.

use crate::network::Network;
use crate::network::plan::Plan;
use anyhow::Context as _;
use gridbay_protocol::limits::EPOCH_HEIGHTS;
use serde::Serialize;
use std::fmt;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Entries in the mempool: what honest orders and one member's budget may leave there.
const BAR_MEMPOOL: u64 = 1_024;
/// kB an hour. The journal is cut at each height. Empty blocks come anyway; a member's budget of
/// 10 MB an epoch of 300 s is the most that one account adds.
const BAR_JOURNAL_KB: f64 = 8_000.0;
const BAR_BLOCKS_KB: f64 = 160_000.0;
const BAR_STATE_KB: f64 = 20_000.0;

/// How what the first validator keeps has grown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Growth {
    /// Time looked at, in epochs.
    pub(crate) epochs: f64,
    /// Most entries that waited for a block.
    pub(crate) mempool_entries: u64,
    /// Journal, kB an hour.
    pub(crate) journal_kb: f64,
    /// Blocks, kB an hour.
    pub(crate) blocks_kb: f64,
    /// State, as its newest snapshot, kB an hour.
    pub(crate) state_kb: f64,
}

impl Growth {
    /// The figures above their bars.
    pub(super) fn problems(&self) -> impl Iterator<Item = String> {
        let judged = self.epochs >= 1.0;
        let (waiting, bar) = (self.mempool_entries as f64, BAR_MEMPOOL as f64);
        let grown = [
            ("journal", self.journal_kb, BAR_JOURNAL_KB),
            ("blocks", self.blocks_kb, BAR_BLOCKS_KB),
            ("state", self.state_kb, BAR_STATE_KB),
        ];
        let grown = grown.into_iter().filter(move |_| judged);
        let above = grown.chain([("entries in the mempool", waiting, bar)]);
        let above = above.filter(|(_, value, bar)| value > bar);
        above.map(|(what, value, bar)| format!("{what}: {value:.0}, not above {bar:.0}"))
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "mempool: {} entries at the most (bar {BAR_MEMPOOL}); kB an hour: \
             journal {:.0} (bar {BAR_JOURNAL_KB:.0}), blocks {:.0} ({BAR_BLOCKS_KB:.0}), \
             state {:.0} ({BAR_STATE_KB:.0}), by {:.1} epochs{}",
            self.mempool_entries,
            self.journal_kb,
            self.blocks_kb,
            self.state_kb,
            self.epochs,
            if self.epochs < 1.0 {
                ", too short to judge"
            } else {
                ""
            }
        )
    }
}

/// How long an epoch of a network is.
pub(super) fn epoch(network: &Network) -> Duration {
    let interval = network.genesis().policy.block_interval_ms;
    Duration::from_millis(EPOCH_HEIGHTS * interval)
}

/// Bytes that the first validator keeps at a time.
pub(super) struct Kept {
    at: Instant,
    journal: u64,
    blocks: u64,
    state: u64,
}

impl Kept {
    /// As they are now.
    pub(super) fn of(network: &Network) -> anyhow::Result<Kept> {
        let ledger = network
            .folder()
            .data(&Plan::validator_name(0))
            .join("ledger");
        let entries = fs::read_dir(&ledger).context("a validator has a ledger")?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let newest = names.filter(|name| name.starts_with("snapshot-")).max();
        Ok(Kept {
            at: Instant::now(),
            journal: bytes_of(&ledger.join("journal")),
            blocks: bytes_of(&ledger.join("blocks")),
            state: newest.map_or(0, |name| bytes_of(&ledger.join(name))),
        })
    }
    /// The growth since `before`, with epochs of this length; the caller gives `mempool_entries`.
    pub(super) fn since(&self, before: &Kept, epoch: Duration, mempool_entries: u64) -> Growth {
        let time = self.at.duration_since(before.at).as_secs_f64();
        let hours = time / 3600.0;
        let kb = |a: u64, b: u64| a.saturating_sub(b) as f64 / 1e3 / hours;
        Growth {
            epochs: time / epoch.as_secs_f64(),
            mempool_entries,
            journal_kb: kb(self.journal, before.journal),
            blocks_kb: kb(self.blocks, before.blocks),
            state_kb: kb(self.state, before.state),
        }
    }
}

/// Length of a file; 0 if there is none.
pub(super) fn bytes_of(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |meta| meta.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bar_is_looked_at() {
        assert_eq!(Growth::default().problems().count(), 0);
        let grown = Growth {
            epochs: 1.0,
            mempool_entries: BAR_MEMPOOL + 1,
            journal_kb: 2.0 * BAR_JOURNAL_KB,
            blocks_kb: 2.0 * BAR_BLOCKS_KB,
            state_kb: 2.0 * BAR_STATE_KB,
        };
        assert_eq!(grown.problems().count(), 4);
        let soon = Growth {
            epochs: 0.9,
            ..grown
        };
        assert_eq!(soon.problems().count(), 1, "the mempool");
        assert!(soon.to_string().contains("too short"));
    }
}
