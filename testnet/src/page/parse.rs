//! The steps of a page.
//!
//! - A block marked `console` has commands behind `$ `, their further lines behind `> `, and below
//!   each what it prints. A line `...` stands for any lines, and `...` in a line for any part of
//!   it. With the word `again` a command is repeated until it prints what is shown; with the word
//!   `fails` it has to fail.
//! - Any block with a word `file=NAME` is the content of that file.

use anyhow::bail;
use std::ops::Range;
use std::path::{Component, Path};

/// Something that a page has its reader do.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// A file to write.
    File {
        line: usize,
        name: String,
        text: String,
    },
    /// A command to run.
    Command(Command),
}

/// A command, and what the page says that it prints.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Command {
    /// Its line in the page, from 1.
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) shown: Vec<String>,
    /// Where `shown` is in the page, as indices of lines.
    at: Range<usize>,
    pub(super) again: bool,
    pub(super) fails: bool,
}

impl Command {
    /// Its first line.
    pub(super) fn first(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }
}

/// A fenced block that is open.
struct Block<'a> {
    line: usize,
    words: Vec<&'a str>,
    lines: Vec<&'a str>,
}

/// The steps of a page, in their order.
pub(super) fn steps(page: &str) -> anyhow::Result<Vec<Step>> {
    let mut steps = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for (index, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                open = Some(Block {
                    line: index + 1,
                    words: info.split_whitespace().collect(),
                    lines: Vec::new(),
                });
            }
            (None, None) => {}
            (Some(block), None) => block.lines.push(line),
            (Some(block), Some(_)) => {
                read(block, &mut steps)?;
                open = None;
            }
        }
    }
    match open {
        Some(block) => bail!("the block of line {} has no end", block.line),
        None => Ok(steps),
    }
}

fn read(block: &Block<'_>, steps: &mut Vec<Step>) -> anyhow::Result<()> {
    let line = block.line;
    if let Some(name) = block.words.iter().find_map(|w| w.strip_prefix("file=")) {
        let inside = |part: Component<'_>| matches!(part, Component::Normal(_));
        if name.is_empty() || !Path::new(name).components().all(inside) {
            bail!("line {line}: `{name}` is no name of a file below the folder");
        }
        let text = block.lines.iter().map(|text| format!("{text}\n")).collect();
        let name = name.to_owned();
        steps.push(Step::File { line, name, text });
        return Ok(());
    }
    if block.words.first() != Some(&"console") {
        return Ok(());
    }
    for word in &block.words[1..] {
        if !["again", "fails"].contains(word) {
            bail!("line {line}: a block of commands is `again` or `fails`, and never `{word}`");
        }
    }
    let mut commands: Vec<Command> = Vec::new();
    for (text, index) in block.lines.iter().zip(line..) {
        if let Some(text) = text.strip_prefix("$ ") {
            commands.push(Command {
                line: index + 1,
                text: text.to_owned(),
                shown: Vec::new(),
                at: index + 1..index + 1,
                again: block.words.contains(&"again"),
                fails: block.words.contains(&"fails"),
            });
            continue;
        }
        let Some(command) = commands.last_mut() else {
            bail!(
                "line {}: nothing printed it; commands begin with `$ `",
                index + 1
            );
        };
        command.at.end = index + 1;
        let more = match *text {
            ">" => Some(""),
            text => text.strip_prefix("> "),
        };
        match more.filter(|_| command.shown.is_empty()) {
            Some(more) => {
                command.text = format!("{}\n{more}", command.text);
                command.at.start = index + 1;
            }
            None => command.shown.push((*text).to_owned()),
        }
    }
    steps.extend(commands.into_iter().map(Step::Command));
    Ok(())
}

/// The page with other lines below some of its commands, which are in their order.
pub(super) fn rewritten(page: &str, changed: &[(Command, Vec<String>)]) -> String {
    let mut lines: Vec<&str> = page.lines().collect();
    for (command, printed) in changed.iter().rev() {
        lines.splice(command.at.clone(), printed.iter().map(String::as_str));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# A\n\n```toml file=a/b.toml\nx = 1\n```\n\n```sh\nno\n```\n\n\
        ```console again\n$ one \\\n> two\nthree\n$ four\n```\n";

    fn commands(page: &str) -> Vec<Command> {
        let all = steps(page).unwrap().into_iter();
        all.filter_map(|step| match step {
            Step::Command(command) => Some(command),
            Step::File { .. } => None,
        })
        .collect()
    }

    #[test]
    fn files_and_commands_are_read() {
        let found = steps(PAGE).unwrap();
        assert_eq!(found.len(), 3);
        let Step::File { name, text, .. } = &found[0] else {
            panic!("{found:?}");
        };
        assert_eq!((name.as_str(), text.as_str()), ("a/b.toml", "x = 1\n"));
        let commands = commands(PAGE);
        assert_eq!(commands[0].text, "one \\\ntwo");
        assert_eq!(
            (commands[0].line, &commands[0].shown[..]),
            (12, &["three".to_owned()][..])
        );
        assert!(commands[0].again && !commands[0].fails);
        assert_eq!(commands[1].shown, Vec::<String>::new());
    }

    #[test]
    fn a_page_is_written_anew_below_its_commands() {
        let lines = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let printed = ["3 3", "4"].map(lines);
        let changed: Vec<_> = commands(PAGE).into_iter().zip(printed).collect();
        let page = rewritten(PAGE, &changed);
        assert!(
            page.ends_with("$ one \\\n> two\n3\n3\n$ four\n4\n```\n"),
            "{page}"
        );
        let again: Vec<_> = commands(&page).into_iter().map(|c| c.shown).collect();
        assert_eq!(again, [lines("3 3"), lines("4")]);
    }

    #[test]
    fn what_is_no_step_is_told() {
        for bad in [
            "```console\nprinted\n```\n",
            "```console sometimes\n$ a\n```\n",
            "```console\n$ a\n",
            "```toml file=../a\n```\n",
            "```toml file=/a\n```\n",
        ] {
            assert!(steps(bad).is_err(), "{bad}");
        }
    }
}
