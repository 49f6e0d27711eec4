//! Tables of text: columns as wide as their widest cell, two spaces apart.

/// Where a column's cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Figures.
    Right,
}

/// A table in the making. Rows are cut or filled up to the number of columns.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with its headings.
    pub(crate) fn new(columns: &[(&'static str, Align)]) -> Table {
        Table {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }
    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut row: Vec<String> = cells.into_iter().take(self.columns.len()).collect();
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }
    /// The text: headings, then rows, each line ended, no blanks at line ends.
    pub(crate) fn render(&self) -> String {
        let width = |i: usize| {
            let cells = self.rows.iter().map(|row| row[i].chars().count());
            cells.chain([self.columns[i].0.chars().count()]).max()
        };
        let widths: Vec<usize> = (0..self.columns.len()).filter_map(width).collect();
        let headings = self.columns.iter().map(|(name, _)| name.to_uppercase());
        let mut text = self.line(headings, &widths);
        for row in &self.rows {
            text += &self.line(row.iter().cloned(), &widths);
        }
        text
    }
    fn line(&self, cells: impl Iterator<Item = String>, widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, (_, align)), width) in cells.zip(&self.columns).zip(widths) {
            let cell = match align {
                Align::Left => format!("{cell:<width$}  "),
                Align::Right => format!("{cell:>width$}  "),
            };
            line += &cell;
        }
        format!("{}\n", line.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&[("name", Align::Left), ("paid", Align::Right)]);
        table.row(["a".to_owned(), "1.25".to_owned()]);
        table.row(["longer".to_owned(), "10".to_owned()]);
        assert_eq!(table.render(), "NAME    PAID\na       1.25\nlonger    10\n");
    }

    #[test]
    fn letters_count_not_bytes_and_rows_are_made_to_fit() {
        let mut table = Table::new(&[("a", Align::Left), ("b", Align::Left)]);
        table.row(["éé".to_owned()]);
        table.row(["x".to_owned(), "y".to_owned(), "lost".to_owned()]);
        assert_eq!(table.render(), "A   B\néé\nx   y\n");
    }
}
