//! Where on the screen things are: drawing and the mouse go by the same places.

use super::look::{Row, Sheet};
use ratatui::layout::Rect;
use ratatui::text::Span;

/// Smallest screen on which anything is shown.
pub(super) const LEAST: (u16, u16) = (40, 8);
/// From this width on the detail of a row stands beside the list.
const WIDE: u16 = 140;
/// Of a list and its detail, the part in percent that the list gets.
const LIST_PART: u16 = 62;
/// Lines of the head at the most.
const HEAD: u16 = 4;
/// A column of text is not cut below so many characters.
const NARROWEST: u16 = 8;
/// Between two columns.
const GAP: u16 = 2;
/// Before the first column: whether the row is chosen, and its mark.
pub(super) const MARGIN: u16 = 3;

/// The places of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) head: Rect,
    pub(super) tabs: Rect,
    /// The headings, and the rows below them.
    pub(super) list: Rect,
    /// The detail beside the list.
    pub(super) side: Option<Rect>,
    pub(super) foot: Rect,
}

impl Places {
    /// Of a screen whose head has so many lines.
    pub(super) fn of(screen: Rect, head: usize) -> Places {
        let most = screen.height.saturating_sub(LEAST.1 - 1).clamp(1, HEAD);
        let lines = u16::try_from(head).unwrap_or(HEAD).min(most);
        let line = |y: u16, height: u16| Rect {
            y: screen.y + y,
            height,
            ..screen
        };
        let list = line(lines + 1, screen.height.saturating_sub(lines + 2));
        let width = match screen.width {
            wide @ WIDE.. => (u32::from(wide) * u32::from(LIST_PART) / 100) as u16,
            narrow => narrow,
        };
        let side = (width < screen.width).then(|| Rect {
            x: list.x + width + 1,
            width: screen.width - width - 1,
            ..list
        });
        Places {
            head: line(0, lines),
            tabs: line(lines, 1),
            list: Rect { width, ..list },
            side,
            foot: line(screen.height.saturating_sub(1), 1),
        }
    }

    /// List and side together.
    pub(super) fn whole(&self) -> Rect {
        let side = self.side.map_or(0, |side| side.width + 1);
        Rect {
            width: self.list.width + side,
            ..self.list
        }
    }

    /// Rows that the list has room for.
    pub(super) fn rows(&self) -> usize {
        usize::from(self.list.height.saturating_sub(1))
    }
}

/// Where the name of a sheet stands in the line of names: its text, and its columns.
pub(super) fn tabs(names: &[&str], chosen: usize) -> Vec<(String, u16, u16)> {
    let mut at = 0;
    let place = |(index, name): (usize, &&str)| {
        let text = match index == chosen {
            true => format!("[{} {name}]", index + 1),
            false => format!(" {} {name} ", index + 1),
        };
        let from = at;
        at += width(&text);
        (text, from, at)
    };
    names.iter().enumerate().map(place).collect()
}

/// Where each column begins within the list, and its width. Text that is too wide is cut first,
/// then columns at the end are left out.
pub(super) fn columns(sheet: &Sheet, rows: &[&Row], list: u16) -> Vec<(u16, u16)> {
    let room = list.saturating_sub(MARGIN);
    let widest = |(column, heading): (usize, &&str)| {
        let cells = rows.iter().filter_map(|row| row.cells.get(column));
        let cells = cells.map(|cell| width(cell)).max().unwrap_or(0);
        cells.max(width(heading.trim_start_matches('>')))
    };
    let mut widths: Vec<u16> = sheet.headings.iter().enumerate().map(widest).collect();
    let gaps = |n: usize| GAP * u16::try_from(n.saturating_sub(1)).unwrap_or(0);
    let sum = |widths: &[u16]| {
        let all = widths
            .iter()
            .fold(0u16, |sum, width| sum.saturating_add(*width));
        all.saturating_add(gaps(widths.len()))
    };
    while sum(&widths) > room {
        let over = sum(&widths) - room;
        let text = |at: &usize| !sheet.headings[*at].starts_with('>');
        let widest = (0..widths.len())
            .filter(text)
            .filter(|at| widths[*at] > NARROWEST)
            .max_by_key(|at| widths[*at]);
        match widest {
            Some(at) => widths[at] = widths[at].saturating_sub(over).max(NARROWEST),
            None if widths.len() > 1 => drop(widths.pop()),
            None => widths[0] = room,
        }
    }
    let mut at = MARGIN;
    let place = |width: u16| {
        let from = at;
        at += width + GAP;
        (from, width)
    };
    widths.into_iter().map(place).collect()
}

/// Columns of the screen that a text takes.
pub(super) fn width(text: &str) -> u16 {
    u16::try_from(Span::raw(text).width()).unwrap_or(u16::MAX)
}

/// The text in lines of so many columns, broken between words where that is possible.
pub(super) fn wrapped(text: &str, columns: u16) -> Vec<String> {
    let columns = columns.max(2);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && width(&line) + 1 + width(word) > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for c in word.chars() {
            if width(&line) + width(c.encode_utf8(&mut [0; 4])) > columns {
                lines.push(std::mem::take(&mut line));
            }
            line.push(c);
        }
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(name: &str) -> Sheet {
        let cells = [name, "12", "fine", "0.5"].map(str::to_owned);
        Sheet {
            name: "Things",
            headings: &["NAME", ">SIZE", "STATE", ">PRICE"],
            none: "nothing",
            rows: vec![Row::new("a", cells)],
        }
    }

    fn places(name: &str, list: u16) -> Vec<(u16, u16)> {
        let sheet = sheet(name);
        let rows: Vec<&Row> = sheet.rows.iter().collect();
        columns(&sheet, &rows, list)
    }

    #[test]
    fn text_is_cut_before_columns_go() {
        let all = [(3, 4), (9, 4), (15, 5), (22, 5)];
        assert_eq!(places("a", 80), all);
        assert_eq!(places("a name of 20 letters", 40)[0], (3, 17));
        assert_eq!(places("a name of 20 letters", 30).len(), 3);
        assert_eq!(places("a name of 20 letters", 8), [(3, 5)]);
        assert_eq!(places("名前名前", 80)[0], (3, 8), "wide characters count");
    }

    #[test]
    fn a_screen_has_a_place_for_all() {
        for (width, height) in [LEAST, (80, 24), (200, 60), (1, 1)] {
            let screen = Rect::new(0, 0, width, height);
            let places = Places::of(screen, 3);
            assert_eq!(places.side.is_some(), width == 200);
            if height > 1 {
                let lines = places.head.height + 1 + places.list.height + 1;
                assert_eq!(lines, height, "{width} {height}");
                assert!(places.rows() > 0);
            }
        }
    }

    #[test]
    fn texts_break_between_words() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("", 8), [""]);
        assert_eq!(wrapped("0123456789ab", 5), ["01234", "56789", "ab"]);
        assert_eq!(wrapped("01234 56789", 5), ["01234", "56789"]);
    }
}
