//! Delay without netem: one process for a lab, inside its public router.
//!
//! 1. The laboratory starts itself again with [`WORD`], a namespace and the path of a socket.
//! 2. The process enters the namespace, makes the TUN device [`DEVICE`] and listens on the socket.
//! 3. The router's rules send packets of delayed links into the device. Each waits in the [`queue`]
//!    and is then written back, and routed on as if nothing had been.
//! 4. A line of JSON on the socket is a new table of delays; the answer, once it holds, is a
//!    [`Tally`].
//! 5. It ends with the lab, which kills all processes inside its namespaces.
//!
//! It sleeps when nothing is due, holds no thread busy, and takes as many packets per turn as there
//! are.

mod queue;
mod tun;

pub(super) use queue::Table;

use super::netns;
use crate::network::Process;
use crate::say;
use anyhow::{Context as _, bail};
use queue::Queue;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tun::{PACKET_MAX, Tun};

/// The hidden first word of the process.
pub(crate) const WORD: &str = "__delay";
/// Its device inside the public router.
pub(super) const DEVICE: &str = "lag0";
/// Until a started process answers.
const PATIENCE: Duration = Duration::from_secs(5);
/// Packets taken in before those due are given back.
const TURN: usize = 256;

/// The counters of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    /// Packets, a super-packet counted once.
    pub(super) passed: u64,
    /// Packets dropped: too many were waiting, or the kernel did not take them back.
    pub(super) dropped: u64,
}

/// The process itself: words are the namespace's path and the socket's.
pub(crate) fn run(mut words: impl Iterator<Item = OsString>) -> ExitCode {
    let (Some(namespace), Some(socket)) = (words.next(), words.next()) else {
        say::note("this word is for the laboratory's own use");
        return ExitCode::FAILURE;
    };
    match serve(Path::new(&namespace), Path::new(&socket)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::note(&format!("delay: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Starts the process of a lab and waits until it answers. `program` is the laboratory.
pub(super) fn start(program: &Path, namespace: &Path, folder: &Path) -> anyhow::Result<Process> {
    let log = folder.join("delay.log");
    let mut child = Command::new(program)
        .args([
            OsString::from(WORD),
            namespace.into(),
            socket(folder).into(),
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&log)?)
        // An interrupt at the terminal is for the laboratory, which then ends this process in its
        // turn.
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let until = Instant::now() + PATIENCE;
    loop {
        if let Ok(_tally) = tell(folder, &Table::default()) {
            let process = Process::look(i32::try_from(child.id())?);
            return process.context("the delay process ended at once");
        }
        if let Some(status) = child.try_wait()? {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            bail!("the delay process ended with {status}: {}", said.trim());
        }
        if Instant::now() > until {
            let _ = child.kill();
            bail!("the delay process does not answer");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Gives the process a table; it holds when this returns.
pub(super) fn tell(folder: &Path, table: &Table) -> anyhow::Result<Tally> {
    let mut stream = UnixStream::connect(socket(folder))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{}\n", serde_json::to_string(table)?).as_bytes())?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer)?;
    Ok(serde_json::from_str(&answer)?)
}

fn socket(folder: &Path) -> std::path::PathBuf {
    folder.join("delay.sock")
}

/// The state that both threads share.
struct Shared {
    queue: Queue,
    tally: Tally,
}

fn serve(namespace: &Path, socket: &Path) -> anyhow::Result<()> {
    netns::enter(namespace)?;
    let tun = Tun::open(DEVICE)?;
    let listener = UnixListener::bind(socket)
        .with_context(|| format!("cannot listen on {}", socket.display()))?;
    // Wakes up when a packet is due, not when it suits the kernel.
    nix::sys::prctl::set_timerslack(1)?;
    let shared = Mutex::new(Shared {
        queue: Queue::new(u64::from(std::process::id())),
        tally: Tally::default(),
    });
    thread::scope(|scope| {
        scope.spawn(|| {
            for stream in listener.incoming().flatten() {
                // A sender of nonsense, or of nothing, gets no answer.
                let _ = answer(stream, &shared);
            }
        });
        forward(tun, &shared)
    })
}

fn answer(stream: UnixStream, shared: &Mutex<Shared>) -> anyhow::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line)?;
    let table: Table = serde_json::from_str(&line)?;
    let tally = {
        let mut shared = lock(shared);
        shared.queue.set(&table);
        Tally {
            dropped: shared.tally.dropped + shared.queue.dropped,
            ..shared.tally
        }
    };
    (&stream).write_all(format!("{}\n", serde_json::to_string(&tally)?).as_bytes())?;
    Ok(())
}

fn forward(mut tun: Tun, shared: &Mutex<Shared>) -> anyhow::Result<()> {
    let start = Instant::now();
    // Five centuries fit.
    let now = || start.elapsed().as_nanos() as u64;
    let mut buffer = vec![0; PACKET_MAX];
    let mut due = None;
    loop {
        let wait = due.map(|due: u64| Duration::from_nanos(due.saturating_sub(now())));
        tun.wait(wait).context("waiting for packets")?;
        let mut shared = lock(shared);
        for _ in 0..TURN {
            match tun.read(&mut buffer).context("reading a packet")? {
                Some(packet) => shared.queue.push(now(), packet),
                None => break,
            }
        }
        while let Some(packet) = shared.queue.pop(now()) {
            if tun.write(&packet) {
                shared.tally.passed += 1;
            } else {
                shared.tally.dropped += 1;
            }
        }
        due = shared.queue.next_due();
    }
}

/// Nothing here can panic half-way through a change.
fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
