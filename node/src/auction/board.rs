//! The board: the last auctions in short form, and the last price of every class.
//!
//! It lives outside the core thread, so that lists and price tags cost the core nothing. It is
//! filled from the host's index: at the start with all auctions there, then after every block with
//! the new ones, of which each is read and decoded once.

use super::recent::{Recent, Wanted};
use crate::api::types::{AuctionKind, AuctionSummary};
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::record::ausubel::ClearingRecord;
use gridbay_protocol::units::Credits;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Auctions kept; the oldest go first.
pub(crate) const KEPT: usize = 4_096;

/// The last sale of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Last {
    /// Mean price per node-hour.
    pub(crate) price: Credits,
    /// Height of its block.
    pub(crate) height: u64,
}

/// Place of an effect in the ledger: height, position in the block.
pub(crate) type Place = (u64, u32);

#[derive(Debug, Default)]
struct Inner {
    /// The latest place added.
    seen: Option<Place>,
    /// Ascending by place.
    lines: VecDeque<(Place, Vec<ClassId>, AuctionSummary)>,
    last: BTreeMap<ClassId, Last>,
    recent: BTreeMap<ClassId, Recent>,
}

/// The board.
#[derive(Debug, Default)]
pub(crate) struct Board {
    inner: Mutex<Inner>,
    /// Held by the one who fills it.
    pub(super) turn: tokio::sync::Mutex<()>,
}

impl Board {
    /// The latest place added, if there is one.
    pub(crate) fn seen(&self) -> Option<Place> {
        self.inner().seen
    }
    /// Adds auctions, ascending by place. Those added before are passed over.
    pub(crate) fn add(&self, auctions: Vec<(Place, Vec<ClassId>, AuctionSummary)>) {
        let mut inner = self.inner();
        for (place, classes, summary) in auctions {
            if inner.seen.is_some_and(|seen| seen >= place) {
                continue;
            }
            inner.seen = Some(place);
            // The price of a buy, a pool, a reservation or a hire is not that of a clearing.
            let cleared = matches!(summary.kind, AuctionKind::Boundary | AuctionKind::Free);
            if let Some(price) = summary.price.filter(|_| cleared) {
                let height = place.0;
                let last = Last { price, height };
                inner
                    .last
                    .extend(classes.iter().map(|class| (*class, last)));
            }
            inner.lines.push_back((place, classes, summary));
            if inner.lines.len() > KEPT {
                inner.lines.pop_front();
            }
        }
    }
    /// Adds clearings of classes, all newer than those that are here.
    pub(crate) fn keep(&self, newer: BTreeMap<ClassId, Recent>) {
        let mut inner = self.inner();
        for (class, newer) in newer {
            let older = inner.recent.remove(&class).unwrap_or_default();
            inner.recent.insert(class, newer.before(&older));
        }
    }
    /// The newest clearings of a class, to clear them again.
    pub(super) fn again(&self, class: &ClassId) -> Vec<Arc<ClearingRecord>> {
        let inner = self.inner();
        let recent = inner.recent.get(class);
        recent.map_or_else(Vec::new, |recent| recent.again.clone())
    }
    /// The last clearing of a class that had bids.
    pub(crate) fn wanted(&self, class: &ClassId) -> Option<Wanted> {
        self.inner().recent.get(class)?.wanted.clone()
    }
    /// The last clearing of a class that sold something.
    pub(crate) fn last(&self, class: &ClassId) -> Option<Last> {
        self.inner().last.get(class).copied()
    }
    /// Ids that begin so, two at the most.
    pub(crate) fn beginning(&self, text: &str) -> Vec<String> {
        let inner = self.inner();
        let ids = inner.lines.iter().map(|(_, _, summary)| &summary.id);
        ids.filter(|id| id.starts_with(text))
            .take(2)
            .cloned()
            .collect()
    }
    /// At most `limit` auctions, newest first; of one class if named.
    pub(crate) fn newest(&self, class: Option<&ClassId>, limit: usize) -> Vec<AuctionSummary> {
        let inner = self.inner();
        let wanted = inner
            .lines
            .iter()
            .rev()
            .filter(|(_, c, _)| class.is_none_or(|w| c.contains(w)));
        wanted
            .take(limit)
            .map(|(_, _, summary)| summary.clone())
            .collect()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auction::types::tests::{LARGE, SMALL, clearing, decision, lines};

    #[test]
    fn only_clearings_set_the_price_of_a_class() {
        let board = Board::default();
        board.add(lines(&[((16, 1), decision(SMALL, 16))]));
        assert!(board.last(&SMALL).is_none());
        board.add(lines(&[
            ((24, 0), clearing(SMALL, 24, 80)),
            ((32, 1), decision(SMALL, 32)),
        ]));
        assert_eq!(board.last(&SMALL).unwrap().height, 24);
        assert_eq!(board.newest(None, 9).len(), 3);
    }

    #[test]
    fn an_auction_is_found_by_how_its_id_begins() {
        let board = Board::default();
        board.add(lines(&[
            ((8, 0), clearing(SMALL, 8, 80)),
            ((16, 0), clearing(SMALL, 16, 80)),
        ]));
        let [newest, _] = &board.newest(None, 9)[..] else {
            panic!("two auctions")
        };
        let found = board.beginning(&newest.id[..16]);
        assert_eq!(found, std::slice::from_ref(&newest.id));
        assert_eq!(board.beginning("").len(), 2);
        assert!(board.beginning("x").is_empty());
    }

    #[test]
    fn the_board_keeps_the_newest_and_the_last_prices() {
        let board = Board::default();
        board.add(lines(&[
            ((8, 0), clearing(SMALL, 8, 80)),
            ((8, 1), clearing(LARGE, 8, 40)),
        ]));
        board.add(lines(&[
            ((8, 1), clearing(LARGE, 8, 40)),
            ((16, 0), clearing(SMALL, 16, 0)),
        ]));
        assert_eq!(board.seen(), Some((16, 0)));
        let heights = |class| {
            let newest = board.newest(class, 9);
            newest
                .iter()
                .map(|s| (s.class.clone(), s.height))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            heights(Some(&SMALL)),
            [("small".into(), 16), ("small".into(), 8)]
        );
        assert_eq!(heights(None).len(), 3, "nothing twice");
        assert_eq!(
            board.last(&SMALL).unwrap().height,
            8,
            "the later one sold nothing"
        );
        for height in 0..KEPT as u64 {
            board.add(lines(&[(
                (100 + height, 0),
                clearing(LARGE, 100 + height, 40),
            )]));
        }
        assert_eq!(board.newest(None, usize::MAX).len(), KEPT);
        assert!(board.last(&SMALL).is_some(), "a price outlives its line");
    }
}
