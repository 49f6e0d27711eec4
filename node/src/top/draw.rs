//! A state becomes what is on the screen.

use super::look::{Mark, Sheet};
use super::order::Sort;
use super::places::{self, LEAST, columns, tabs, width};
use super::state::{Over, State, View};
use super::told::{Told, keys, laid};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

/// In the last line.
const HINTS: &str = "q leave  ? keys  Tab view  Enter all about it  / filter  s sort  r reverse";

/// How things look: with colours or without, each is told apart by signs as well.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    pub(super) colours: bool,
}

impl Theme {
    fn mark(self, mark: Mark) -> Style {
        let colour = match mark {
            Mark::Plain => return Style::new(),
            Mark::Good => Color::Green,
            Mark::Waiting => Color::Yellow,
            Mark::Bad => Color::Red,
        };
        let plain = match mark {
            Mark::Bad => Style::new().add_modifier(Modifier::BOLD),
            _ => Style::new(),
        };
        if self.colours {
            plain.fg(colour)
        } else {
            plain
        }
    }
}

const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
const DIM: Style = Style::new().add_modifier(Modifier::DIM);
const CHOSEN: Style = Style::new().add_modifier(Modifier::REVERSED);

/// Draws a state.
pub(super) fn draw(state: &State, theme: Theme, buffer: &mut Buffer) {
    let screen = state.screen.intersection(buffer.area);
    if screen.width < LEAST.0 || screen.height < LEAST.1 {
        let text = format!("{} by {} at least", LEAST.0, LEAST.1);
        text_at(buffer, screen, 0, &text, BOLD);
        return;
    }
    let places = state.places();
    for (at, (mark, line)) in (0..places.head.height).zip(&state.look.head) {
        let line = match mark {
            Mark::Plain => line.clone(),
            mark => format!("{} {line}", mark.sign()),
        };
        text_at(buffer, places.head, at, &line, theme.mark(*mark));
    }
    names(state, places.tabs, buffer);
    match state.over {
        Over::Help(scrolled) => lines(&keys(), places.whole(), scrolled, buffer),
        Over::Detail(scrolled) => detail(state, places.whole(), scrolled, buffer),
        Over::Nothing | Over::Filter => {
            list(state, places.list, theme, buffer);
            if let Some(side) = places.side {
                detail(state, side, 0, buffer);
            }
        }
    }
    foot(state, places.foot, theme, buffer);
}

fn names(state: &State, place: Rect, buffer: &mut Buffer) {
    let names: Vec<&str> = state.look.sheets.iter().map(|sheet| sheet.name).collect();
    for (index, (text, from, _)) in tabs(&names, state.at).into_iter().enumerate() {
        let style = if index == state.at { BOLD } else { DIM };
        text_at(buffer, right_of(place, from), 0, &text, style);
    }
}

fn list(state: &State, place: Rect, theme: Theme, buffer: &mut Buffer) {
    let Some((sheet, view)) = state.sheet() else {
        let text = if state.waiting { "looking ..." } else { "" };
        text_at(buffer, place, 0, text, DIM);
        return;
    };
    let rows = state.rows();
    let columns = columns(sheet, &rows, place.width);
    headings(sheet, view, &columns, place, buffer);
    if rows.is_empty() {
        let text = match view.filter.is_empty() {
            true => sheet.none,
            false => "no row has these words; Esc shows all",
        };
        text_at(buffer, right_of(place, 3), 1, text, Style::new());
    }
    let chosen = state.chosen();
    let room = usize::from(place.height.saturating_sub(1));
    let seen = rows.iter().enumerate().skip(view.first).take(room);
    for (line, (index, row)) in (1..).zip(seen) {
        let style = theme.mark(row.mark);
        let cursor = if index == chosen { ">" } else { " " };
        let margin = format!("{cursor}{}", row.mark.sign());
        text_at(buffer, place, line, &margin, style);
        for (column, (from, width)) in columns.iter().enumerate() {
            let Some(cell) = row.cells.get(column) else {
                continue;
            };
            let right = sheet.headings[column].starts_with('>');
            put(buffer, place, (*from, line), (cell, right), *width, style);
        }
        if index == chosen {
            let whole = Rect::new(place.x, place.y + line, place.width, 1);
            buffer.set_style(whole, CHOSEN);
        }
    }
}

fn headings(sheet: &Sheet, view: &View, columns: &[(u16, u16)], place: Rect, buffer: &mut Buffer) {
    for (column, (from, width)) in columns.iter().enumerate() {
        let heading = sheet.headings[column];
        let name = heading.trim_start_matches('>');
        let right = heading.starts_with('>');
        put(buffer, place, (*from, 0), (name, right), *width, BOLD);
        if let Some(Sort { down, .. }) = view.sort.filter(|sort| sort.column == column) {
            let sign = if down { "v" } else { "^" };
            let long = if right {
                *width
            } else {
                places::width(name).min(*width)
            };
            text_at(buffer, right_of(place, from + long), 0, sign, BOLD);
        }
    }
}

/// All about the chosen row.
fn detail(state: &State, place: Rect, scrolled: u16, buffer: &mut Buffer) {
    lines(&state.detail(), place, scrolled, buffer);
}

/// Names and values, so many lines of them scrolled away.
fn lines(all: &[Told], place: Rect, scrolled: u16, buffer: &mut Buffer) {
    let (name, shown) = laid(all, place);
    let seen = shown.iter().skip(usize::from(scrolled));
    for (line, (key, part)) in (0..place.height).zip(seen) {
        put(buffer, place, (0, line), (key, false), name, BOLD);
        text_at(buffer, right_of(place, name + 2), line, part, Style::new());
    }
}

/// The filter while it is typed, a lost node, or what keys there are.
fn foot(state: &State, place: Rect, theme: Theme, buffer: &mut Buffer) {
    let filter = state.sheet().map_or("", |(_, view)| view.filter.as_str());
    let (text, style) = match (&state.lost, state.over) {
        (_, Over::Filter) => (format!("filter: {filter}_"), BOLD),
        (Some((why, since)), _) => {
            let text = format!("! no answer since {since}, asking again: {why}");
            (text, theme.mark(Mark::Bad))
        }
        (None, _) if filter.is_empty() => (HINTS.to_owned(), DIM),
        (None, _) => (format!("filter: {filter}   Esc shows all   {HINTS}"), BOLD),
    };
    text_at(buffer, place, 0, &text, style);
}

/// The part of a place right of its first columns.
fn right_of(place: Rect, columns: u16) -> Rect {
    let columns = columns.min(place.width);
    Rect {
        x: place.x + columns,
        width: place.width - columns,
        ..place
    }
}

/// A text in a line of a place, cut at its edge.
fn text_at(buffer: &mut Buffer, place: Rect, line: u16, text: &str, style: Style) {
    if line < place.height {
        put(buffer, place, (0, line), (text, false), place.width, style);
    }
}

/// A text in so many columns, to the left or to the right; a mark stands for what is cut.
fn put(
    buffer: &mut Buffer,
    place: Rect,
    (x, y): (u16, u16),
    (text, right): (&str, bool),
    columns: u16,
    style: Style,
) {
    let columns = columns.min(place.width.saturating_sub(x));
    let long = width(text);
    let (left, top) = (place.x + x, place.y + y);
    if columns == 0 || !buffer.area.contains((left, top).into()) {
        return;
    }
    if long > columns {
        let room = usize::from(columns - 1);
        let (end, _) = buffer.set_stringn(left, top, text, room, style);
        buffer.set_stringn(end, top, "…", 1, style);
    } else {
        let from = if right { left + columns - long } else { left };
        buffer.set_stringn(from, top, text, usize::from(long), style);
    }
}
