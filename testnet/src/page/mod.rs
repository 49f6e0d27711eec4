//! Pages that are their own tests: the commands that a page tells are run, and what they print is
//! held against what the page shows.
//!
//! 1. [`parse`] finds a page's steps: blocks marked `console`, and files that it has readers write.
//! 2. [`shell`] runs them in one shell, in a folder of its own that is its home as well.
//! 3. [`shape`] compares: numbers, times and ids may differ, words may not.
//! 4. A page can be written anew with what was printed, so that nobody types output by hand.

mod parse;
mod shape;
mod shell;

use crate::say::Progress;
use anyhow::{Context as _, bail};
use parse::{Command, Step};
use shell::{Printed, Shell};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// How long a command that the page says to repeat is repeated.
const AGAIN: Duration = Duration::from_secs(120);
/// Between two tries.
const PAUSE: Duration = Duration::from_secs(1);

/// What became of a page.
#[derive(Clone, Debug)]
pub(crate) struct Walked {
    /// Commands that ran and printed what the page shows.
    pub(crate) passed: usize,
    /// Lines of the page whose commands printed something else; with `write` they are mended.
    pub(crate) differ: Vec<usize>,
    /// How long it took.
    pub(crate) seconds: f64,
}

/// Does what `page` tells, with the programs in the folder `programs` found first. Stops at the
/// first command that fails; where one prints something else than the page shows, it also stops,
/// unless the page is to be written anew.
///
/// # Errors
/// The page cannot be read or has no steps, a command fails or prints something else.
pub(crate) async fn walk(
    page: &Path,
    programs: &Path,
    write: bool,
    progress: &Progress,
) -> anyhow::Result<Walked> {
    let name = page.display();
    let text = fs::read_to_string(page).with_context(|| format!("{name} cannot be read"))?;
    let steps = parse::steps(&text).with_context(|| format!("{name} cannot be walked"))?;
    if !steps.iter().any(|step| matches!(step, Step::Command(_))) {
        bail!("{name} has no commands; a block of them is marked `console`");
    }
    let began = Instant::now();
    let mut shell = Shell::start(programs)?;
    let (mut passed, mut changed) = (0, Vec::new());
    for step in steps {
        match step {
            Step::File { line, name, text } => shell
                .write(&name, &text)
                .with_context(|| format!("{}:{line}: {name}", page.display()))?,
            Step::Command(command) => {
                let printed = run(&mut shell, &command).await?;
                progress.tell(&format!("{name}:{}: {}", command.line, command.first()));
                let lines: Vec<String> = printed.text.lines().map(str::to_owned).collect();
                if command.fails == (printed.code == 0) {
                    bail!(
                        "{name}:{}: `{}` ended with {}:\n{}",
                        command.line,
                        command.first(),
                        printed.code,
                        printed.text
                    );
                }
                if shape::agree(&command.shown, &lines) {
                    passed += 1;
                } else if write {
                    changed.push((command, lines));
                } else {
                    bail!(
                        "{name}:{}: `{}` printed\n{}\nwhere the page shows\n{}",
                        command.line,
                        command.first(),
                        printed.text,
                        command.shown.join("\n")
                    );
                }
            }
        }
    }
    drop(shell);
    if !changed.is_empty() {
        fs::write(page, parse::rewritten(&text, &changed))?;
    }
    Ok(Walked {
        passed,
        differ: changed.iter().map(|(command, _)| command.line).collect(),
        seconds: began.elapsed().as_secs_f64(),
    })
}

/// Runs a command, again and again if the page says so.
async fn run(shell: &mut Shell, command: &Command) -> anyhow::Result<Printed> {
    let until = Instant::now() + AGAIN;
    loop {
        let printed = shell.run(&command.text).await?;
        let lines: Vec<String> = printed.text.lines().map(str::to_owned).collect();
        let is_there = printed.code == 0 && shape::agree(&command.shown, &lines);
        if !command.again || is_there || Instant::now() > until {
            return Ok(printed);
        }
        sleep(PAUSE).await;
    }
}
