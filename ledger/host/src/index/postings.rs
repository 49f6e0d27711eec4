//! Lines of history: of an account all, or its postings; of an order the postings about it.
//!
//! The record of an auction is a line of each account that takes part in it, and has megabytes
//! where thousands of orders stand: a question for postings does not read it.

use super::bundles::{self, Line};
use super::{EFFECT_BYTES, Index, key, place_of};
use crate::limits;
use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::payment::Posting;
use std::collections::BTreeMap;

/// Height and position of an effect.
pub(super) type Place = (u64, u32);

/// The key of a place.
pub(super) fn at(kind: u8, (height, position): Place) -> Vec<u8> {
    key(kind, &[&height.to_be_bytes(), &position.to_be_bytes()])
}

/// The key of a place among the postings about an order.
pub(super) fn about(order: &OrderId, (height, position): Place) -> Vec<u8> {
    let (height, position) = (height.to_be_bytes(), position.to_be_bytes());
    key(b'm', &[order.as_bytes(), &height, &position])
}

/// A row of effects: the place of the first, and all.
type Bundle = (Place, Vec<Vec<u8>>);

/// The effect at a place, if the row holds it.
fn within(((height, first), effects): &Bundle, place: Place) -> Option<&Vec<u8>> {
    let among = place.1.checked_sub(*first).filter(|_| place.0 == *height)?;
    effects.get(among as usize)
}

impl Index {
    /// The lines of an account before a place, latest first.
    pub(super) fn lines(&self, account: &AccountId, before: Place, limit: usize) -> Vec<Line> {
        let prefix = key(b'a', &[account.as_bytes()]);
        let (height, position) = (before.0.to_be_bytes(), before.1.to_be_bytes());
        let end = [&prefix[..], &height, &position].concat();
        let limit = limit.min(limits::HISTORY_ROWS);
        // Each has a line before that place at least: its first.
        let rows = self.rows.last(&prefix, &end, limit);
        let lines = rows.iter().filter_map(|(row, lines)| {
            let (height, _) = place_of(row.get(prefix.len()..)?)?;
            Some(bundles::lines(height, lines).rev())
        });
        let before = |line: &Line| line.place < before;
        lines.flatten().filter(before).take(limit).collect()
    }
    /// The canonical bytes of the effects at places, in their order.
    pub(super) fn bytes_at(&self, places: Vec<Place>) -> Vec<(Place, Vec<u8>)> {
        // Most places are in the same row as the one before.
        let mut row = ((0, 0), Vec::new());
        let found = places.into_iter().filter_map(|place| {
            if within(&row, place).is_none() {
                row = self.around(place)?;
            }
            Some((place, within(&row, place)?.clone()))
        });
        found.collect()
    }
    /// The effects at places, in their order.
    pub(super) fn effects_at(&self, places: impl Iterator<Item = Place>) -> Vec<(Place, Effect)> {
        let found = self.bytes_at(places.collect()).into_iter();
        let effect = |(place, bytes): (Place, Vec<u8>)| {
            Some((place, codec::decode(&bytes, EFFECT_BYTES).ok()?))
        };
        found.filter_map(effect).collect()
    }
    /// As [`Index::history`], but a line that moves no money has no posting.
    pub(crate) fn postings(
        &self,
        account: &AccountId,
        before: Place,
        limit: usize,
    ) -> Vec<(Place, Option<Posting>)> {
        let lines = self.lines(account, before, limit);
        let moving = lines.iter().filter(|line| line.is_posting);
        let postings = self.postings_at(moving.map(|line| line.place));
        let postings: BTreeMap<Place, Posting> = postings.into_iter().collect();
        let line = |line: &Line| (line.place, postings.get(&line.place).copied());
        lines.iter().map(line).collect()
    }
    /// The postings about an order before a place, latest first, at most `limit`.
    pub(crate) fn postings_about(
        &self,
        order: &OrderId,
        before: Place,
        limit: usize,
    ) -> Vec<(Place, Posting)> {
        let (first, end) = (about(order, (0, 0)), about(order, before));
        let limit = limit.min(limits::HISTORY_ROWS);
        let found = self.rows.last(&first, &end, limit);
        let prefix = 1 + order.as_bytes().len();
        let places = found
            .iter()
            .filter_map(|(row, _)| place_of(row.get(prefix..)?));
        self.postings_at(places)
    }
    /// The row that holds the effect at a place.
    fn around(&self, place: Place) -> Option<Bundle> {
        // The first key behind that of the place.
        let end = [&at(b'f', place)[..], &[0]].concat();
        let (key, row) = self.rows.last(&at(b'f', (place.0, 0)), &end, 1).pop()?;
        let effects = bundles::effects(&row).map(<[u8]>::to_vec);
        Some((place_of(key.get(1..)?)?, effects.collect()))
    }
    fn postings_at(&self, places: impl Iterator<Item = Place>) -> Vec<(Place, Posting)> {
        let effects = self.effects_at(places).into_iter();
        let posting = |(place, effect)| match effect {
            Effect::Posting(posting) => Some((place, posting)),
            _ => None,
        };
        effects.filter_map(posting).collect()
    }
}
