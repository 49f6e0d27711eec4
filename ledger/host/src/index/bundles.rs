//! Rows that hold several things of one block: lines of an account's history, or effects.
//!
//! 1. The key ends with the place of the first; those that follow in the block follow in the row.
//! 2. A line has [`LINE`] bytes: its position, and whether its effect is a posting. A row holds at
//!    most [`LINES`] lines.
//! 3. Effects stand with their lengths before them, without a gap between their positions. A row
//!    ends before the effect that would make it longer than [`ROW_BYTES`]; so a long one is by
//!    itself.
//! 4. What is at a place is in the last row that begins there or before.

use super::key;
use super::postings::{Place, at};
use crate::rows::Row;
use gridbay_protocol::ids::AccountId;

/// Bytes of a line.
const LINE: usize = 5;
/// Lines of a row.
const LINES: usize = 64;
/// Bytes of the effects of a row, unless it holds a single one: half a page of the file.
const ROW_BYTES: usize = 2 * 1024;

/// A line of an account's history: an effect that is not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) place: Place,
    pub(super) is_posting: bool,
}

/// The rows of an account's lines of one block, which are in order.
pub(super) fn of_lines(account: &AccountId, lines: &[Line]) -> Vec<Row> {
    let row = |lines: &[Line]| {
        let (height, first) = lines.first()?.place;
        let (height, first) = (height.to_be_bytes(), first.to_be_bytes());
        let bytes = |line: &Line| {
            let position = line.place.1.to_be_bytes();
            position.into_iter().chain([u8::from(line.is_posting)])
        };
        let key = key(b'a', &[account.as_bytes(), &height, &first]);
        Some((key, lines.iter().flat_map(bytes).collect()))
    };
    lines.chunks(LINES).filter_map(row).collect()
}

/// The lines of a row of a block.
pub(super) fn lines(height: u64, row: &[u8]) -> impl DoubleEndedIterator<Item = Line> {
    let (lines, _) = row.as_chunks::<LINE>();
    lines.iter().map(move |[a, b, c, d, is_posting]| Line {
        place: (height, u32::from_be_bytes([*a, *b, *c, *d])),
        is_posting: *is_posting == 1,
    })
}

/// The rows of a block's effects, given as their canonical bytes.
pub(super) fn of_effects(height: u64, effects: impl Iterator<Item = Vec<u8>>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (position, effect) in (0u32..).zip(effects) {
        let length = u32::try_from(effect.len()).expect("an effect is shorter than a block");
        let length = length.to_be_bytes();
        match rows.last_mut() {
            Some((_, row)) if row.len() + length.len() + effect.len() <= ROW_BYTES => {
                row.extend(length.into_iter().chain(effect));
            }
            _ => rows.push((
                at(b'f', (height, position)),
                [&length[..], &effect].concat(),
            )),
        }
    }
    rows
}

/// The effects of a row, as their canonical bytes.
pub(super) fn effects(mut row: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = row.split_first_chunk::<4>()?;
        let (effect, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        row = rest;
        Some(effect)
    })
}

#[cfg(test)]
mod tests {
    use super::super::place_of;
    use super::*;

    #[test]
    fn effects_come_out_of_rows_as_they_went_in() {
        let lengths = [3, 0, 700, 700, 700, 5000, 1, 2044, 2045, 2044, 4, 2036];
        let all: Vec<Vec<u8>> = lengths.iter().map(|n| vec![*n as u8; *n]).collect();
        let rows = of_effects(9, all.iter().cloned());
        let first = |row: &Row| place_of(&row.0[1..]).unwrap();
        let firsts: Vec<_> = rows.iter().map(|row| first(row).1).collect();
        assert_eq!(firsts, [0, 4, 5, 6, 7, 8, 9, 10]);
        for (key, row) in &rows {
            assert!(
                row.len() <= ROW_BYTES || effects(row).count() == 1,
                "{key:?}"
            );
        }
        let told: Vec<_> = rows.iter().flat_map(|(_, row)| effects(row)).collect();
        assert_eq!(told, all.iter().map(Vec::as_slice).collect::<Vec<_>>());
        assert_eq!(effects(&rows[0].1[..6]).count(), 0, "a torn row has less");
    }

    #[test]
    fn lines_come_out_of_rows_as_they_went_in() {
        let line = |n: u32| Line {
            place: (9, 7 * n),
            is_posting: n.is_multiple_of(3),
        };
        let all: Vec<Line> = (0..130).map(line).collect();
        let rows = of_lines(&AccountId([1; 32]), &all);
        assert_eq!(rows.len(), 3);
        assert_eq!(place_of(&rows[1].0[33..]), Some((9, 7 * 64)));
        let told: Vec<_> = rows.iter().flat_map(|(_, row)| lines(9, row)).collect();
        assert_eq!(told, all);
        assert!(of_lines(&AccountId([1; 32]), &[]).is_empty());
    }
}
