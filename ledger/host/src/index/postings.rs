//! Lines of history: of an account all, or its postings; of an order the postings about it.
//!
//! The record of an auction is a line of each account that takes part in it, and has megabytes
//! where thousands of orders stand: a question for postings does not read it.

use super::{EFFECT_BYTES, Index, key, place_of};
use crate::limits;
use gridbay_protocol::codec;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::payment::Posting;
use std::collections::BTreeMap;

/// Height and position of an effect.
type Place = (u64, u32);

/// The key of a place.
pub(super) fn at(kind: u8, (height, position): Place) -> Vec<u8> {
    key(kind, &[&height.to_be_bytes(), &position.to_be_bytes()])
}

/// A line of history, its effect not read yet.
pub(super) struct Line {
    pub(super) place: Place,
    is_posting: bool,
}

impl Index {
    /// The lines of a key before a place, latest first.
    pub(super) fn lines(&self, kind: u8, of: &[u8; 32], before: Place, limit: usize) -> Vec<Line> {
        let prefix = key(kind, &[of]);
        let (height, position) = (before.0.to_be_bytes(), before.1.to_be_bytes());
        let end = key(kind, &[of, &height, &position]);
        let rows = self
            .rows
            .last(&prefix, &end, limit.min(limits::HISTORY_ROWS));
        let line = |(row, beside): &(Vec<u8>, Vec<u8>)| {
            Some(Line {
                place: place_of(row.get(prefix.len()..)?)?,
                is_posting: beside.is_empty(),
            })
        };
        rows.iter().filter_map(line).collect()
    }
    /// The canonical bytes of the effects at places, in their order.
    pub(super) fn bytes_at(&self, places: Vec<Place>) -> Vec<(Place, Vec<u8>)> {
        let rows: Vec<_> = places.iter().map(|place| at(b'f', *place)).collect();
        let found = places.into_iter().zip(self.rows.get_all(&rows));
        found
            .filter_map(|(place, bytes)| Some((place, bytes?)))
            .collect()
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
        let lines = self.lines(b'a', account.as_bytes(), before, limit);
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
        let lines = self.lines(b'm', order.as_bytes(), before, limit);
        self.postings_at(lines.iter().map(|line| line.place))
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
