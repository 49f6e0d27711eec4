//! Every failure says what to do.

use super::told::{SOURCES, texts};

/// What makes a failure with its advice last.
const MAKERS: [&str; 3] = ["CliError::new(", "ApiError::new(", "usage("];
/// What a program is, without what tests it.
fn program(source: &str) -> &str {
    source.split("#[cfg(test)]").next().unwrap_or(source)
}

/// The failures of a source whose advice is empty.
fn silent(source: &str) -> Vec<&str> {
    let source = program(source);
    let made = MAKERS.iter().flat_map(|maker| {
        let at = source.match_indices(maker);
        at.map(|(at, _)| arguments(&source[at + maker.len()..]))
    });
    made.filter(|arguments| is_silent(arguments)).collect()
}

/// What stands before the parenthesis that closes.
fn arguments(text: &str) -> &str {
    let (mut depth, mut quoted, mut escaped) = (1, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[..at];
        }
    }
    text
}

fn is_silent(arguments: &str) -> bool {
    let arguments = arguments.trim_end().trim_end_matches(',');
    let before = arguments
        .strip_suffix("\"\"")
        .or_else(|| arguments.strip_suffix("String::new()"));
    before.is_some_and(|before| before.trim_end().ends_with(','))
}

#[test]
fn every_failure_says_what_to_do() {
    let (mut seen, mut wrong) = (0, Vec::new());
    for (path, text) in texts(&SOURCES, ".rs") {
        let path = path.display().to_string();
        // Files of tests and their samples.
        if path.contains("/tests") || path.ends_with("samples.rs") {
            continue;
        }
        let made = MAKERS
            .iter()
            .map(|maker| program(&text).matches(maker).count());
        seen += made.sum::<usize>();
        wrong.extend(silent(&text).iter().map(|made| format!("{path}: {made}")));
    }
    assert!(seen > 200, "only {seen} failures were found");
    assert!(wrong.is_empty(), "without advice:\n{}", wrong.join("\n"));
}

#[test]
fn a_failure_without_advice_is_found() {
    let source = r#"
        usage("a (b", ""); usage(format!("{a}"), "try \"x\"");
        CliError::new(Exit::FAILED, WHAT, error.to_string(), "",); ApiError::new(a, "", "mend");
        ApiError::new(a, why(1), String::new())
        #[cfg(test)] usage("", "")
    "#;
    let found = silent(source);
    assert_eq!(found.len(), 3, "{found:?}");
}
