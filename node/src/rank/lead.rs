//! Rank 0 leads: waits for the others, runs the program, ends the others. The others serve.

use std::io::{self, Write};
use std::net::{IpAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::kind::Kind;
use super::serve::{code, serve};
use super::wire::{Order, port, variable};
use super::{PROGRAM, call};

/// How long the others may take to appear: their inputs may be large.
const PATIENCE: Duration = Duration::from_secs(600);
/// Between two looks for a rank.
const LOOK: Duration = Duration::from_millis(100);
/// After so long it is told who is waited for.
const TELL: Duration = Duration::from_secs(10);

/// Leads or serves, as this rank is the first or not; its exit code.
pub(super) fn lead(kind: Kind, program: &[&str]) -> io::Result<i32> {
    let (rank, size): (u32, u32) = (variable("GRIDBAY_RANK")?, variable("GRIDBAY_SIZE")?);
    let own: IpAddr = variable("GRIDBAY_ADDRESS")?;
    let listener = TcpListener::bind((own, port()))?;
    if rank > 0 {
        return serve(&listener, kind.environment()).map(|()| 0);
    }
    // Programs start commands on rank 0 as well.
    thread::spawn(move || _ = serve(&listener, kind.environment()));
    let ended = run(kind, program, size);
    for other in 1..size {
        // One that is gone needs no end.
        let _gone = call::tell(&format!("rank{other}"), &Order::End);
    }
    ended
}

/// Waits for the others, and runs the program: its exit code.
fn run(kind: Kind, program: &[&str], size: u32) -> io::Result<i32> {
    let patience = Instant::now() + PATIENCE;
    for other in 1..size {
        await_rank(other, patience)?;
    }
    let mut beside = Vec::new();
    let ended = start_beside(kind, size, &mut beside).and_then(|()| {
        let status = kind.command(program, size).status();
        status.map(code).map_err(|e| named(kind, program, &e))
    });
    for child in &mut beside {
        let _gone = child.kill();
        let _ended = child.wait();
    }
    ended
}

/// Waits until a rank answers.
fn await_rank(rank: u32, patience: Instant) -> io::Result<()> {
    let (begin, mut told, name) = (Instant::now(), false, format!("rank{rank}"));
    loop {
        let Err(error) = call::tell(&name, &Order::Ping) else {
            return Ok(());
        };
        if Instant::now() > patience {
            return Err(io::Error::new(
                error.kind(),
                format!("{name} does not answer: {error}"),
            ));
        }
        if begin.elapsed() > TELL && !told {
            told = true;
            writeln!(io::stderr(), "gridbay-rank: waiting for {name}: {error}")?;
        }
        thread::sleep(LOOK);
    }
}

/// Starts what runs beside the program, each through its rank.
fn start_beside(kind: Kind, size: u32, started: &mut Vec<Child>) -> io::Result<()> {
    for (rank, words) in kind.beside(size) {
        let mut exec = Command::new(PROGRAM);
        exec.arg("exec").arg(format!("rank{rank}")).args(&words);
        exec.stdin(Stdio::null()).stdout(Stdio::null());
        started.push(exec.spawn()?);
    }
    Ok(())
}

/// A program that cannot be started, by its name.
fn named(kind: Kind, program: &[&str], error: &io::Error) -> io::Error {
    let name = match kind {
        Kind::Mpi => "mpirun",
        Kind::Hosts | Kind::Dask => program.first().copied().unwrap_or_default(),
    };
    io::Error::new(error.kind(), format!("cannot execute {name}: {error}"))
}
