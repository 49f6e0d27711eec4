//! One look at a source: a head, and sheets of rows, all of it text.

use crate::ui::clean;

/// How the thing of a row is doing. Each mark has a sign, so that none is told by colour alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Nothing to say.
    #[default]
    Plain,
    /// It is as it should be.
    Good,
    /// It waits for something.
    Waiting,
    /// It failed, or is about to.
    Bad,
}

impl Mark {
    /// Its sign.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Mark::Plain => " ",
            Mark::Good => "+",
            Mark::Waiting => "~",
            Mark::Bad => "!",
        }
    }
}

/// All that a screen shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Lines above the sheets, each with its mark.
    pub head: Vec<(Mark, String)>,
    /// The sheets, of which one is shown at a time; the same ones in each look.
    pub sheets: Vec<Sheet>,
}

/// A table with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// Name of the view.
    pub name: &'static str,
    /// Headings; one that begins with `>` aligns its column to the right.
    pub headings: &'static [&'static str],
    /// Told when there are no rows.
    pub none: &'static str,
    /// The rows, in the source's own order.
    pub rows: Vec<Row>,
}

/// A row of a sheet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Tells it from the others, in this look and in later ones.
    pub(super) key: String,
    pub(super) mark: Mark,
    pub(super) cells: Vec<String>,
    pub(super) detail: Vec<(&'static str, String)>,
}

impl Look {
    /// Adds a line to the head.
    pub fn tell(&mut self, mark: Mark, line: impl AsRef<str>) {
        self.head.push((mark, clean(line.as_ref())));
    }
}

impl Row {
    /// A row; texts come from elsewhere, and lose what is not seen.
    pub fn new(key: impl Into<String>, cells: impl IntoIterator<Item = String>) -> Row {
        Row {
            key: key.into(),
            cells: cells.into_iter().map(|cell| clean(&cell)).collect(),
            ..Row::default()
        }
    }
    /// Its cells, in the order of the headings.
    pub fn cells(&self) -> &[String] {
        &self.cells
    }
    /// The same with a mark.
    #[must_use]
    pub fn marked(self, mark: Mark) -> Row {
        Row { mark, ..self }
    }
    /// The same with one more line of detail.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Row {
        self.detail.push((name, clean(&value.to_string())));
        self
    }
}
