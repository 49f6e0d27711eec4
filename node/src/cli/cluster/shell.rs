//! `cluster shell`: a terminal on a rank.

use super::escape::Escape;
use super::exec::{NOT_RUN, code};
use super::way::{Way, fresh};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::cli::exit::Exit;
use crate::rank::order::Start;
use crate::rank::remote::program::{Event, Remote};
use crate::terminal::{Raw, Size};
use crate::ui;
use clap::Args;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _, Read as _, Stdin};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// Until a signal has gone, if there is a way for it.
const ON_ITS_WAY: Duration = Duration::from_millis(300);
/// Bytes read at once from the terminal.
const PIECE: usize = 4 * 1024;
/// The size where there is no terminal here.
const SIZE: Size = Size {
    rows: 24,
    columns: 80,
};
/// Variables that go along, as they are here.
const SHARED: [&str; 5] = ["TERM", "COLORTERM", "LANG", "LC_ALL", "LC_CTYPE"];

/// Open a terminal on a rank of a cluster
///
/// It goes on by itself after its connection was cut. Programs on it see the size of this one, and
/// get every key, Ctrl-C too. `~.` at the beginning of a line leaves, also while the connection is
/// cut; `~~` is one `~`.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct ShellArgs {
    /// The cluster's id, how that begins, or its name
    id: String,
    /// The rank
    #[arg(long, default_value_t = 0)]
    rank: u32,
    /// Program and arguments [default: a shell]
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    command: Vec<String>,
}

/// This machine's terminal, as long as it is the program's.
type Terminal = Weak<Mutex<Option<Raw<Stdin>>>>;

impl ShellArgs {
    pub(super) fn run(self, at: &Context) -> Result<Exit, CliError> {
        let way = Way::new(at, &self.id)?;
        let shared = SHARED.iter().filter_map(|name| {
            let value = std::env::var(name).ok()?;
            Some(((*name).to_owned(), value))
        });
        let order = Start {
            session: fresh()?,
            argv: self.command,
            env: shared.collect::<BTreeMap<_, _>>(),
            folder: String::new(),
            terminal: Some(Size::of(&io::stdin()).unwrap_or(SIZE)),
        };
        // The terminal is as before also where a thread panics: this value is dropped then.
        let raw;
        let program = Remote::start(way, self.rank, order, ui::raw_note).during(NOT_RUN)?;
        raw = Arc::new(Mutex::new(Raw::new(io::stdin()).ok()));
        let (input, terminal) = (program.clone(), Arc::downgrade(&raw));
        watch(program.clone(), Weak::clone(&terminal));
        // It may wait for a key for ever: the process ends without it.
        thread::spawn(move || feed(&input, &terminal));
        let ended = follow(&program);
        drop(raw);
        ended.map(code)
    }
}

/// Keys of a terminal, which may leave, or bytes of a pipe, which are passed as they are.
fn feed(program: &Remote, terminal: &Terminal) {
    let (mut input, mut buffer) = (io::stdin().lock(), vec![0; PIECE]);
    let mut escape = input.is_terminal().then(Escape::new);
    while let Ok(count) = input.read(&mut buffer) {
        let keys = &buffer[..count];
        let (keys, leaves) = match &mut escape {
            Some(escape) => escape.pass(keys),
            None => (keys.to_vec(), false),
        };
        if leaves {
            return leave(program, terminal);
        }
        let held_back = keys.is_empty() && count > 0;
        if !held_back && (!program.input(&keys) || count == 0) {
            return;
        }
    }
}

/// Hangs the program up, if there is a way to it, and ends this process.
fn leave(program: &Remote, terminal: &Terminal) {
    program.signal(u8::try_from(libc::SIGHUP).unwrap_or_default());
    thread::sleep(ON_ITS_WAY);
    if let Some(raw) = terminal.upgrade() {
        drop(raw.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
    ui::note("left; a program that was not reached ends by itself unless it is asked for again");
    std::process::exit(Exit::INTERRUPTED.0.into());
}

fn follow(program: &Remote) -> Result<i32, CliError> {
    loop {
        match program.next() {
            Event::Out(bytes) | Event::Err(bytes) => ui::out(&bytes)?,
            Event::Exit(code) => return Ok(code),
            Event::Lost(error) => return Err(error).during(NOT_RUN),
        }
    }
}

/// Tells the program when this terminal gets another size. A polite end of this process hangs the
/// program up.
fn watch(program: Remote, terminal: Terminal) {
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let changed = signal(SignalKind::window_change()).ok();
            let (Some(mut changed), Some(mut terminate), Some(mut hangup)) = (
                changed,
                signal(SignalKind::terminate()).ok(),
                signal(SignalKind::hangup()).ok(),
            ) else {
                return;
            };
            loop {
                tokio::select! {
                    _ = changed.recv() => {
                        Size::of(&io::stdin()).map(|size| program.resize(size));
                    }
                    _ = terminate.recv() => leave(&program, &terminal),
                    _ = hangup.recv() => leave(&program, &terminal),
                }
            }
        });
    });
}
