//! One program: its streams or its terminal, and the link to whoever started it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::Signal;
use nix::sys::wait::{self, WaitPidFlag, waitid};
use nix::unistd::Pid;

use super::keys::Who;
use super::{output, processes};
use crate::rank::link::{Frame, Link};
use crate::rank::order::{Answer, Id, Program, Start};
use crate::rank::serve::code;
use crate::rank::thread::start;
use crate::rank::wire::{FRAME, Kind, Wire, write_line};
use crate::terminal::{self, Size};

/// Exit code for a program that does not exist, as shells have it.
const NOT_FOUND: i32 = 127;
/// Exit code for a program that cannot be executed.
const NOT_EXECUTABLE: i32 = 126;
/// How long a program that has ended waits for its asker to read its output.
const UNREAD: Duration = Duration::from_secs(3_600);
/// The end of input, as a terminal has it.
const END_OF_INPUT: u8 = 4;
/// Shells to look for, the best first.
const SHELLS: [&str; 2] = ["/bin/bash", "/bin/sh"];

/// A program that runs, or has just ended.
pub(super) struct Session {
    pub(super) id: Id,
    pub(super) number: u32,
    pub(super) by: Who,
    argv: Vec<String>,
    begun: Instant,
    /// The first process of its session; none if it could not be started.
    leader: Option<Pid>,
    /// Whether that has ended: then its number may be another's.
    over: AtomicBool,
    terminal: Option<File>,
    link: Arc<Link>,
}

/// The end of a program's input that is ours.
enum Input {
    Pipe(ChildStdin),
    Terminal(File),
}

impl Session {
    /// Starts a program. `ended` is called once nothing is left of it and its asker knows.
    pub(super) fn new(
        order: Start,
        by: Who,
        number: u32,
        ended: impl FnOnce(u32) + Send + 'static,
    ) -> io::Result<Arc<Session>> {
        let argv = match order.argv.is_empty() {
            true => vec![shell().to_owned()],
            false => order.argv,
        };
        let mut command = Command::new(&argv[0]);
        command.args(&argv[1..]).envs(&order.env);
        if !order.folder.is_empty() {
            std::fs::create_dir_all(&order.folder)?;
            command.current_dir(&order.folder);
        }
        let terminal = order.terminal.map(terminal::pair).transpose()?;
        match &terminal {
            None => {
                command.stdin(Stdio::piped());
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
            }
            Some((_, programs)) => {
                command.stdin(programs.try_clone()?);
                command.stdout(programs.try_clone()?);
                command.stderr(programs.try_clone()?);
            }
        }
        command.arg0(&argv[0]);
        terminal::lead_session(&mut command, terminal.is_some());
        let child = command.spawn();
        // The program alone holds its end of the terminal from now on.
        drop(command);
        let leader = child.as_ref().ok().map(|child| child.id());
        let session = Arc::new(Session {
            id: order.session,
            number,
            by,
            begun: Instant::now(),
            leader: leader.map(|id| Pid::from_raw(i32::try_from(id).unwrap_or(i32::MAX))),
            over: AtomicBool::new(child.is_err()),
            terminal: terminal.map(|(keeper, _)| keeper),
            link: Link::new(),
            argv,
        });
        let own = Arc::clone(&session);
        let run = move || {
            own.run(child);
            own.link.drain(UNREAD);
            own.link.close();
            ended(own.number);
        };
        if let Err(error) = start(run) {
            session.end();
            return Err(error);
        }
        Ok(session)
    }

    /// Carries streams until the program ends, and tells its code.
    fn run(self: &Arc<Self>, child: io::Result<Child>) {
        let exit = match child {
            Ok(child) => self.follow(child).unwrap_or(NOT_EXECUTABLE),
            Err(error) => {
                let line = format!("cannot execute {}: {error}\n", self.argv[0]);
                self.link.send(Kind::Stderr, line.as_bytes());
                match error.kind() {
                    io::ErrorKind::NotFound => NOT_FOUND,
                    _ => NOT_EXECUTABLE,
                }
            }
        };
        self.link.send(Kind::Exit, &exit.to_be_bytes());
    }

    fn follow(self: &Arc<Self>, mut child: Child) -> io::Result<i32> {
        let (done, all_done) = mpsc::channel::<()>();
        let carried = self.carry_all(&mut child, &done);
        drop(done);
        if carried.is_err() {
            self.end();
        }
        // Whatever it left behind ends with it, while its number is still its own.
        if let Some(leader) = self.leader {
            let ended = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
            while let Err(Errno::EINTR) = waitid(wait::Id::Pid(leader), ended) {}
        }
        self.end();
        self.over.store(true, Ordering::SeqCst);
        let status = child.wait();
        // Nothing is ever sent: an error tells that all others are gone.
        let _gone = all_done.recv();
        carried.and(status.map(code))
    }

    fn carry_all(self: &Arc<Self>, child: &mut Child, done: &mpsc::Sender<()>) -> io::Result<()> {
        let input = match &self.terminal {
            Some(keeper) => {
                self.carry(keeper.try_clone()?, Kind::Stdout, done)?;
                Some(Input::Terminal(keeper.try_clone()?))
            }
            None => {
                let (out, err) = (child.stdout.take(), child.stderr.take());
                out.map(|s| self.carry(s, Kind::Stdout, done)).transpose()?;
                err.map(|s| self.carry(s, Kind::Stderr, done)).transpose()?;
                child.stdin.take().map(Input::Pipe)
            }
        };
        let link = Arc::clone(&self.link);
        start(move || feed(&link, input)).map(drop)
    }

    fn carry(
        self: &Arc<Self>,
        stream: impl Read + AsFd + Send + 'static,
        kind: Kind,
        done: &mpsc::Sender<()>,
    ) -> io::Result<()> {
        let (own, done) = (Arc::clone(self), done.clone());
        let carry = move || {
            let mut buffer = vec![0; FRAME];
            output::carry(stream, &own.over, &mut buffer, |piece| {
                own.link.send(kind, piece)
            });
            drop(done);
        };
        start(carry).map(drop)
    }

    /// Serves a connection of its asker, who has so many frames, until it is cut.
    pub(super) fn attend(&self, connection: impl Wire, theirs: u64) -> io::Result<()> {
        let offer = self.link.offer();
        let received = offer.received;
        write_line(connection.again()?, &Answer::Taken { received })?;
        self.link
            .carry(connection, &offer, theirs, |frame| self.at_once(frame))
    }

    /// What does not wait for input to be read.
    fn at_once(&self, (kind, bytes): &Frame) {
        match (kind, &self.terminal, self.leader()) {
            (Kind::Size, Some(terminal), _) => {
                // A terminal whose program is gone needs no size.
                let _gone = Size::from_bytes(bytes).map(|size| size.set(terminal));
            }
            (Kind::Signal, _, Some(leader)) => {
                let number = bytes.first().map(|n| i32::from(*n));
                if let Some(Ok(signal)) = number.map(Signal::try_from) {
                    processes::signal(leader, signal);
                }
            }
            _ => {}
        }
    }

    /// Whether its first process has ended.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    fn leader(&self) -> Option<Pid> {
        self.leader.filter(|_| !self.is_over())
    }

    /// Sends a signal to all its processes.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader() {
            processes::signal(leader, signal);
        }
    }

    /// Ends all its processes.
    pub(super) fn end(&self) {
        if let Some(leader) = self.leader() {
            processes::end(leader);
        }
    }

    /// Ends it and forgets what its asker did not get.
    pub(super) fn forget(&self) {
        self.link.close();
        self.end();
    }

    /// How long nobody has been connected to it.
    pub(super) fn alone(&self) -> Option<Duration> {
        self.link.alone()
    }

    /// What it is, for people.
    pub(super) fn shown(&self, all: &[processes::Process]) -> Program {
        let own = self.leader().map(|leader| processes::of(all, leader));
        let (processes, cpu) = own.unwrap_or_default();
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Program {
            program: self.number,
            argv: self.argv.clone(),
            by: self.by.name.clone(),
            age_ms: millis(self.begun.elapsed()),
            cpu_ms: millis(cpu),
            processes,
            connected: self.alone().is_none(),
        }
    }
}

/// Gives a program its input.
fn feed(link: &Link, input: Option<Input>) {
    let mut input = input;
    while let Some((kind, bytes)) = link.take() {
        if kind != Kind::Stdin {
            continue;
        }
        let fed = match &mut input {
            Some(Input::Pipe(pipe)) if !bytes.is_empty() => pipe.write_all(&bytes),
            Some(Input::Terminal(keeper)) if bytes.is_empty() => keeper.write_all(&[END_OF_INPUT]),
            Some(Input::Terminal(keeper)) => keeper.write_all(&bytes),
            Some(Input::Pipe(_)) | None => {
                input = None;
                Ok(())
            }
        };
        if fed.is_err() {
            // It reads no further; what still comes is taken and thrown away.
            input = None;
        }
    }
}

fn shell() -> &'static str {
    let found = SHELLS.into_iter().find(|shell| Path::new(shell).exists());
    found.unwrap_or(SHELLS[1])
}
