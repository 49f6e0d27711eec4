//! Own orders as they go: how soon their jobs start, what they lose, how they end.
//!
//! Each block is compared with the one before. What a node finds at its start happened before its
//! time and does not count.

use super::histogram::Histogram;
use super::hosted::STARTS;
use super::text::Text;
use gridbay_core::key::OrderKey;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// An order at one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// When the node took it, milliseconds since 1970.
    pub(super) accepted_ms: u64,
    /// First instruction of any of its tasks, likewise; 0 if none.
    pub(super) started_ms: u64,
    /// Leases lost so far.
    pub(super) lost: u32,
    /// The name of its state, if that is the last one.
    pub(super) ended: Option<&'static str>,
}

/// Own orders.
#[derive(Debug)]
pub(super) struct Orders {
    delay: Histogram,
    lost: AtomicU64,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// The orders at the last block; `None` before the first look.
    seen: Option<Arc<BTreeMap<OrderKey, Look>>>,
    ended: BTreeMap<&'static str, u64>,
}

impl Default for Orders {
    fn default() -> Orders {
        Orders {
            delay: Histogram::new(STARTS),
            lost: AtomicU64::new(0),
            inner: Mutex::default(),
        }
    }
}

impl Orders {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The orders at the last block.
    pub(super) fn seen(&self) -> Arc<BTreeMap<OrderKey, Look>> {
        self.lock().seen.clone().unwrap_or_default()
    }

    /// Takes the orders of now.
    pub(super) fn look(&self, now: BTreeMap<OrderKey, Look>) {
        let now = Arc::new(now);
        let mut inner = self.lock();
        let Some(before) = inner.seen.replace(Arc::clone(&now)) else {
            return;
        };
        for (key, look) in now.iter() {
            let was = before.get(key);
            let lost = look.lost.saturating_sub(was.map_or(0, |was| was.lost));
            self.lost.fetch_add(u64::from(lost), Relaxed);
            let waited = was.is_none_or(|was| was.started_ms == 0);
            if waited && look.started_ms > 0 {
                let delay = look.started_ms.saturating_sub(look.accepted_ms);
                self.delay.observe(Duration::from_millis(delay));
            }
            let went_on = was.is_none_or(|was| was.ended.is_none());
            if let Some(end) = look.ended.filter(|_| went_on) {
                *inner.ended.entry(end).or_default() += 1;
            }
        }
    }

    /// All last states are told, those that none has come to as well.
    pub(super) fn metrics(&self, text: &mut Text, last: &[&'static str]) {
        text.times("gridbay_orders_start_delay_seconds", &self.delay);
        let lost = self.lost.load(Relaxed);
        text.value("gridbay_orders_leases_lost_total", lost);
        let ended = self.lock().ended.clone();
        let of = |state: &&'static str| (*state, ended.get(state).copied().unwrap_or(0));
        text.by(("gridbay_orders_ended_total", "state"), last.iter().map(of));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_happens_between_two_looks_counts() {
        let orders = Orders::default();
        let look = |started_ms, lost, ended| Look {
            accepted_ms: 1_000,
            started_ms,
            lost,
            ended,
        };
        let done = Some("done");
        let old = (OrderKey(1), look(5_000, 3, done));
        orders.look([old, (OrderKey(2), look(0, 0, None))].into());
        orders.look([old, (OrderKey(2), look(3_500, 2, None))].into());
        // One that comes and ends between two looks, and one that is forgotten.
        let quick = (OrderKey(3), look(1_250, 0, Some("failed")));
        orders.look([(OrderKey(2), look(3_500, 2, done)), quick].into());
        orders.look([(OrderKey(2), look(3_500, 2, done)), quick].into());
        let mut text = Text::default();
        orders.metrics(&mut text, &["done", "failed", "expired"]);
        for line in [
            "gridbay_orders_start_delay_seconds_sum 2.75",
            "gridbay_orders_start_delay_seconds_count 2",
            "gridbay_orders_leases_lost_total 2",
            "gridbay_orders_ended_total{state=\"done\"} 1",
            "gridbay_orders_ended_total{state=\"failed\"} 1",
            "gridbay_orders_ended_total{state=\"expired\"} 0",
        ] {
            assert!(text.0.lines().any(|l| l == line), "{line} in {}", text.0);
        }
    }
}
