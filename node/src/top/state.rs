//! The state of the screen, and the effect of keys and the mouse on it.

use super::look::{Look, Row, Sheet};
use super::order::{Sort, shown};
use super::places::{MARGIN, Places, columns, tabs};
use super::told::{Told, about, hidden, keys};
use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::{Position, Rect};

/// Characters of a filter at the most.
const FILTER: usize = 64;
/// Rows that a turn of the wheel moves.
const TURN: isize = 3;

/// Shown in place of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Over {
    /// Nothing.
    #[default]
    Nothing,
    /// The detail of the chosen row, so many lines of it scrolled away.
    Detail(u16),
    /// The list of keys, likewise.
    Help(u16),
    /// Nothing, but keys change the filter.
    Filter,
}

/// How a sheet is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    /// Key of the chosen row; `None` until one was chosen.
    chosen: Option<String>,
    /// Its place when it was last seen, for when it goes.
    near: usize,
    /// Rows that are scrolled away.
    pub(super) first: usize,
    pub(super) sort: Option<Sort>,
    pub(super) filter: String,
}

/// The whole state of a screen.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) look: Look,
    /// The sheet that is shown.
    pub(super) at: usize,
    views: Vec<View>,
    pub(super) over: Over,
    /// Why the last look failed, and since when.
    pub(super) lost: Option<(String, String)>,
    /// Whether nothing was seen yet.
    pub(super) waiting: bool,
    pub(super) screen: Rect,
    /// Whether it was left.
    pub(super) left: bool,
}

impl State {
    /// Of a screen of this size, before the first look.
    pub(super) fn new(columns: u16, rows: u16) -> State {
        State {
            screen: Rect::new(0, 0, columns, rows),
            waiting: true,
            ..State::default()
        }
    }

    /// A look has succeeded.
    pub(super) fn saw(&mut self, look: Look) {
        self.views.resize_with(look.sheets.len(), View::default);
        self.at = self.at.min(look.sheets.len().saturating_sub(1));
        self.look = look;
        (self.lost, self.waiting) = (None, false);
        self.settle();
    }

    /// A look has failed; what was seen before stays.
    pub(super) fn missed(&mut self, why: &str, now: &str) {
        let since = self.lost.take().map(|(_, since)| since);
        let since = since.unwrap_or_else(|| now.to_owned());
        self.lost = Some((crate::ui::clean(why), since));
    }

    /// The sheet that is shown and how; `None` before the first look.
    pub(super) fn sheet(&self) -> Option<(&Sheet, &View)> {
        Some((self.look.sheets.get(self.at)?, self.views.get(self.at)?))
    }

    /// Its rows, filtered and in order.
    pub(super) fn rows(&self) -> Vec<&Row> {
        let rows = self
            .sheet()
            .map(|(sheet, view)| shown(sheet, &view.filter, view.sort));
        rows.unwrap_or_default()
    }

    /// The place of the chosen row among them.
    pub(super) fn chosen(&self) -> usize {
        let (rows, view) = (self.rows(), self.views.get(self.at));
        let key = view.and_then(|view| view.chosen.as_ref());
        let found = key.and_then(|key| rows.iter().position(|row| row.key == *key));
        let near = view.map_or(0, |view| view.near);
        found.unwrap_or(near).min(rows.len().saturating_sub(1))
    }

    /// All about the chosen row; nothing where there is none.
    pub(super) fn detail(&self) -> Vec<Told> {
        let rows = self.rows();
        let row = rows.get(self.chosen());
        let all = self.sheet().zip(row);
        all.map_or_else(Vec::new, |((sheet, _), row)| about(sheet, row))
    }

    /// Where things are.
    pub(super) fn places(&self) -> Places {
        Places::of(self.screen, self.look.head.len())
    }

    /// Something happened at the terminal.
    pub(super) fn act(&mut self, event: &Event) {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key),
            Event::Mouse(mouse) => self.mouse(*mouse),
            Event::Resize(columns, rows) => self.screen = Rect::new(0, 0, *columns, *rows),
            _ => {}
        }
        self.settle();
    }

    fn key(&mut self, key: &KeyEvent) {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            self.left |= key.code == KeyCode::Char('c');
            return;
        }
        if self.over == Over::Filter {
            return self.filter(key.code);
        }
        match key.code {
            KeyCode::Char('q') => self.left = true,
            KeyCode::Esc => self.back(),
            KeyCode::Char('?') => self.over = Over::Help(0),
            KeyCode::Tab | KeyCode::Right | KeyCode::Char('l') => self.turn(1),
            KeyCode::BackTab | KeyCode::Left | KeyCode::Char('h') => self.turn(-1),
            KeyCode::Char(digit @ '1'..='9') => self.open(digit as usize - '1' as usize),
            KeyCode::Enter => self.enter(),
            KeyCode::Char('/') => self.over = Over::Filter,
            KeyCode::Char('s') => self.sort_next(),
            KeyCode::Char('r') => self.reverse(),
            KeyCode::Up | KeyCode::Char('k') => self.move_by(-1),
            KeyCode::Down | KeyCode::Char('j') => self.move_by(1),
            KeyCode::PageUp => self.move_by(-self.page()),
            KeyCode::PageDown => self.move_by(self.page()),
            KeyCode::Home | KeyCode::Char('g') => self.move_by(isize::MIN),
            KeyCode::End | KeyCode::Char('G') => self.move_by(isize::MAX),
            _ => {}
        }
    }

    /// A key while the filter is typed.
    fn filter(&mut self, code: KeyCode) {
        let Some(view) = self.views.get_mut(self.at) else {
            self.over = Over::Nothing;
            return;
        };
        match code {
            KeyCode::Enter => self.over = Over::Nothing,
            KeyCode::Esc => {
                view.filter.clear();
                self.over = Over::Nothing;
            }
            KeyCode::Backspace => drop(view.filter.pop()),
            KeyCode::Char(c) if view.filter.chars().count() < FILTER => view.filter.push(c),
            _ => {}
        }
    }

    /// Takes away what lies over the list, or else the filter.
    fn back(&mut self) {
        if self.over == Over::Nothing
            && let Some(view) = self.views.get_mut(self.at)
        {
            view.filter.clear();
        }
        self.over = Over::Nothing;
    }

    fn turn(&mut self, by: isize) {
        let all = self.look.sheets.len().max(1);
        let next = self.at.wrapping_add_signed(by).wrapping_add(all) % all;
        self.open(next);
    }

    fn open(&mut self, sheet: usize) {
        if sheet < self.look.sheets.len() {
            self.at = sheet;
            self.over = Over::Nothing;
        }
    }

    fn enter(&mut self) {
        self.over = match self.over {
            Over::Nothing if !self.rows().is_empty() => Over::Detail(0),
            _ => Over::Nothing,
        };
    }

    /// Sorts by the next column; behind the last one by none.
    fn sort_next(&mut self) {
        let columns = self.sheet().map_or(0, |(sheet, _)| sheet.headings.len());
        if let Some(view) = self.views.get_mut(self.at) {
            let next = view.sort.map_or(0, |sort| sort.column + 1);
            view.sort = (next < columns).then_some(Sort {
                column: next,
                down: false,
            });
        }
    }

    /// Turns the order; the first column's, where there is none.
    fn reverse(&mut self) {
        if let Some(view) = self.views.get_mut(self.at) {
            view.sort = Some(match view.sort {
                Some(sort) => Sort {
                    down: !sort.down,
                    ..sort
                },
                None => Sort {
                    column: 0,
                    down: true,
                },
            });
        }
    }

    fn page(&self) -> isize {
        isize::try_from(self.places().rows().max(1)).unwrap_or(1)
    }

    /// Moves the chosen row, or scrolls what lies over the list.
    fn move_by(&mut self, by: isize) {
        let scrolled = |at: u16| {
            let at = isize::try_from(at).unwrap_or(0).saturating_add(by);
            u16::try_from(at.max(0)).unwrap_or(u16::MAX)
        };
        match self.over {
            Over::Detail(at) => self.over = Over::Detail(scrolled(at)),
            Over::Help(at) => self.over = Over::Help(scrolled(at)),
            Over::Nothing | Over::Filter => {
                let last = self.rows().len().saturating_sub(1);
                let to = self.chosen().saturating_add_signed(by).min(last);
                self.choose(to);
            }
        }
    }

    fn choose(&mut self, to: usize) {
        let key = self.rows().get(to).map(|row| row.key.clone());
        if let Some(view) = self.views.get_mut(self.at) {
            (view.chosen, view.near) = (key, to);
        }
    }

    fn mouse(&mut self, mouse: MouseEvent) {
        match mouse.kind {
            MouseEventKind::ScrollUp => self.move_by(-TURN),
            MouseEventKind::ScrollDown => self.move_by(TURN),
            MouseEventKind::Down(MouseButton::Left) => {
                self.click(Position::new(mouse.column, mouse.row));
            }
            _ => {}
        }
    }

    fn click(&mut self, at: Position) {
        let places = self.places();
        if places.tabs.contains(at) {
            let names: Vec<&str> = self.look.sheets.iter().map(|sheet| sheet.name).collect();
            let hit = tabs(&names, self.at);
            let hit = hit
                .iter()
                .position(|(_, from, to)| (*from..*to).contains(&at.x));
            hit.into_iter().for_each(|sheet| self.open(sheet));
        } else if !matches!(self.over, Over::Nothing | Over::Filter) {
            self.over = Over::Nothing;
        } else if places.list.contains(at) && at.y == places.list.y {
            self.sort_at(at.x - places.list.x, places.list.width);
        } else if places.list.contains(at) {
            let first = self.sheet().map_or(0, |(_, view)| view.first);
            let hit = first + usize::from(at.y - places.list.y - 1);
            if hit >= self.rows().len() {
                return;
            }
            match hit == self.chosen() {
                true => self.enter(),
                false => self.choose(hit),
            }
        }
    }

    /// Sorts by the column whose heading was hit; a second time the other way round.
    fn sort_at(&mut self, x: u16, list: u16) {
        let Some((sheet, view)) = self.sheet() else {
            return;
        };
        let columns = columns(sheet, &self.rows(), list);
        let Some(column) = columns.iter().rposition(|(from, _)| *from <= x.max(MARGIN)) else {
            return;
        };
        let down = view.sort
            == Some(Sort {
                column,
                down: false,
            });
        self.views[self.at].sort = Some(Sort { column, down });
    }

    /// Keeps the chosen row on the screen, and its place in mind; scrolls no further than there is.
    fn settle(&mut self) {
        let (at, all, places) = (self.chosen(), self.rows().len(), self.places());
        let room = places.rows();
        if let Some(view) = self.views.get_mut(self.at) {
            view.near = at;
            let last = all.saturating_sub(room);
            view.first = view
                .first
                .min(at)
                .max((at + 1).saturating_sub(room))
                .min(last);
        }
        self.over = match self.over {
            Over::Detail(lines) => Over::Detail(lines.min(hidden(&self.detail(), places.whole()))),
            Over::Help(lines) => Over::Help(lines.min(hidden(&keys(), places.whole()))),
            over => over,
        };
    }
}
