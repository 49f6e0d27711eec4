//! The pages of `docs/reference`, made of what the program knows of itself: its commands, settings,
//! metrics and errors. A page that differs fails; this writes them anew, after which the diff is
//! read:
//!
//! ```sh
//! REFERENCE=write cargo test -p gridbay-node --lib reference
//! ```

use super::Cli;
use super::exit::Exit;
use crate::api::ErrorCode;
use crate::config::schema::KEYS;
use crate::config::{self, Home};
use crate::metrics::CATALOGUE;
use clap::{Arg, Command, CommandFactory as _};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// Columns of prose.
const COLUMNS: usize = 100;

/// A page of the reference, as it should be.
fn holds(name: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/reference/{name}.md"));
    if env::var_os("REFERENCE").is_some_and(|word| word == "write") {
        fs::write(&path, made).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    let differs = there.lines().zip(made.lines()).find(|(is, be)| is != be);
    assert!(
        there == made,
        "docs/reference/{name}.md is stale, from {differs:?} on; \
         REFERENCE=write cargo test -p gridbay-node --lib reference"
    );
}

/// Words that Markdown would read as something else.
fn plain(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut plain = String::new();
    for (at, part) in words.split('`').enumerate() {
        if at > 0 {
            plain.push('`');
        }
        // A code span is shown as it is, but a bar ends a table's cell there, too.
        plain.push_str(&match at % 2 {
            0 => ['\\', '|', '<', '*', '[']
                .iter()
                .fold(part.to_owned(), |text, sign| {
                    text.replace(*sign, &format!("\\{sign}"))
                }),
            _ => part.replace('|', "\\|"),
        });
    }
    plain
}

/// A paragraph within the columns of a page.
fn paragraph(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("one is there");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > COLUMNS {
            lines.push(word.to_owned());
        } else {
            last.push_str(if last.is_empty() { "" } else { " " });
            last.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}

/// An option or operand, as it is typed.
fn typed(arg: &Arg) -> String {
    let names: Vec<&str> = arg
        .get_value_names()
        .unwrap_or_default()
        .iter()
        .map(|n| n.as_str())
        .collect();
    let value = names.join(" ");
    let short = arg.get_short().map(|short| format!("-{short}, "));
    match arg.get_long() {
        _ if arg.is_positional() => value,
        Some(long) if arg.get_action().takes_values() => {
            format!("{}--{long} {value}", short.unwrap_or_default())
        }
        Some(long) => format!("{}--{long}", short.unwrap_or_default()),
        None => short.unwrap_or_default().trim_end_matches(", ").to_owned() + " " + &value,
    }
}

/// Everything about an option in one cell.
fn about(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help());
    let mut about = plain(&help.map(ToString::to_string).unwrap_or_default());
    let choices = arg.get_possible_values();
    let choices: Vec<String> = choices
        .iter()
        .filter(|choice| !choice.is_hide_set() && arg.get_action().takes_values())
        .map(|choice| match choice.get_help() {
            Some(help) => format!("`{}` ({})", choice.get_name(), plain(&help.to_string())),
            None => format!("`{}`", choice.get_name()),
        })
        .collect();
    if !choices.is_empty() {
        let _ = write!(about, "; {}", choices.join(", "));
    }
    let defaults = arg.get_default_values();
    let defaults: Vec<String> = defaults
        .iter()
        .map(|d| d.to_string_lossy().into_owned())
        .collect();
    if !defaults.is_empty() && arg.get_action().takes_values() {
        let _ = write!(about, "; unless it is given: `{}`", defaults.join(" "));
    }
    if arg.is_required_set() {
        about.push_str("; needed");
    }
    about
}

fn rows<'a>(args: impl Iterator<Item = &'a Arg>) -> String {
    let shown = args.filter(|arg| !arg.is_hide_set());
    let rows = shown.map(|arg| {
        format!(
            "| `{}` | {} |\n",
            typed(arg).replace('|', "\\|"),
            about(arg)
        )
    });
    let rows: String = rows.collect();
    match rows.is_empty() {
        true => rows,
        false => format!("\n| option | what it does |\n|---|---|\n{rows}"),
    }
}

/// Whether an option is told once for all commands.
fn is_common(arg: &Arg) -> bool {
    arg.is_global_set() || ["help", "version"].contains(&arg.get_id().as_str())
}

fn section(path: &str, command: &Command, page: &mut String) {
    let level = if path.matches(' ').count() == 1 {
        "##"
    } else {
        "###"
    };
    let told = command.get_long_about().or(command.get_about());
    let told = told.map(ToString::to_string).unwrap_or_default();
    let told: Vec<String> = told
        .split("\n\n")
        .map(|part| paragraph(&plain(part)))
        .collect();
    let _ = write!(page, "\n{level} {path}\n\n{}", told.join("\n"));
    let own = command.get_arguments().filter(|arg| !is_common(arg));
    page.push_str(&rows(own));
    let below = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    for sub in below.filter(|sub| sub.get_name() != "help") {
        section(&format!("{path} {}", sub.get_name()), sub, page);
    }
}

#[test]
fn the_page_of_commands_is_theirs() {
    let mut root = Cli::command();
    root.build();
    let mut page = "# Commands\n\nEvery command of `gridbay`, made of what `--help` says.\n\n\
        ## Options of all commands\n"
        .to_owned();
    page.push_str(&rows(root.get_arguments().filter(|arg| is_common(arg))));
    let codes = root.get_after_help().map(ToString::to_string);
    let codes = plain(&codes.unwrap_or_default());
    let _ = write!(page, "\n## Exit codes\n\n{}", paragraph(&codes));
    let shown = root.get_subcommands().filter(|sub| !sub.is_hide_set());
    let mut count = 0;
    for sub in shown.filter(|sub| sub.get_name() != "help") {
        section(&format!("gridbay {}", sub.get_name()), sub, &mut page);
        count += 1;
    }
    assert!(count > 15, "only {count} commands");
    holds("commands", &page);
}

#[test]
fn the_page_of_settings_is_theirs() {
    // Not `~` at once: a home is made absolute, and each machine's is another.
    let somewhere = "/srv/gridbay";
    let example = config::example(&Home::new(somewhere)).replace(somewhere, "~/.gridbay");
    let about = paragraph(
        "A node's settings are in `gridbay.toml` in its data folder. Each has the same name \
        everywhere: `api.listen` in the file, `GRIDBAY_API_LISTEN` in the environment, and `--set \
        api.listen=...` behind a command, which counts first. A list is separated by commas \
        outside of the file. `gridbay config show` tells every value and where it comes from.",
    );
    let file =
        "This file, as `gridbay config example` prints it, changes nothing until a `#` goes.";
    let mut page = format!("# Settings\n\n{about}\n{file}\n");
    assert!(KEYS.len() > 30, "only {} settings", KEYS.len());
    let _ = write!(page, "\n```toml\n{example}```\n");
    holds("settings", &page);
}

#[test]
fn the_page_of_metrics_is_theirs() {
    let mut page = "# Metrics\n\nEvery metric of `/metrics`. [Monitoring](../monitoring.md) says \
        which to watch, and has rules for\nalerts. Counters count from the start of the \
        node.\n\n| metric | kind | what it tells |\n|---|---|---|\n"
        .to_owned();
    for line in CATALOGUE.lines() {
        let mut words = line.splitn(3, ' ');
        let (name, kind, help) = (words.next(), words.next(), words.next());
        let (name, kind) = (name.unwrap(), kind.unwrap());
        let _ = writeln!(page, "| `{name}` | {kind} | {} |", plain(help.unwrap()));
    }
    assert!(page.lines().count() > 50);
    holds("metrics", &page);
}

/// What is said of each line of a source that `is` finds, in the comment above it.
fn said<T>(source: &str, is: impl Fn(&str) -> Option<T>) -> Vec<(T, String)> {
    let (mut all, mut above) = (Vec::new(), Vec::new());
    for line in source.lines().map(str::trim) {
        match (line.strip_prefix("/// "), is(line)) {
            (Some(words), _) => above.push(words),
            (None, Some(found)) => all.push((found, std::mem::take(&mut above).join(" "))),
            (None, None) => above.clear(),
        }
    }
    all
}

#[test]
fn the_page_of_errors_is_theirs() {
    let about = paragraph(
        "Every failure of the API, with the status of HTTP that its code decides and the exit code \
        with which a command of `gridbay` ends that meets it. The body of an answer is `{\"code\", \
        \"message\", \"hint\", \"details\"}`. A command tells on standard error what did not \
        happen, why, and what to try; with `-o json` it tells the same as one object with `exit`, \
        `what`, `why`, `next` and `details`. Where an order or another entry is refused, \
        `details.reason` is a word of [Refusals](../refusals.md).",
    );
    let mut page = format!(
        "# Errors\n\n{about}\n## Codes of the API\n\n\
        | code | status | exit code | meaning |\n|---|---|---|---|\n"
    );
    let source = include_str!("../../api/error.rs");
    let named = |line: &str| {
        let named = |code: &ErrorCode| line.ends_with(&format!(" = \"{}\",", code.name()));
        ErrorCode::ALL.into_iter().find(named)
    };
    let codes = said(source, named);
    let told: Vec<_> = codes.iter().map(|(code, _)| *code).collect();
    assert_eq!(told, ErrorCode::ALL, "each has its meaning");
    for (code, meaning) in &codes {
        let (name, status) = (code.name(), code.status());
        let reason = status.canonical_reason().unwrap_or_default();
        let (status, exit) = (status.as_u16(), Exit::of(*code).0);
        let meaning = plain(meaning);
        let _ = writeln!(
            page,
            "| `{name}` | {status} {reason} | {exit} | {meaning} |"
        );
    }
    page.push_str("\n## Exit codes\n\n| exit code | meaning | codes of the API |\n|---|---|---|\n");
    let number = |line: &str| {
        let (_, rest) = line.split_once(": Exit = Exit(")?;
        rest.strip_suffix(");")?.parse().ok().map(Exit)
    };
    let exits = said(include_str!("../exit.rs"), number);
    for (exit, meaning) in &exits {
        let of = codes.iter().filter(|(code, _)| Exit::of(*code) == *exit);
        let of: Vec<_> = of.map(|(code, _)| format!("`{}`", code.name())).collect();
        let (of, meaning) = (of.join(", "), plain(meaning));
        let _ = writeln!(page, "| {} | {meaning} | {of} |", exit.0);
    }
    for (code, meaning) in &codes {
        assert!(!meaning.is_empty(), "{} has no meaning", code.name());
        let exit = Exit::of(*code);
        assert!(exits.iter().any(|(there, _)| *there == exit), "{}", exit.0);
    }
    holds("errors", &page);
}
