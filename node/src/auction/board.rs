//! The board: the last auctions in short form, and the last price of every class.
//!
//! It lives outside the core thread, so that lists and price tags cost the core nothing. It is
//! filled from the host's index: at the start with all auctions there, then after every block with
//! the new ones, of which each is read and decoded once.

use super::recent::{Recent, Wanted};
use crate::api::Answer;
use crate::api::page::{self, Asked};
use crate::api::types::{AuctionKind, AuctionSummary};
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::record::ausubel::ClearingRecord;
use gridbay_protocol::units::Credits;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Auctions kept; the oldest go first.
pub(crate) const KEPT: usize = 4_096;

/// The key of a place in a list, ascending from the newest on.
pub(crate) fn key((height, position): Place) -> [u8; 12] {
    let mut key = [0; 12];
    key[..8].copy_from_slice(&(!height).to_be_bytes());
    key[8..].copy_from_slice(&(!position).to_be_bytes());
    key
}

/// The place of such a key.
pub(crate) fn place(key: [u8; 12]) -> Place {
    let (mut height, mut position) = ([0; 8], [0; 4]);
    height.copy_from_slice(&key[..8]);
    position.copy_from_slice(&key[8..]);
    (!u64::from_be_bytes(height), !u32::from_be_bytes(position))
}

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

    /// The part that is asked for of all auctions, newest first; of one class if named.
    ///
    /// # Errors
    /// What follows the place asked for has left the board.
    pub(super) fn page(
        &self,
        class: Option<&ClassId>,
        asked: &Asked,
    ) -> Answer<page::Page<AuctionSummary>> {
        let behind = asked.behind()?;
        let inner = self.inner();
        let oldest = inner.lines.front().map(|(place, ..)| key(*place));
        // A place is told only if something follows it, so that this one has left.
        if behind.is_some_and(|behind| oldest.is_none_or(|oldest| behind >= oldest)) {
            return Err(page::stale());
        }
        let wanted = inner.lines.iter().rev().filter(|(place, classes, _)| {
            class.is_none_or(|class| classes.contains(class))
                && behind.is_none_or(|behind| key(*place) > behind)
        });
        let lines = wanted.take(asked.most.saturating_add(1));
        let lines = lines.map(|(place, _, line)| (key(*place), line.clone()));
        let page = asked.cut(lines.collect(), |(key, _)| *key);
        Ok(page.map(|(_, line)| line))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ErrorCode;
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

    /// Ids of all auctions of a class, page by page; before each page so many newer ones come.
    fn walked(board: &Board, class: Option<&ClassId>, newer: u64) -> Vec<u64> {
        let (mut heights, mut after, mut next) = (Vec::new(), None, 1_000);
        loop {
            let asked = Asked::of(&["auctions"], Some(3), after.as_deref()).unwrap();
            let page = board.page(class, &asked).unwrap();
            heights.extend(page.lines.iter().map(|line| line.height));
            after = page.next;
            if after.is_none() {
                return heights;
            }
            for _ in 0..newer {
                board.add(lines(&[((next, 0), clearing(SMALL, next, 80))]));
                next += 1;
            }
        }
    }

    #[test]
    fn auctions_come_by_pages_also_while_new_ones_do() {
        let board = Board::default();
        for height in 1..=10 {
            let small = ((height, 0), clearing(SMALL, height, 80));
            board.add(lines(&[small, ((height, 1), clearing(LARGE, height, 40))]));
        }
        let all: Vec<_> = (1..=10).rev().collect();
        assert_eq!(walked(&board, Some(&LARGE), 0), all);
        assert_eq!(walked(&board, Some(&SMALL), 5), all);
        let twice: Vec<_> = (1..=10).rev().flat_map(|height| [height, height]).collect();
        let newest = board.newest(None, usize::MAX).len() - twice.len();
        assert_eq!(walked(&board, None, 0)[newest..], twice);
    }

    #[test]
    fn a_place_whose_followers_have_left_is_told_of() {
        let board = Board::default();
        board.add(lines(&[
            ((1, 0), clearing(SMALL, 1, 80)),
            ((2, 0), clearing(SMALL, 2, 80)),
        ]));
        let first = Asked::of(&["auctions"], Some(1), None).unwrap();
        let next = board.page(None, &first).unwrap().next.unwrap();
        let second = Asked::of(&["auctions"], Some(1), Some(&next)).unwrap();
        let page = board.page(None, &second).unwrap();
        assert_eq!((page.lines[0].height, page.next), (1, None));
        for height in 0..KEPT as u64 {
            let place = (100 + height, 0);
            board.add(lines(&[(place, clearing(LARGE, place.0, 40))]));
        }
        let error = board.page(None, &second).err().unwrap();
        assert_eq!(error.code, ErrorCode::Usage);
        assert!(error.message.contains("not kept"), "{error}");
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
