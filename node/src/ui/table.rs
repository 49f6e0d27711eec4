//! Tables: columns as wide as their widest cell, two spaces between them, laid out as the process
//! has chosen.

use super::{Layout, clean};

/// Stands for the rest of a text that was cut.
const CUT: char = '…';
/// A column of text is not cut below so many characters.
const NARROWEST: usize = 8;
/// Between two columns.
const GAP: usize = 2;

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
        self.laid_out(Layout::chosen())
    }
    fn laid_out(&self, layout: Layout) -> String {
        match layout {
            Layout::Within(columns) => self.aligned(&self.widths_within(columns)),
            Layout::Whole => self.aligned(&self.widths()),
            Layout::Ids => self.lines(|row| row.first().cloned().unwrap_or_default(), false),
            Layout::Csv => self.lines(csv, true),
        }
    }
    fn lines(&self, line: impl Fn(&[String]) -> String, has_heading: bool) -> String {
        let heading = has_heading.then(|| line(&self.names()));
        let rows = self.rows.iter().map(|row| line(row));
        heading
            .into_iter()
            .chain(rows)
            .map(|line| line + "\n")
            .collect()
    }
    fn names(&self) -> Vec<String> {
        let names = self.headings.iter().map(|h| h.trim_start_matches('>'));
        names.map(str::to_owned).collect()
    }
    /// As wide as the widest cells.
    fn widths(&self) -> Vec<usize> {
        let names = self.names();
        let width = |(i, name): (usize, &String)| {
            let cells = self.rows.iter().map(|row| row[i].chars().count());
            cells.chain([name.chars().count()]).max().unwrap_or(0)
        };
        names.iter().enumerate().map(width).collect()
    }
    /// The widest columns of text give way first. Figures and the first column, which is an id, are
    /// of no use cut.
    fn widths_within(&self, columns: usize) -> Vec<usize> {
        let mut widths = self.widths();
        let all =
            |widths: &[usize]| widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        let gives = |i: &usize, widths: &[usize]| {
            *i > 0 && !self.headings[*i].starts_with('>') && widths[*i] > NARROWEST
        };
        while all(&widths) > columns {
            let text = (0..widths.len()).filter(|i| gives(i, &widths));
            let Some(widest) = text.max_by_key(|i| widths[*i]) else {
                break;
            };
            widths[widest] -= 1;
        }
        widths
    }
    fn aligned(&self, widths: &[usize]) -> String {
        let mut text = String::new();
        let heading = self.names();
        for row in std::iter::once(&heading).chain(&self.rows) {
            let mut line = String::new();
            for (i, cell) in row.iter().enumerate() {
                let gap = if i == 0 { "" } else { "  " };
                let width = widths[i];
                let cell = cut(cell, width);
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

/// The beginning of a text, with a mark if that is not all of it.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let begin = text.chars().take(width.saturating_sub(1));
    begin.chain([CUT]).collect()
}

/// One record.
fn csv(row: &[String]) -> String {
    super::csv::record(row.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs() -> Table {
        let mut table = Table::new(&["ID", "NAME", ">PAID", "SELLERS"]);
        let sellers = "uni-a,uni-b,uni-c".to_owned();
        table.row([
            "0123456789abcdef".into(),
            "a \"quick\" one".into(),
            "0.25".into(),
            sellers,
        ]);
        table
    }

    #[test]
    fn what_does_not_fit_is_cut_but_ids_and_figures() {
        let table = jobs();
        assert_eq!(
            table.laid_out(Layout::Within(80)),
            table.laid_out(Layout::Whole)
        );
        let narrow = table.laid_out(Layout::Within(46));
        assert_eq!(
            narrow,
            "ID                NAME        PAID  SELLERS\n\
             0123456789abcdef  a \"quick\"…  0.25  uni-a,uni…\n"
        );
        assert!(narrow.lines().all(|line| line.chars().count() <= 46));
        let least = table.laid_out(Layout::Within(5));
        assert!(
            least.contains("0123456789abcdef  a \"quic…  0.25  uni-a,u…"),
            "{least}"
        );
    }

    #[test]
    fn programs_get_ids_or_records() {
        let table = jobs();
        assert_eq!(table.laid_out(Layout::Ids), "0123456789abcdef\n");
        assert_eq!(
            table.laid_out(Layout::Csv),
            "ID,NAME,PAID,SELLERS\n\
             0123456789abcdef,\"a \"\"quick\"\" one\",0.25,\"uni-a,uni-b,uni-c\"\n"
        );
        assert_eq!(Table::new(&["ID"]).laid_out(Layout::Ids), "");
    }

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
