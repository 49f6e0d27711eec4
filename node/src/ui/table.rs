//! Tables: columns as wide as their widest cell, two spaces between them, laid out as the process
//! has chosen.

use super::{Layout, clean};

/// Stands for the rest of a text that was cut.
const CUT: char = '…';
/// A column of text is not cut below so many characters.
const NARROWEST: usize = 8;
/// Between two columns.
const GAP: usize = 2;
/// Digits of an id by which jobs go; longer ones are shown by their beginning first of all.
const ID: usize = 16;
/// Digits that tell ids apart where there is no room.
const SHORT_ID: usize = 12;
/// Marks the heading of a column that goes where there is no room.
const OPTIONAL: char = '-';
/// Marks the heading of a column of figures.
const RIGHT: char = '>';

/// A column: its heading, and its cell for an item.
pub type Column<'a, T> = (&'static str, &'a dyn Fn(&T) -> String);

/// A table under construction. A heading that begins with `>` aligns its column to the right; with
/// `-` before that, the column is left out where the terminal is too narrow for all.
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
            Layout::Within(columns) => self.aligned(&self.fitted(columns)),
            Layout::Whole => self.aligned(&self.fitted(usize::MAX)),
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
        let names = self
            .headings
            .iter()
            .map(|h| h.trim_start_matches([OPTIONAL, RIGHT]));
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
    /// The columns that are shown within so many characters, and how wide each is.
    ///
    /// 1. A long id is shown by its beginning, which commands take as well.
    /// 2. The widest columns of text give way.
    /// 3. Shorter ids follow, then optional columns go, the leftmost first.
    ///
    /// Figures and names in the first column are of no use cut.
    fn fitted(&self, columns: usize) -> Vec<(usize, usize)> {
        let whole: Vec<(usize, usize)> = self.widths().into_iter().enumerate().collect();
        let mut shown = whole.clone();
        self.shorten_id(&mut shown, columns, ID);
        self.narrow(&mut shown, columns);
        self.shorten_id(&mut shown, columns, SHORT_ID);
        while total(&shown) > columns {
            let Some(goes) = shown
                .iter()
                .position(|(i, _)| is_optional(self.headings[*i]))
            else {
                break;
            };
            shown.remove(goes);
            // The columns that stay may have the room again.
            for column in shown.iter_mut().skip(1) {
                column.1 = whole[column.0].1;
            }
            self.narrow(&mut shown, columns);
        }
        shown
    }
    /// Shortens ids with more digits than `longest` in the first column if there is no room.
    fn shorten_id(&self, shown: &mut [(usize, usize)], columns: usize, longest: usize) {
        let is_id = |row: &Vec<String>| row[0].bytes().all(|b| b.is_ascii_hexdigit());
        let ids = self.rows.iter().all(is_id);
        if let (true, Some((_, width))) = (ids && total(shown) > columns, shown.first_mut())
            && *width > longest
        {
            *width = SHORT_ID;
        }
    }
    fn narrow(&self, shown: &mut [(usize, usize)], columns: usize) {
        while total(shown) > columns {
            let text = shown.iter_mut().skip(1);
            let text = text.filter(|(i, width)| !is_right(self.headings[*i]) && *width > NARROWEST);
            let Some((_, widest)) = text.max_by_key(|(_, width)| *width) else {
                break;
            };
            *widest -= 1;
        }
    }
    fn aligned(&self, shown: &[(usize, usize)]) -> String {
        let mut text = String::new();
        let heading = self.names();
        for row in std::iter::once(&heading).chain(&self.rows) {
            let mut line = String::new();
            for &(i, width) in shown {
                let gap = if i == 0 { "" } else { "  " };
                // The beginning of an id can be typed; with a mark it could not.
                let cell = match i {
                    0 => row[i].chars().take(width).collect(),
                    _ => cut(&row[i], width),
                };
                line += &if is_right(self.headings[i]) {
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

/// How wide columns are together.
fn total(shown: &[(usize, usize)]) -> usize {
    let widths: usize = shown.iter().map(|(_, width)| width).sum();
    widths + GAP * shown.len().saturating_sub(1)
}

/// Whether a column goes where there is no room.
fn is_optional(heading: &str) -> bool {
    heading.starts_with(OPTIONAL)
}

/// Whether a column is of figures.
fn is_right(heading: &str) -> bool {
    heading.trim_start_matches(OPTIONAL).starts_with(RIGHT)
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
            least.contains("0123456789ab  a \"quic…  0.25  uni-a,u…"),
            "{least}"
        );
    }

    #[test]
    fn long_ids_are_shortened_and_optional_columns_go() {
        let mut table = Table::new(&["AUCTION", "->SLOT", "KIND", "->UNITS", ">PAID"]);
        let id = "0123456789abcdef".repeat(4);
        table.row([
            id.clone(),
            "7".into(),
            "bid".into(),
            "12".into(),
            "0.5".into(),
        ]);
        let narrow = |columns| table.laid_out(Layout::Within(columns));
        assert_eq!(
            narrow(80),
            "AUCTION       SLOT  KIND  UNITS  PAID\n0123456789ab     7  bid      12   0.5\n"
        );
        assert_eq!(
            narrow(36),
            "AUCTION       KIND  UNITS  PAID\n0123456789ab  bid      12   0.5\n"
        );
        assert_eq!(
            narrow(9),
            "AUCTION       KIND  PAID\n0123456789ab  bid    0.5\n"
        );
        let whole = table.laid_out(Layout::Whole);
        assert!(whole.contains(&id) && whole.starts_with("AUCTION "));
        assert_eq!(
            table.laid_out(Layout::Ids),
            id + "\n",
            "programs get all of it"
        );
        assert!(
            table
                .laid_out(Layout::Csv)
                .starts_with("AUCTION,SLOT,KIND,UNITS,PAID\n")
        );
        // A name is no id.
        let mut names = Table::new(&["NAME", ">UNITS"]);
        names.row(["a-class-with-a-long-name".into(), "2".into()]);
        assert!(
            names
                .laid_out(Layout::Within(9))
                .contains("a-class-with-a-long-name")
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
