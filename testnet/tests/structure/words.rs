//! Words that must not stand in any text of the repository.
//!
//! 1. Marks of unfinished work: unfinished work belongs into an issue, not a comment.
//! 2. Absolute paths into somebody's machine.
//! 3. Package sources other than the public index, in the lock file or in a configuration.
//!
//! The words below are put together at compile time so that this file passes its own check.

use crate::files::Source;

const LOOSE_ENDS: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
];
const MACHINE_PATHS: &[&str] = &[
    concat!("/", "work/"),
    concat!("/", "root/"),
    concat!("/", "home/"),
    concat!("/", "Users/"),
];
const SOURCE_CHANGES: &[&str] = &[concat!("replace", "-with"), concat!("sparse", "+http")];
const PUBLIC_INDEX: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// All three rules over all texts.
pub(crate) fn check(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources {
        for (index, line) in source.text.lines().enumerate() {
            for word in forbidden_in(line) {
                findings.push(format!("{}:{}: {word}", source.path, index + 1));
            }
        }
    }
    findings
}

fn forbidden_in(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    found.extend(LOOSE_ENDS.iter().filter(|word| has_word(line, word)));
    found.extend(MACHINE_PATHS.iter().filter(|path| has_absolute(line, path)));
    found.extend(SOURCE_CHANGES.iter().filter(|word| line.contains(**word)));
    let source = line.trim().strip_prefix("source = \"registry+");
    if source.is_some() && !line.contains(PUBLIC_INDEX) {
        found.push("a package source other than the public index");
    }
    found
}

/// The word with no letter, digit or underscore on either side.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// The path at its root: `target/x/` and `{run}/x/` are relative to something, ` /x/y` is not.
fn has_absolute(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let opens = |c: char| c.is_whitespace() || "\"'`(<[=:,".contains(c);
        let before = &line[..at];
        let named = line[at + path.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '.');
        named && (before.is_empty() || before.ends_with(opens))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(line: &str) -> usize {
        check(&[Source::sample("a.md", line)]).len()
    }

    #[test]
    fn every_word_is_found() {
        for word in LOOSE_ENDS {
            assert_eq!(found_in(&format!("// {word}: later")), 1, "{word}");
            assert_eq!(found_in(&format!("{word}S")), 0, "{word}");
        }
    }

    #[test]
    fn every_machine_path_is_found_and_relative_ones_are_free() {
        for path in MACHINE_PATHS {
            assert_eq!(found_in(&format!("cd {path}someone")), 1, "{path}");
            assert_eq!(
                found_in(&format!("see target{path}someone and {path}")),
                0,
                "{path}"
            );
        }
    }

    #[test]
    fn other_package_sources_are_found() {
        for word in SOURCE_CHANGES {
            assert_eq!(found_in(&format!("{word} = 1")), 1, "{word}");
        }
        assert_eq!(
            found_in("source = \"registry+https://packages.example/index\""),
            1
        );
        assert_eq!(found_in(&format!("source = \"{PUBLIC_INDEX}\"")), 0);
    }
}
