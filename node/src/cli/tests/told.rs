//! Commands that pages and messages of the project name are real ones.
//!
//! - A command in a page, in a code block or between backticks, is parsed; placeholders, words in
//!   capitals or between `<` and `>`, stand for an id. Between backticks arguments may be missing.
//! - In a source the words behind `gridbay` are followed through the commands, and the options
//!   among the words after them must be theirs.

use super::Cli;
use clap::error::ErrorKind;
use clap::{Command, CommandFactory as _, Parser as _};
use std::fs;
use std::path::{Path, PathBuf};

/// The parts of the repository that are read.
const PAGES: [&str; 2] = ["docs", "README.md"];
pub(super) const SOURCES: [&str; 3] = ["node/src", "node/core/src", "appliance/src"];
/// Stands for whatever a placeholder is.
const SOMETHING: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
/// Named as an example of a command that could be.
const COULD_BE: &str = "gridbay market depth";
/// Words behind `gridbay` in sources that are no commands: a topic, and prose.
const PROSE: [&str; 2] = ["gossip", "and"];

fn files(place: &Path, ending: &str) -> Vec<PathBuf> {
    if !place.is_dir() {
        return vec![place.to_owned()];
    }
    let entries = fs::read_dir(place)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let inner = entries.flat_map(|path| files(&path, ending));
    inner
        .filter(|path| path.to_str().is_some_and(|name| name.ends_with(ending)))
        .collect()
}

/// All files with such an ending below some places, with their texts.
pub(super) fn texts(places: &[&str], ending: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let all = places
        .iter()
        .flat_map(|place| files(&root.join(place), ending));
    all.map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect()
}

/// A command in a page.
#[derive(Debug, PartialEq)]
struct Told {
    line: Vec<String>,
    /// Whether it is to be typed as it stands.
    whole: bool,
}

/// The commands of a page.
fn told(page: &str) -> Vec<Told> {
    let mut told = Vec::new();
    for (at, part) in page.split("```").enumerate() {
        // Its `from gridbay import` is no command.
        if at % 2 == 1 && part.starts_with("python") {
            continue;
        }
        if at % 2 == 0 {
            let quoted = part.split('`').skip(1).step_by(2);
            let own = quoted.filter(|text| text.starts_with("gridbay "));
            let own = own.flat_map(alternatives);
            told.extend(own.map(|line| Told {
                line: split(&line).concat(),
                whole: false,
            }));
            continue;
        }
        let joined = part.replace("\\\n> ", " ").replace("\\\n", " ");
        // A command whose output is an operand of another is a step of its own.
        let joined = joined.replace("$(", "ID; ");
        // Where commands stand behind a prompt, the other lines are what they print.
        let has_prompts = part.contains("\n$ ");
        let typed = |line: &&str| !has_prompts || line.starts_with("$ ");
        let steps = joined.lines().filter(typed).flat_map(split);
        // What a command prints may name others that lack something.
        let whole = !part.starts_with("text");
        told.extend(steps.filter_map(own_words).map(|line| Told { line, whole }));
    }
    told
}

/// Each reading of a line with words of the form `one|other`.
fn alternatives(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let choices = word.split('|');
        let grown =
            choices.flat_map(|choice| lines.iter().map(move |line| format!("{line} {choice}")));
        lines = grown.collect();
    }
    lines
}

/// The words of a line of a shell, step by step: quotes keep words together, and a comment ends it.
fn split(line: &str) -> Vec<Vec<String>> {
    let (mut steps, mut word, mut quote) = (vec![Vec::new()], None::<String>, None);
    let add = |steps: &mut Vec<Vec<String>>, word: &mut Option<String>| {
        if let (Some(last), Some(word)) = (steps.last_mut(), word.take()) {
            last.push(word);
        }
    };
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, ' ') => add(&mut steps, &mut word),
            (None, '|' | ';' | '&') => {
                add(&mut steps, &mut word);
                steps.push(Vec::new());
            }
            // Of what may be left out, all is there.
            (None, '[' | ']' | ')') => {}
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    add(&mut steps, &mut word);
    steps
}

/// The part of a shell's step that is a command of ours.
fn own_words(mut step: Vec<String>) -> Option<Vec<String>> {
    // The shell's: where the output goes.
    let goes = |word: &String| {
        word.trim_start_matches(|c: char| c.is_ascii_digit())
            .starts_with('>')
    };
    let to = step.iter().position(goes);
    step.truncate(to.unwrap_or(step.len()));
    let ours = step.split(|word| word == "--").next().unwrap_or(&step);
    let is_ours = |word: &String| word == "gridbay" || word.ends_with("/gridbay");
    let from = ours.iter().rposition(is_ours)?;
    let next = step.get(from + 1)?;
    (is_name(next) || (from == 0 && next.starts_with("--"))).then(|| step[from..].to_vec())
}

/// Whether a word can be that of a command.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// A word in which something stands for each placeholder.
fn filled(word: &str) -> String {
    if word == "$height" {
        return "1".to_owned();
    }
    if word.contains(['<', '{', '$']) || word == "..." {
        return SOMETHING.to_owned();
    }
    let part = |part: &str| match part.len() > 1 && part.bytes().all(|b| b.is_ascii_uppercase()) {
        true => SOMETHING.to_owned(),
        false => part.to_owned(),
    };
    word.split_inclusive(['=', ',', ':'])
        .map(|piece| {
            let plain = piece.trim_end_matches(['=', ',', ':']);
            part(plain) + &piece[plain.len()..]
        })
        .collect()
}

/// Why a command of a page is none.
fn mistake(told: &Told) -> Option<String> {
    let line = told.line.join(" ");
    let hidden = told.line.get(1).is_some_and(|word| word.starts_with("__"));
    if hidden || line == COULD_BE {
        return None;
    }
    let words = told.line.iter().map(|word| filled(word));
    let error = Cli::try_parse_from(words).err()?;
    let missing = [
        ErrorKind::MissingRequiredArgument,
        ErrorKind::MissingSubcommand,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
        ErrorKind::TooFewValues,
        ErrorKind::WrongNumberOfValues,
        ErrorKind::InvalidValue,
    ];
    let fine = !error.use_stderr() || (!told.whole && missing.contains(&error.kind()));
    let first = error.to_string();
    (!fine).then(|| format!("`{line}`: {}", first.lines().next().unwrap_or("")))
}

#[test]
fn commands_of_pages_parse() {
    let mut pages = texts(&PAGES, ".md");
    // Made of the commands themselves.
    pages.retain(|(path, _)| !path.to_string_lossy().contains("docs/reference/"));
    let all: Vec<(PathBuf, Told)> = pages
        .iter()
        .flat_map(|(path, text)| told(text).into_iter().map(|told| (path.clone(), told)))
        .collect();
    assert!(all.len() > 100, "only {} commands were found", all.len());
    let wrong = all.iter().filter_map(|(path, told)| {
        let why = mistake(told)?;
        Some(format!("{}: {why}", path.display()))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Why the words behind `gridbay` are no command; none if they are prose.
fn stray(text: &str, root: &Command) -> Option<String> {
    let end = text
        .find(['"', '`', ';', ',', '(', '\n'])
        .unwrap_or(text.len());
    let words: Vec<&str> = text[..end].split_whitespace().collect();
    let mut at = root;
    let mut rest = words.iter();
    while at.has_subcommands() {
        let word = rest.next()?;
        let word = word.trim_end_matches('.');
        match at.find_subcommand(word) {
            Some(next) => at = next,
            None if !is_name(word) || PROSE.contains(&word) => return None,
            None => return Some(format!("`{}` has no `{word}`", at.get_name())),
        }
    }
    let options: Vec<&str> = rest
        .take_while(|word| **word != "--")
        .filter_map(|word| word.strip_prefix("--"))
        .map(|word| word.split(['=', '.', ':']).next().unwrap_or(word))
        .collect();
    let known = |name: &str| {
        let own = at.get_arguments().chain(root.get_arguments());
        own.flat_map(|arg| arg.get_long_and_visible_aliases().unwrap_or_default())
            .chain(["help", "out"])
            .any(|long| long == name)
    };
    let strange = options
        .into_iter()
        .find(|name| !name.is_empty() && !known(name))?;
    Some(format!("`{}` has no --{strange}", at.get_name()))
}

/// What sends the reader to a command, in messages.
const LEADS: [&str; 10] = [
    "\"gridbay ",
    "`gridbay ",
    ": gridbay ",
    "see gridbay ",
    "by gridbay ",
    "or gridbay ",
    "with gridbay ",
    "then gridbay ",
    "run gridbay ",
    "use gridbay ",
];

#[test]
fn commands_of_messages_are_real() {
    let root = Cli::command();
    let sources = texts(&SOURCES, ".rs");
    let (mut seen, mut wrong) = (0, Vec::new());
    for (path, text) in &sources {
        // Lines of wrong commands are among the tests of the words.
        if path.ends_with("cli/tests.rs") || path.ends_with("cli/tests/told.rs") {
            continue;
        }
        let text = text.replace("\\\n", "");
        for lead in LEADS {
            for (at, _) in text.match_indices(lead) {
                seen += 1;
                let rest = &text[at + lead.len()..];
                if let Some(why) = stray(rest, &root) {
                    let line = rest.lines().next().unwrap_or("");
                    wrong.push(format!("{}: gridbay {line}: {why}", path.display()));
                }
            }
        }
    }
    assert!(seen > 100, "only {seen} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_wrong_command_is_found() {
    let page = "Say `gridbay job show|wait x` and `gridbay jobs`:\n\n```sh\nssh a gridbay invite | \
        gridbay join -   # there\ngridbay node \\\n  down; gridbay run --class A -- gridbay no\n```\n\
        \n```console\n$ gridbay job show $(gridbay \\\n> version > out 2>&1)\ngridbay 0.1.0\n```\n";
    let lines: Vec<String> = told(page)
        .into_iter()
        .map(|told| told.line.join(" "))
        .collect();
    let said = [
        "gridbay job show x",
        "gridbay job wait x",
        "gridbay jobs",
        "gridbay invite",
        "gridbay join -",
        "gridbay node down",
        "gridbay run --class A -- gridbay no",
        "gridbay job show ID",
        "gridbay version",
    ];
    assert_eq!(lines, said);
    let wrong: Vec<String> = told(page).iter().filter_map(mistake).collect();
    assert!(
        wrong.iter().any(|why| why.starts_with("`gridbay jobs`")),
        "{wrong:?}"
    );
    assert!(
        wrong
            .iter()
            .any(|why| why.starts_with("`gridbay node down`")),
        "{wrong:?}"
    );
    let root = Cli::command();
    for (text, is_wrong) in [
        ("node status; the node", false),
        ("job frob {id}", true),
        ("job why {id}\"", false),
        ("run --no-such-option x", true),
        ("run --class x -- prog --own", false),
        ("offers list", true),
        ("--data {folder} node stop", false),
    ] {
        assert_eq!(stray(text, &root).is_some(), is_wrong, "{text}");
    }
}
