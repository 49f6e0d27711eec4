//! The summary of a batch for people: tables of three columns, at most 100 characters wide.

use super::{Cover, KINDS, UNREACHED};
use std::fmt;

/// Columns of a table.
const COLUMNS: usize = 3;
/// Characters of a row at the most.
const WIDTH: usize = 100;
/// Characters of a cell; a row is indented by two.
const CELL: usize = 31;

impl fmt::Display for Cover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        table(
            f,
            "Faults injected",
            self.counts.iter().map(|(k, n)| (*k, *n)),
        )?;
        table(
            f,
            "Deeds of users",
            self.deeds.iter().map(|(k, n)| (*k, *n)),
        )?;
        table(f, "Lies", self.lies.iter().map(|(k, n)| (*k, *n)))?;
        for (kind, variants) in KINDS {
            let rows = variants.iter().map(|variant| {
                let count = self.seen.get(&(*kind, *variant)).copied();
                (*variant, count.unwrap_or(0))
            });
            let rows = rows.filter(|(variant, n)| {
                *n > 0 || !super::is_listed(super::UNREACHED, &(kind, variant))
            });
            table(f, kind, rows)?;
        }
        writeln!(f, "Out of reach")?;
        for (kind, variant, why) in UNREACHED {
            writeln!(f, "  {kind}::{variant}: {why}")?;
        }
        list(f, "Never occurred", &self.missing())?;
        list(f, "Occurred out of reach", &self.unexpected())
    }
}

fn table<'a>(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    rows: impl Iterator<Item = (&'a str, u64)>,
) -> fmt::Result {
    writeln!(f, "{title}")?;
    let cells = rows.map(|(name, count)| {
        let room = CELL.saturating_sub(name.len() + 1);
        format!("{name} {count:>room$}")
    });
    let cells: Vec<String> = cells.collect();
    for row in cells.chunks(COLUMNS) {
        writeln!(f, "  {}", row.join("  "))?;
    }
    Ok(())
}

fn list(f: &mut fmt::Formatter<'_>, title: &str, items: &[String]) -> fmt::Result {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(f, "{title}")?;
    let mut row = String::new();
    for item in items {
        // An item may be longer than its cell.
        if row.len() + 2 + item.len() > WIDTH {
            writeln!(f, "{}", row.trim_end())?;
            row.clear();
        }
        row += &format!("  {item:<CELL$}");
    }
    writeln!(f, "{}", row.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Items(Vec<String>);

    impl fmt::Display for Items {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            list(f, "Listed", &self.0)
        }
    }

    #[test]
    fn a_summary_is_narrow_and_names_what_is_missing() {
        let mut cover = Cover::default();
        cover.count("power loss with a torn tail");
        cover.counts.insert("message lost", 123_456_789);
        let text = cover.to_string();
        assert!(
            text.lines().all(|line| line.chars().count() <= WIDTH),
            "{text}"
        );
        assert!(text.contains("123456789"));
        assert!(text.contains("Refusal::Funds"));
        let long = vec![
            "a".repeat(31),
            "b".repeat(40),
            "c".repeat(40),
            "d".to_owned(),
        ];
        let shown = Items(long).to_string();
        let lengths: Vec<usize> = shown.lines().map(str::len).collect();
        assert_eq!(lengths, [6, 75, 45], "{shown}");
    }
}
