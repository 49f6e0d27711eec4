//! The rows of a sheet that are shown, and their order.

use super::look::{Row, Sheet};
use std::cmp::Ordering;

/// A column to sort by, and in which direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sort {
    pub(super) column: usize,
    pub(super) down: bool,
}

/// The rows that hold each word of the filter, in any cell or letter case, in order.
pub(super) fn shown<'a>(sheet: &'a Sheet, filter: &str, sort: Option<Sort>) -> Vec<&'a Row> {
    let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
    let holds = |row: &Row| {
        let text = row.cells.join(" ").to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let mut rows: Vec<&Row> = sheet.rows.iter().filter(|row| holds(row)).collect();
    if let Some(Sort { column, down }) = sort {
        let cell = |row: &Row| row.cells.get(column).cloned().unwrap_or_default();
        rows.sort_by(|a, b| {
            let order = compare(&cell(a), &cell(b));
            if down { order.reverse() } else { order }
        });
    }
    rows
}

/// Figures by their size, behind all that is none.
fn compare(a: &str, b: &str) -> Ordering {
    match (figure(a), figure(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y).then_with(|| a.cmp(b)),
        (None, None) => a.cmp(b),
        (x, y) => x.is_some().cmp(&y.is_some()),
    }
}

/// The number that a cell begins with, if it is no more than that and a unit.
fn figure(cell: &str) -> Option<f64> {
    let number = cell.split(' ').next()?.trim_end_matches('%');
    number.parse().ok().filter(|n: &f64| n.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(cells: &[[&str; 2]]) -> Sheet {
        let row = |cells: &[&str; 2]| Row::new(cells[0], cells.map(str::to_owned));
        Sheet {
            name: "Things",
            headings: &["NAME", ">SIZE"],
            none: "nothing",
            rows: cells.iter().map(row).collect(),
        }
    }

    fn names(sheet: &Sheet, filter: &str, sort: Option<(usize, bool)>) -> String {
        let sort = sort.map(|(column, down)| Sort { column, down });
        let rows = shown(sheet, filter, sort).into_iter();
        rows.map(|row| row.key.clone())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn figures_go_by_size_and_text_by_letters() {
        let all = sheet(&[["b", "10 ms"], ["a", "9 ms"], ["d", "-"], ["c", "9.5"]]);
        assert_eq!(names(&all, "", None), "b a d c");
        assert_eq!(names(&all, "", Some((0, false))), "a b c d");
        assert_eq!(names(&all, "", Some((1, false))), "d a c b");
        assert_eq!(names(&all, "", Some((1, true))), "b c a d");
        assert_eq!(names(&all, "", Some((7, true))), "b a d c");
    }

    #[test]
    fn all_words_of_a_filter_must_be_there() {
        let all = sheet(&[["Ada", "small"], ["Bob", "small"], ["Ada2", "large"]]);
        assert_eq!(names(&all, "ada", None), "Ada Ada2");
        assert_eq!(names(&all, " SMALL  ada ", None), "Ada");
        assert_eq!(names(&all, "nobody", None), "");
    }
}
