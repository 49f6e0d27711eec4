//! Rules of the ledger are handed views of the tables that they may change (`ledger/src/view.rs`).
//! Only the code that runs the steps of a block may change the whole working set.

use crate::files::Source;

/// Files of the ledger that may name `&mut Work`, and why.
pub(crate) const MAY: &[(&str, &str)] = &[
    (
        "ledger/src/close.rs",
        "the order of steps after the entries",
    ),
    (
        "ledger/src/entry/mod.rs",
        "hands each kind of entry its view",
    ),
    ("ledger/src/entry/steps.rs", "a test that fills a state"),
    ("ledger/src/execute.rs", "the order of steps in a block"),
    (
        "ledger/src/sell/ausubel/mod.rs",
        "narrows its turn to a view",
    ),
    ("ledger/src/sell/buy/mod.rs", "narrows its turn to a view"),
    ("ledger/src/sell/buy/steps.rs", "a test that fills a state"),
    (
        "ledger/src/sell/deadline/mod.rs",
        "narrows its turn to a view",
    ),
    ("ledger/src/sell/hooks.rs", "the signatures of turns"),
    (
        "ledger/src/sell/reservation/mod.rs",
        "narrows its turn to a view",
    ),
    (
        "ledger/src/sell/posted/mod.rs",
        "narrows its turn to a view",
    ),
    ("ledger/src/sell/share/mod.rs", "narrows its turn to a view"),
    ("ledger/src/view.rs", "what the views hold"),
];

/// Lines elsewhere that do, and rows of the list that need not be there.
pub(crate) fn held(may: &[(&str, &str)], sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    let mut needed = Vec::new();
    let of_ledger = |source: &&Source| source.path.starts_with("ledger/src/");
    for source in sources.iter().filter(of_ledger) {
        let text = source.text.split("#[cfg(test)]\nmod tests {").next();
        let lines = text.unwrap_or_default().lines().enumerate();
        let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
        let names = |line: &str| line.contains("mut Work<") && line.contains('&');
        let named: Vec<usize> = code.filter(|(_, l)| names(l)).map(|(n, _)| n + 1).collect();
        if named.is_empty() {
            continue;
        }
        needed.push(source.path.as_str());
        if may.iter().all(|(path, _)| *path != source.path) {
            let place = |line| format!("{}:{line}: all rights; take a view", source.path);
            findings.extend(named.into_iter().map(place));
        }
    }
    let idle = may.iter().filter(|(path, _)| !needed.contains(path));
    findings.extend(idle.map(|(path, _)| format!("{path}: needs no row, it names no `&mut Work`")));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rights_in_a_rule_and_an_idle_row_are_found() {
        let sources = [
            Source::sample("ledger/src/a.rs", "fn f(work: &mut Work<'_>) {}"),
            Source::sample(
                "ledger/src/b.rs",
                "// &mut Work<'_>\nfn f(work: &Work<'_>) {}",
            ),
            Source::sample("ledger/src/c.rs", "\nfn g<'w>(work: &'w mut Work<'_>) {}"),
        ];
        let found = held(
            &[("ledger/src/a.rs", ""), ("ledger/src/b.rs", "")],
            &sources,
        );
        let expected = [
            "ledger/src/c.rs:2: all rights; take a view",
            "ledger/src/b.rs: needs no row, it names no `&mut Work`",
        ];
        assert_eq!(found, expected);
    }
}
