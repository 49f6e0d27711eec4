//! Tables: columns as wide as their widest cell, two spaces between them.

use super::clean;

/// A column: its heading, and its cell for an item.
pub type Column<'a, T> = (&'static str, &'a dyn Fn(&T) -> String);

/// A table under construction. A heading that begins with `>` aligns its column to the right.
#[derive(Clone, Debug)]
pub struct Table {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub fn new(headings: &[&'static str]) -> Table {
        Table {
            headings: headings.to_vec(),
            rows: Vec::new(),
        }
    }
    /// The text of a table with a row for each item; a column is a heading and the cells below it.
    pub fn of<T>(items: &[T], columns: &[Column<'_, T>]) -> String {
        let headings: Vec<&str> = columns.iter().map(|(heading, _)| *heading).collect();
        let mut table = Table::new(&headings);
        for item in items {
            table.row(columns.iter().map(|(_, cell)| cell(item)));
        }
        table.render()
    }
    /// Adds a row; cells beyond the headings are dropped, missing ones are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut row: Vec<String> = cells.into_iter().map(|cell| clean(&cell)).collect();
        row.resize(self.headings.len(), String::new());
        self.rows.push(row);
    }
    /// The text, one line per row, headings first.
    pub fn render(&self) -> String {
        let names: Vec<&str> = self
            .headings
            .iter()
            .map(|h| h.trim_start_matches('>'))
            .collect();
        let width = |i: usize| {
            let cells = self.rows.iter().map(|row| row[i].chars().count());
            cells.chain([names[i].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..names.len()).map(width).collect();
        let mut text = String::new();
        let heading: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        for row in std::iter::once(&heading).chain(&self.rows) {
            let mut line = String::new();
            for (i, cell) in row.iter().enumerate() {
                let gap = if i == 0 { "" } else { "  " };
                let width = widths[i];
                line += &if self.headings[i].starts_with('>') {
                    format!("{gap}{cell:>width$}")
                } else {
                    format!("{gap}{cell:<width$}")
                };
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_control_characters_go() {
        let mut table = Table::new(&["NAME", ">UNITS", "NOTE"]);
        table.row(["a".into(), "1000000".into(), String::new()]);
        table.row(["long\u{1b}[2Jer".into(), "2".into(), "x".into()]);
        table.row(["short".into()]);
        assert_eq!(
            table.render(),
            concat!(
                "NAME          UNITS  NOTE\n",
                "a           1000000\n",
                "long\u{fffd}[2Jer        2  x\n",
                "short\n",
            )
        );
    }
    #[test]
    fn letters_count_not_bytes_and_rows_are_made_to_fit() {
        let mut table = Table::new(&["A", "B"]);
        table.row(["éé".to_owned()]);
        table.row(["x".to_owned(), "y".to_owned(), "lost".to_owned()]);
        assert_eq!(table.render(), "A   B\néé\nx   y\n");
    }
}
