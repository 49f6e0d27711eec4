//! Blocks as they come: how far apart they are, and how much work each is.

use super::histogram::Histogram;
use super::text::Text;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bounds between blocks: policies have them from a fraction of a second to some minutes apart.
const INTERVALS: &[u64] = &[
    100_000,
    250_000,
    500_000,
    1_000_000,
    1_500_000,
    2_000_000,
    3_000_000,
    5_000_000,
    10_000_000,
    15_000_000,
    30_000_000,
    60_000_000,
    300_000_000,
];
/// Bounds of the work for a block.
const WORK: &[u64] = &[
    1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 5_000_000,
];
/// Bounds from a proposal to the decision: round trips on one machine, or around the earth.
const DECISION: &[u64] = &[
    5_000, 10_000, 20_000, 35_000, 50_000, 75_000, 100_000, 150_000, 200_000, 300_000, 400_000,
    500_000, 750_000, 1_000_000, 2_000_000, 5_000_000,
];
/// Blocks whose work is remembered, until it is known whether they cleared anything.
const RECENT: usize = 64;

/// Blocks as they come.
#[derive(Debug)]
pub(super) struct Chain {
    interval: Histogram,
    decision: Histogram,
    work: Histogram,
    clearing: Histogram,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Work since the last block.
    work: Duration,
    /// Height and ledger time of the last block.
    last: Option<(u64, u64)>,
    /// Height and work of the last blocks, ascending; and whether an auction was counted there.
    recent: VecDeque<(u64, Duration, bool)>,
    cleared: BTreeMap<&'static str, u64>,
}

impl Default for Chain {
    fn default() -> Chain {
        Chain {
            interval: Histogram::new(INTERVALS),
            decision: Histogram::new(DECISION),
            work: Histogram::new(WORK),
            clearing: Histogram::new(WORK),
            inner: Mutex::default(),
        }
    }
}

impl Chain {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A step of the core took so long and ended at a time; since then the last block has this
    /// height and ledger time. Blocks that come together, after an absence, are not told apart and
    /// do not count.
    pub(super) fn stepped(&self, took: Duration, now_ms: u64, (height, time_ms): (u64, u64)) {
        let mut inner = self.lock();
        inner.work += took;
        let last = inner.last;
        if last.is_some_and(|(last, _)| height <= last) {
            return;
        }
        inner.last = Some((height, time_ms));
        let work = std::mem::take(&mut inner.work);
        let Some((_, before)) = last.filter(|(last, _)| last.checked_add(1) == Some(height)) else {
            return;
        };
        inner.recent.push_back((height, work, false));
        if inner.recent.len() > RECENT {
            inner.recent.pop_front();
        }
        drop(inner);
        let apart = time_ms.saturating_sub(before);
        self.interval.observe(Duration::from_millis(apart));
        // The proposer's clock made it.
        let decided = now_ms.saturating_sub(time_ms);
        self.decision.observe(Duration::from_millis(decided));
        self.work.observe(work);
    }

    /// An auction was cleared by the block of a height. Those before this node's time do not count.
    pub(super) fn cleared(&self, kind: &'static str, height: u64) {
        let mut inner = self.lock();
        let found = inner.recent.iter_mut().find(|(at, ..)| *at == height);
        let Some((_, work, counted)) = found else {
            return;
        };
        let (work, first) = (*work, !std::mem::replace(counted, true));
        *inner.cleared.entry(kind).or_default() += 1;
        drop(inner);
        if first {
            self.clearing.observe(work);
        }
    }

    /// All kinds of auctions are told, those that have not come as well.
    pub(super) fn metrics(&self, text: &mut Text, kinds: &[&'static str]) {
        text.times("gridbay_ledger_block_interval_seconds", &self.interval);
        text.times("gridbay_ledger_block_decision_seconds", &self.decision);
        text.times("gridbay_ledger_block_duration_seconds", &self.work);
        text.times("gridbay_clearing_duration_seconds", &self.clearing);
        let cleared = self.lock().cleared.clone();
        let of = |kind: &&'static str| (*kind, cleared.get(kind).copied().unwrap_or(0));
        text.by(("gridbay_clearings_total", "kind"), kinds.iter().map(of));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_between_blocks_counts_for_the_second_and_auctions_once_a_block() {
        let chain = Chain::default();
        let step = |ms, head: (u64, u64)| {
            chain.stepped(Duration::from_millis(ms), head.1 + 30, head);
        };
        step(7, (4, 1_000));
        step(20, (4, 1_000));
        step(20, (5, 2_200));
        // Three at once.
        step(900, (8, 9_000));
        step(4, (9, 9_300));
        for (kind, height) in [("boundary", 5), ("free", 5), ("free", 8), ("free", 2)] {
            chain.cleared(kind, height);
        }
        let mut text = Text::default();
        chain.metrics(&mut text, &["boundary", "free", "buy"]);
        for line in [
            "gridbay_ledger_block_interval_seconds_sum 1.5",
            "gridbay_ledger_block_interval_seconds_count 2",
            "gridbay_ledger_block_decision_seconds_sum 0.06",
            "gridbay_ledger_block_decision_seconds_bucket{le=\"0.035\"} 2",
            "gridbay_ledger_block_duration_seconds_sum 0.044",
            "gridbay_clearing_duration_seconds_sum 0.04",
            "gridbay_clearing_duration_seconds_count 1",
            "gridbay_clearings_total{kind=\"boundary\"} 1",
            "gridbay_clearings_total{kind=\"free\"} 1",
            "gridbay_clearings_total{kind=\"buy\"} 0",
        ] {
            assert!(text.0.lines().any(|l| l == line), "{line} in {}", text.0);
        }
    }
}
