//! The program inside a networked job that lets the ranks of a lease run commands on one another.
//!
//! The sandbox shows it to networked jobs as [`PROGRAM`]; it is the node's own program under
//! another name. Its commands speak to the other ranks over the lease's network, and to nobody
//! else:
//!
//! ```text
//! gridbay-rank lead hosts|mpi|dask PROGRAM…   rank 0 runs the program, the others serve it
//! gridbay-rank relay                          does nothing, and so holds the unit of a relay
//! gridbay-rank exec RANK COMMAND…             runs a command on another rank, as `ssh` would
//! gridbay-rank hold RUNTIME…                  runs what the lease's owner signs
//! ```
//!
//! 1. Every rank but 0 serves commands (`serve`) until rank 0 says that all is over.
//! 2. Rank 0 waits until all others answer, runs the program with what its kind needs (`lead`),
//!    ends the others, and ends with the program's code.
//! 3. A command's standard streams and exit code travel over one connection (`wire`). Its end
//!    ends the command and all that it started.
//!
//! The lease's network has the buyer's own tasks in it and nobody else, so a connection is the
//! permission where a job leads its ranks. In a cluster that is held (`hold`) a signature is.

mod call;
pub(crate) mod files;
pub(crate) mod hold;
pub(crate) mod kind;
mod lead;
mod link;
pub(crate) mod order;
pub(crate) mod remote;
mod serve;
pub(crate) mod signed;
mod thread;
pub(crate) mod wire;

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use kind::Kind;

pub use gridbay_core::cluster::PROGRAM;

/// Where a networked job finds the list of its ranks, as MPI and others read it.
pub const MACHINES: &str = "/etc/machines";

/// Exit code for a wrong use, as `sysexits` has it.
const USAGE: i32 = 64;
/// Exit code where another rank does not answer.
const UNAVAILABLE: i32 = 69;

/// Goes on as that program, and does not return, if this process was executed under its name.
///
/// To be called first thing in `main`.
pub fn run_if_asked() {
    let mut arguments = std::env::args_os();
    let name = arguments.next();
    let name = name.as_deref().map(Path::new).and_then(Path::file_name);
    if name != Path::new(PROGRAM).file_name() {
        return;
    }
    let words: Vec<_> = arguments.collect();
    let code = run(&words).unwrap_or_else(|e| {
        let _ = writeln!(io::stderr(), "gridbay-rank: {e}");
        UNAVAILABLE
    });
    std::process::exit(code);
}

fn run(words: &[impl AsRef<OsStr>]) -> io::Result<i32> {
    let text = |word: &OsStr| word.to_str().map(str::to_owned);
    let words: Option<Vec<String>> = words.iter().map(|w| text(w.as_ref())).collect();
    let words = words.unwrap_or_default();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["exec", rank, command @ ..] if !command.is_empty() => {
            // As `ssh` does: the words become a line for a shell.
            call::run(rank, &wire::Order::Shell(command.join(" ")))
        }
        ["relay"] => loop {
            std::thread::park();
        },
        ["lead", kind, program @ ..] if !program.is_empty() => match Kind::named(kind) {
            Some(kind) => lead::lead(kind, program),
            None => usage(),
        },
        // What follows is for the market alone.
        ["hold", ..] => hold::hold(),
        _ => usage(),
    }
}

fn usage() -> io::Result<i32> {
    let lines = "gridbay-rank exec RANK COMMAND…\n\
                 gridbay-rank lead hosts|mpi|dask PROGRAM…\n\
                 gridbay-rank hold RUNTIME…";
    writeln!(io::stderr(), "{lines}")?;
    Ok(USAGE)
}
