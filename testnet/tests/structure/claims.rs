//! The claims of the documents, held against the tree.
//!
//! 1. `docs/dependencies.md` has one row with a reason for each third-party dependency of the
//!    workspace manifest, and no row beyond.
//! 2. A Rust file named in `docs/ARCHITECTURE.md` exists, unless the mark `(not yet)` follows it.
//! 3. Every cargo command in a block of the README's is one that `.ci/run` runs.

use std::collections::BTreeMap;

use crate::files::Source;
use crate::markdown::Page;

const LATER: &str = "(not yet)";

/// Rule 1.
pub(crate) fn dependencies(manifest: &str, page: &str) -> Vec<String> {
    let declared = declared_dependencies(manifest);
    let reasons = reasons(page);
    let mut findings = Vec::new();
    if declared.is_empty() {
        findings.push("Cargo.toml: no dependency found".to_owned());
    }
    for name in &declared {
        match reasons.get(name.as_str()) {
            None => findings.push(format!("{name}: no row in docs/dependencies.md")),
            Some(reason) if reason.split_whitespace().count() < 3 => {
                findings.push(format!("{name}: a row without a reason"));
            }
            Some(_) => {}
        }
    }
    let strangers = reasons
        .keys()
        .filter(|name| !declared.iter().any(|known| known == *name));
    findings.extend(strangers.map(|name| format!("{name}: a row, but no such dependency")));
    findings
}

/// Keys of `[workspace.dependencies]`, packages of this repository left out. An entry starts at the
/// first column; its further lines are indented or close a bracket.
fn declared_dependencies(manifest: &str) -> Vec<String> {
    let section = manifest
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1);
    let entries = section
        .take_while(|line| !line.starts_with("[w") && !line.starts_with("[p"))
        .filter(|line| line.starts_with(|c: char| c.is_ascii_alphanumeric()))
        .filter(|line| !line.contains("path = "));
    entries
        .filter_map(|line| line.split([' ', '=', '.']).next())
        .map(str::to_owned)
        .collect()
}

/// Rows ``| `name` | reason |``.
fn reasons(page: &str) -> BTreeMap<&str, &str> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split_once("` |"))
        .map(|(name, rest)| (name, rest.trim()))
        .collect()
}

/// Rule 2.
pub(crate) fn code_map(page: &str, sources: &[Source]) -> Vec<String> {
    let named = named_files(page);
    let mut findings = Vec::new();
    if named.is_empty() {
        findings.push("the page names no file".to_owned());
    }
    let claimed = named.into_iter().filter(|(_, later)| !later);
    let missing = claimed.filter(|(path, _)| !exists(path, sources));
    findings.extend(missing.map(|(path, _)| format!("{path} does not exist, and no {LATER}")));
    findings
}

/// Marks of rule 2 that can go because the file has arrived. They fail nothing.
pub(crate) fn stale_marks(page: &str, sources: &[Source]) -> Vec<String> {
    let arrived = named_files(page)
        .into_iter()
        .filter(|(path, later)| *later && exists(path, sources));
    arrived
        .map(|(path, _)| format!("{path} exists; its {LATER} can go"))
        .collect()
}

fn exists(path: &str, sources: &[Source]) -> bool {
    sources.iter().any(|source| source.path == path)
}

/// Paths between backticks that end in `.rs`, each with whether the mark follows.
fn named_files(page: &str) -> Vec<(&str, bool)> {
    let mut named = Vec::new();
    for line in page.lines() {
        let parts: Vec<&str> = line.split('`').collect();
        for (index, part) in parts.iter().enumerate().skip(1).step_by(2) {
            if part.ends_with(".rs") && part.contains('/') {
                let after = parts.get(index + 1).unwrap_or(&"");
                named.push((*part, after.trim_start().starts_with(LATER)));
            }
        }
    }
    named
}

/// Rule 3. The script may add options behind a command, as it does to keep the demo's report.
pub(crate) fn commands(readme: &str, script: &str) -> Vec<String> {
    let code = Page::parse(readme).code;
    let promised: Vec<_> = code
        .iter()
        .filter(|line| line.starts_with("cargo "))
        .collect();
    if promised.is_empty() {
        return vec!["README.md: no cargo command".to_owned()];
    }
    let missing = promised
        .into_iter()
        .filter(|command| !script.contains(command.trim()));
    missing
        .map(|command| format!(".ci/run does not run: {command}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[workspace]\n[workspace.dependencies]\nown = { path = \"own\" }\n\
        alpha = { version = \"1\", features = [\n  \"x\",\n] }\nbeta = \"2\"\n[workspace.lints.rust]\nc = \"d\"\n";

    #[test]
    fn a_missing_an_empty_and_a_needless_reason_are_found() {
        let good = "| `alpha` | what it is for |\n| `beta` | and this one too |\n";
        assert_eq!(dependencies(MANIFEST, good), Vec::<String>::new());
        let bad = "| `beta` | |\n| `gamma` | has a good reason |\n";
        assert_eq!(
            dependencies(MANIFEST, bad),
            [
                "alpha: no row in docs/dependencies.md",
                "beta: a row without a reason",
                "gamma: a row, but no such dependency",
            ]
        );
        assert_eq!(dependencies("", ""), ["Cargo.toml: no dependency found"]);
    }

    #[test]
    fn a_file_claimed_too_early_is_found() {
        let page = "`a/src/b.rs` and `a/src/c.rs` (not yet)";
        let b = Source::sample("a/src/b.rs", "");
        assert_eq!(
            code_map(page, std::slice::from_ref(&b)),
            Vec::<String>::new()
        );
        assert_eq!(
            code_map(page, &[]),
            ["a/src/b.rs does not exist, and no (not yet)"]
        );
        assert_eq!(code_map("no file", &[]).len(), 1);
        let c = Source::sample("a/src/c.rs", "");
        assert_eq!(
            stale_marks(page, &[b, c]),
            ["a/src/c.rs exists; its (not yet) can go"]
        );
    }

    #[test]
    fn a_command_that_nobody_runs_is_found() {
        let readme = "```sh\ncargo run -- demo\ncargo test\n```\n";
        assert_eq!(
            commands(readme, "cargo run -- demo --json x\ncargo test"),
            Vec::<String>::new()
        );
        assert_eq!(
            commands(readme, "cargo test"),
            [".ci/run does not run: cargo run -- demo"]
        );
        assert_eq!(commands("# Empty\n", ""), ["README.md: no cargo command"]);
    }
}
