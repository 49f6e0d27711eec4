//! A bid's way through the code, as `docs/ARCHITECTURE.md` tells it in a table.
//!
//! 1. A row is `| step | file | functions |`; the file exists and has these functions.
//! 2. No file has two rows. (A folder may come twice: a bid goes through the ledger in three
//!    blocks.)
//! 3. There are at most [`FILES`] rows.

use crate::files::Source;
use std::collections::BTreeSet;

/// Files that a bid passes between the command line and its payment, at the most.
const FILES: usize = 35;
/// The heading above the table.
const HEADING: &str = "## 6. The way of a bid";

/// The fault of the page's table.
pub(crate) fn check(page: &str, sources: &[Source]) -> Vec<String> {
    let Some((_, section)) = page.split_once(HEADING) else {
        return vec![format!("no heading `{HEADING}`")];
    };
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for line in section
        .lines()
        .filter(|line| line.starts_with('|') && line.contains(".rs`"))
    {
        let names: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        let Some((file, functions)) = names.split_first().filter(|(_, rest)| !rest.is_empty())
        else {
            findings.push(format!("no functions: {line}"));
            continue;
        };
        if !seen.insert(*file) {
            findings.push(format!("{file} has two rows"));
        }
        let Some(source) = sources.iter().find(|source| source.path == *file) else {
            findings.push(format!("{file} does not exist"));
            continue;
        };
        for function in functions {
            let declared = ["(", "<"].map(|next| format!("fn {function}{next}"));
            if !declared.iter().any(|text| source.text.contains(text)) {
                findings.push(format!("{file} has no function `{function}`"));
            }
        }
    }
    if seen.is_empty() || seen.len() > FILES {
        findings.push(format!("{} files, at most {FILES}", seen.len()));
    }
    findings
}

#[test]
fn a_way_that_is_not_there_is_found() {
    let sources = [Source::sample("a/src/x.rs", "fn go() {}\nfn on<T>() {}")];
    let table = |rows: &str| format!("{HEADING}\n\n{rows}\n## 7. Next\n| 1 | `b.rs` | `f` |");
    assert!(check(&table("| 1 | `a/src/x.rs` | `go`, `on` |"), &sources).is_empty());
    for (rows, finding) in [
        ("", "0 files"),
        ("| 1 | `a/src/y.rs` | `go` |", "does not exist"),
        ("| 1 | `a/src/x.rs` | `stop` |", "no function `stop`"),
        ("| 1 | `a/src/x.rs` | |", "no functions"),
        (
            "| 1 | `a/src/x.rs` | `go` |\n| 2 | `a/src/x.rs` | `go` |",
            "two rows",
        ),
    ] {
        let found = check(&table(rows), &sources);
        assert!(found.iter().any(|f| f.contains(finding)), "{found:?}");
    }
    assert!(!check("# A page", &sources).is_empty());
}
