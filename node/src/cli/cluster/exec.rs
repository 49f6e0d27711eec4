//! `cluster exec`: a program on a rank, or on all of them.

use super::way::{Way, each, fresh};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::rank::order::Start;
use crate::rank::remote::program::{Event, Remote};
use crate::ui;
use clap::Args;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _, Read as _};
use std::sync::Arc;
use std::thread;
use tokio::signal::unix::{SignalKind, signal};

/// What a program is not when it does not run.
pub(super) const NOT_RUN: &str = "the program did not run to its end";
/// Bytes read at once from standard input.
const PIECE: usize = 32 * 1024;
/// Bytes of an unfinished line that are held back.
const LINE: usize = 64 * 1024;

/// Run a program on one rank of a cluster, or on all
#[derive(Clone, Debug, Args)]
#[command(override_usage = "gridbay cluster exec [OPTIONS] <ID> -- <PROGRAM> [ARGUMENTS]...")]
pub(in crate::cli) struct ExecArgs {
    /// The cluster's id, how that begins, or its name
    id: String,
    /// The rank [default: 0]
    #[arg(long, conflicts_with = "all")]
    rank: Option<u32>,
    /// On every rank: each line of output begins with its rank, there is no input, and the code is
    /// the first that is not 0
    #[arg(long)]
    all: bool,
    /// A variable for the program
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Program and arguments, as they are found there
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    command: Vec<String>,
}

impl ExecArgs {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        let env = variables(&self.env)?;
        let way = Way::new(at, &self.id)?;
        if self.all {
            let ranks = 0..way.size(at)?;
            let codes = on_all(&way, ranks, &self.command, &env, ("", true))?;
            return Ok(first(&codes));
        }
        let rank = self.rank.unwrap_or(0);
        let program = start(&way, rank, &self.command, &env, "")?;
        pass_signals(vec![program.clone()]);
        let input = program.clone();
        // It may wait for input for ever: the process ends without it.
        thread::spawn(move || feed(&input));
        follow(&program, None).map(code)
    }
}

/// Variables as they are given on a command line.
pub(super) fn variables(given: &[String]) -> Result<BTreeMap<String, String>, CliError> {
    let one = |text: &String| {
        let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
        let pair = pair.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let why = format!("--env {text} is no NAME=VALUE");
        pair.ok_or_else(|| CliError::new(Exit::USAGE, NOT_RUN, why, "as in --env THREADS=4"))
    };
    given.iter().map(one).collect()
}

/// Starts a program without a terminal.
pub(super) fn start(
    way: &Arc<Way>,
    rank: u32,
    command: &[String],
    env: &BTreeMap<String, String>,
    folder: &str,
) -> Result<Remote, CliError> {
    let order = Start {
        session: fresh()?,
        argv: command.to_vec(),
        env: env.clone(),
        folder: folder.to_owned(),
        terminal: None,
    };
    Remote::start(Arc::clone(way), rank, order, ui::note).during(NOT_RUN)
}

/// Runs a program on several ranks, in a folder of theirs: their codes. If asked for, each line of
/// its output has its rank before it.
pub(super) fn on_all(
    way: &Arc<Way>,
    ranks: impl IntoIterator<Item = u32>,
    command: &[String],
    env: &BTreeMap<String, String>,
    (folder, label): (&str, bool),
) -> Result<Vec<(u32, i32)>, CliError> {
    let started = each(ranks, |rank| start(way, rank, command, env, folder))?;
    pass_signals(started.iter().map(|(_, program)| program.clone()).collect());
    let programs: BTreeMap<u32, Remote> = started.into_iter().collect();
    each(programs.keys().copied(), |rank| {
        let program = programs.get(&rank);
        let why = || format!("rank {rank} was not started");
        let program = program.ok_or_else(|| CliError::fault(NOT_RUN, why()))?;
        program.input(b"");
        follow(program, label.then_some(rank))
    })
}

/// The first code that is not 0, by ranks.
pub(super) fn first(codes: &[(u32, i32)]) -> Exit {
    let failed = codes.iter().map(|(_, code)| *code).find(|code| *code != 0);
    code(failed.unwrap_or(0))
}

/// An exit code as this process ends with it.
pub(super) fn code(code: i32) -> Exit {
    Exit(u8::try_from(code).unwrap_or(1))
}

fn feed(program: &Remote) {
    let (mut input, mut buffer) = (io::stdin().lock(), vec![0; PIECE]);
    while let Ok(count) = input.read(&mut buffer) {
        if !program.input(&buffer[..count]) || count == 0 {
            return;
        }
    }
    program.input(b"");
}

/// Prints what comes of a program until it ends: its code.
pub(super) fn follow(program: &Remote, label: Option<u32>) -> Result<i32, CliError> {
    let (mut out, mut err) = (Lines::new(label), Lines::new(label));
    // The reader of the output may have left: the program is still waited for.
    let quiet = |written: Result<(), ui::WriteError>| match written {
        Err(error) if error.is_closed() => Ok(()),
        other => other,
    };
    loop {
        match program.next() {
            Event::Out(bytes) => quiet(out.whole(&bytes, ui::out))?,
            Event::Err(bytes) => quiet(err.whole(&bytes, ui::err))?,
            Event::Exit(code) => {
                quiet(out.rest(ui::out))?;
                quiet(err.rest(ui::err))?;
                return Ok(code);
            }
            Event::Lost(error) => return Err(error).during(NOT_RUN),
        }
    }
}

/// Lines with a rank before them; plain bytes without one.
struct Lines {
    label: Option<u32>,
    /// Whether people see them at a terminal, which control bytes of one rank would steer for all.
    is_shown: bool,
    held: Vec<u8>,
}

type Write = fn(&[u8]) -> Result<(), ui::WriteError>;

impl Lines {
    fn new(label: Option<u32>) -> Lines {
        Lines {
            label,
            is_shown: io::stdout().is_terminal() || io::stderr().is_terminal(),
            held: Vec::new(),
        }
    }

    /// Writes what is whole, and holds the rest back.
    fn whole(&mut self, bytes: &[u8], write: Write) -> Result<(), ui::WriteError> {
        let Some(rank) = self.label else {
            return write(bytes);
        };
        self.held.extend_from_slice(bytes);
        let whole = self.held.iter().rposition(|b| *b == b'\n').map(|at| at + 1);
        let ready = match whole {
            None if self.held.len() > LINE => self.held.len(),
            whole => whole.unwrap_or(0),
        };
        let rest = self.held.split_off(ready);
        let lines = std::mem::replace(&mut self.held, rest);
        write(&labelled(rank, &lines, self.is_shown))
    }

    fn rest(&mut self, write: Write) -> Result<(), ui::WriteError> {
        if self.held.is_empty() {
            return Ok(());
        }
        self.held.push(b'\n');
        self.whole(&[], write)
    }
}

fn labelled(rank: u32, lines: &[u8], is_shown: bool) -> Vec<u8> {
    let steers = |b: &u8| is_shown && b.is_ascii_control() && !matches!(b, b'\t' | b'\n');
    let mut text = Vec::with_capacity(lines.len() + 16);
    for line in lines.split_inclusive(|b| *b == b'\n') {
        text.extend_from_slice(format!("{rank}: ").as_bytes());
        text.extend(line.iter().map(|b| if steers(b) { b'?' } else { *b }));
    }
    text
}

/// Ctrl-C goes to the programs; the second one leaves at once, and they end without their asker.
pub(super) fn pass_signals(programs: Vec<Remote>) {
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let listen = |kind| signal(kind).ok();
            let interrupt = listen(SignalKind::interrupt());
            let (Some(mut interrupt), Some(mut terminate)) =
                (interrupt, listen(SignalKind::terminate()))
            else {
                return;
            };
            let mut interrupted = false;
            loop {
                let number = tokio::select! {
                    _ = interrupt.recv() => libc::SIGINT,
                    _ = terminate.recv() => libc::SIGTERM,
                };
                if interrupted {
                    ui::note("left; the program ends by itself unless somebody asks for it again");
                    std::process::exit(Exit::INTERRUPTED.0.into());
                }
                interrupted = true;
                let number = u8::try_from(number).unwrap_or_default();
                for program in &programs {
                    program.signal(number);
                }
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_names() {
        let given = ["A=b=c".to_owned(), "B=".to_owned()];
        let all = variables(&given).unwrap();
        assert_eq!(all["A"], "b=c");
        assert!(all["B"].is_empty());
        assert!(variables(&["=x".to_owned()]).is_err());
        assert!(variables(&["x".to_owned()]).is_err());
    }

    #[test]
    fn labels_begin_each_line() {
        assert_eq!(labelled(3, b"a\nb\n", false), b"3: a\n3: b\n");
        assert_eq!(labelled(3, b"\x1b[2J\ta\r\n", true), b"3: ?[2J\ta?\n");
        assert_eq!(labelled(3, b"\x1b\r\n", false), b"3: \x1b\r\n");
    }
}
