//! Names with values in lines: all about a row, and the list of keys.

use super::look::{Row, Sheet};
use super::places::{width, wrapped};
use ratatui::layout::Rect;

/// Keys, and the effect of each.
const KEYS: [(&str, &str); 11] = [
    ("q, Ctrl-C", "leave"),
    ("?", "show this; Esc leads back"),
    ("Tab, Left, Right, 1 to 9", "show another view"),
    ("Up, Down, PgUp, PgDn, Home, End", "choose a row, or scroll"),
    ("Enter", "show all about the chosen row"),
    (
        "/",
        "show rows with these words alone; Enter keeps them, Esc drops them",
    ),
    (
        "s",
        "sort by the next column, behind the last one not at all",
    ),
    ("r", "sort the other way round"),
    (
        "mouse",
        "click a view, a heading or a row; click a row again for all about it",
    ),
    (
        "+ ~ !",
        "marks: as it should be, waits for something, failed or about to",
    ),
    (
        "> and ^ v",
        "the chosen row; the column sorted by, up or down",
    ),
];
/// A name with its value.
pub(super) type Told = (String, String);

/// The list of keys.
pub(super) fn keys() -> Vec<Told> {
    KEYS.map(|(key, what)| (key.to_owned(), what.to_owned()))
        .into()
}

/// The cells of a row by their headings, then what is known beyond them.
pub(super) fn about(sheet: &Sheet, row: &Row) -> Vec<Told> {
    let cells = sheet.headings.iter().zip(&row.cells).map(|(name, cell)| {
        let name = name.trim_start_matches('>').to_lowercase();
        (name, cell.clone())
    });
    let more = row.detail.iter();
    let more = more.map(|(name, value)| ((*name).to_owned(), value.clone()));
    cells.chain(more).collect()
}

/// Lines as wide as a place, and the columns of the names in them.
pub(super) fn laid(all: &[Told], place: Rect) -> (u16, Vec<(&str, String)>) {
    let name = all.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let name = name.min(place.width / 2);
    let room = place.width.saturating_sub(name + 2);
    let mut lines = Vec::new();
    for (key, value) in all {
        let parts = wrapped(value, room).into_iter().enumerate();
        lines.extend(parts.map(|(at, part)| (if at == 0 { key.as_str() } else { "" }, part)));
    }
    (name, lines)
}

/// Lines that can be scrolled away at the most: the last ones stay in sight.
pub(super) fn hidden(all: &[Told], place: Rect) -> u16 {
    let (_, lines) = laid(all, place);
    let hidden = lines.len().saturating_sub(usize::from(place.height));
    u16::try_from(hidden).unwrap_or(u16::MAX)
}
