//! The layout of tables: how wide they may be, and what of them is wanted. It is a choice of the
//! whole process, made once from the command line.

use crate::terminal::Size;
use std::io;
use std::sync::OnceLock;

/// How tables are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Within so many columns: text that does not fit is cut, figures are not, ids are shown by
    /// their beginnings, and columns that matter less go.
    Within(usize),
    /// As wide as they are.
    Whole,
    /// Their first column alone, without its heading.
    Ids,
    /// Values separated by commas, with a line of headings (RFC 4180).
    Csv,
}

static CHOSEN: OnceLock<Layout> = OnceLock::new();

impl Layout {
    /// For people: within the width of the terminal, whole where the output is none.
    pub fn of_terminal() -> Layout {
        match Size::of(&io::stdout()).map(|size| usize::from(size.columns)) {
            Some(columns) if columns > 0 => Layout::Within(columns),
            _ => Layout::Whole,
        }
    }

    /// Makes it the process's; the first choice counts.
    pub fn choose(self) {
        let _ = CHOSEN.set(self);
    }

    /// The process's; whole if nothing was chosen.
    pub(crate) fn chosen() -> Layout {
        CHOSEN.get().copied().unwrap_or(Layout::Whole)
    }
}
