//! Spans that wait for the collector, and what became of the others.
//!
//! At most [`MOST`] wait. The oldest give way, and are counted: a collector that is away costs the
//! node neither time nor more memory than that.

use super::told::Told;
use opentelemetry_sdk::trace::SpanData;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Spans that wait at the most: some 4 MiB.
pub(super) const MOST: usize = 4_096;
/// Spans of one request at the most.
pub(super) const BATCH: usize = 256;

/// The queue.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    inner: Mutex<Inner>,
    turn: Notify,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Inner {
    waiting: VecDeque<SpanData>,
    /// Up to where the story went that made the last of them.
    told: Told,
}

/// Spans by what became of them, and requests that failed.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Spans that arrived.
    pub(super) sent: AtomicU64,
    /// Spans that the collector will not have.
    pub(super) refused: AtomicU64,
    /// Spans that gave way to others.
    pub(super) dropped: AtomicU64,
    /// Requests without an answer, or with one that means a later attempt.
    pub(super) failures: AtomicU64,
}

/// Spans to be sent together.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) spans: Vec<SpanData>,
    /// Up to where everything was told once they have arrived.
    pub(super) told: Option<Told>,
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Takes in the spans of a look.
    pub(super) fn push(&self, spans: Vec<SpanData>, told: Told) {
        if spans.is_empty() {
            return;
        }
        let mut inner = self.lock();
        inner.waiting.extend(spans);
        inner.told = told;
        let more = inner.waiting.len().saturating_sub(MOST);
        inner.waiting.drain(..more);
        drop(inner);
        let more = u64::try_from(more).unwrap_or(u64::MAX);
        self.counts.dropped.fetch_add(more, Relaxed);
        self.turn.notify_one();
    }
    /// Ready once something waits.
    pub(super) async fn filled(&self) {
        while self.waiting() == 0 {
            self.turn.notified().await;
        }
    }
    /// The oldest that wait; `None` if none do.
    pub(super) fn take(&self) -> Option<Batch> {
        let mut inner = self.lock();
        let most = inner.waiting.len().min(BATCH);
        let spans: Vec<SpanData> = inner.waiting.drain(..most).collect();
        let told = inner.waiting.is_empty().then_some(inner.told);
        (!spans.is_empty()).then_some(Batch { spans, told })
    }
    /// How many wait.
    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }
    /// What became of the others.
    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::trace::ids;
    use crate::trace::span::{Span, count};
    use gridbay_protocol::ids::OrderId;

    /// So many spans, told apart by a number.
    pub(crate) fn spans(numbers: std::ops::Range<usize>) -> Vec<SpanData> {
        let order = OrderId([7; 32]);
        let span = |number| {
            let id = ("order", ids::root(&order));
            let span = Span::new(&order, id, ids::root(&order), (1, 2));
            span.with("number", count(number)).done()
        };
        numbers.map(span).collect()
    }

    fn told(height: u64) -> Told {
        Told {
            height,
            ..Told::default()
        }
    }

    #[test]
    fn the_oldest_give_way_and_are_counted() {
        let outbox = Outbox::default();
        for n in 0..10 {
            outbox.push(spans(n * MOST..(n + 1) * MOST), told(n as u64));
            assert_eq!(outbox.waiting(), MOST);
        }
        outbox.push(spans(10 * MOST..10 * MOST + 7), told(10));
        assert_eq!(outbox.counts().dropped.load(Relaxed), 9 * MOST as u64 + 7);
        let first = outbox.take().unwrap();
        assert_eq!((first.spans.len(), first.told), (BATCH, None));
        assert_eq!(first.spans[0], spans(9 * MOST + 7..9 * MOST + 8)[0]);
    }

    #[test]
    fn the_last_batch_tells_up_to_where_all_was_told() {
        let outbox = Outbox::default();
        assert!(outbox.take().is_none());
        outbox.push(spans(0..BATCH + 1), told(3));
        outbox.push(Vec::new(), told(4));
        assert_eq!(outbox.take().unwrap().told, None);
        let last = outbox.take().unwrap();
        assert_eq!((last.spans.len(), last.told), (1, Some(told(3))));
        assert!(outbox.take().is_none());
    }
}
