//! Watching one sandbox from its start to its end. The loop sleeps in `poll` until something
//! happens: a signal, an order, a report, output, or a deadline.

mod end;

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;

use super::disk::Disk;
use super::gauge::Gauge;
use super::handover::Handover;
use super::output::Stream;
use super::tree;
use crate::executor::capability::Tier;
use crate::executor::folder::{Control, Folder, Launch};
use crate::executor::job::Network;
use crate::executor::notice;
use crate::executor::outcome::{Exit, Finished, KillReason, Started, Status};
use crate::executor::sandbox::report::{Ending, Inbox, Report};
use crate::executor::sandbox::{self, Plan, sys};

/// How long a sandbox may take to come up, on a machine that is busy with everything else.
const SETUP: Duration = Duration::from_secs(30);
/// Grace for the job when the machine goes down, or when its lease ends.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);
/// Longest order that is read.
const MAX_ORDER: usize = 4096;

/// Runs the job to its end.
pub(super) fn run(folder: &Folder, launch: &Launch, control: File) -> io::Result<Finished> {
    let signals = take_signals()?;
    if launch.tier == Tier::Plain {
        // Orphans among the job's processes become this one's children.
        prctl::set_child_subreaper(true)?;
    }
    let plan = Plan {
        spec: &launch.spec,
        tier: launch.tier,
        link: launch.link,
        read_only: &launch.read_only,
        folder: folder.path(),
        group: launch.group.as_ref(),
    };
    let sandbox = sandbox::launch(&plan)?;
    sys::set_nonblocking(sandbox.report.as_fd())?;
    let cap = launch.spec.limits.output_bytes;
    let mut watch = Watch {
        folder,
        launch,
        control,
        orders: Vec::new(),
        signals,
        main: sandbox.pid,
        report: Some(File::from(sandbox.report)),
        inbox: Inbox::default(),
        device: sandbox.device,
        handover: None,
        streams: [
            Stream::new(sandbox.stdout, &folder.stdout(), cap)?,
            Stream::new(sandbox.stderr, &folder.stderr(), cap)?,
        ],
        gauge: Gauge::of(launch),
        landlock: false,
        started: None,
        began: None,
        failure: None,
        ending: None,
        gone: None,
        deadline: Some(Instant::now() + SETUP),
        disk: Disk::new(
            folder.path(),
            [folder.work(), folder.tmp()],
            launch.spec.limits.disk_bytes,
            launch.floor,
            // *init* is not the job's, and lets nobody look at it.
            (launch.tier == Tier::Namespaces).then_some(sandbox.pid),
        ),
        lease: launch
            .spec
            .limits
            .lease
            .and_then(|left| Instant::now().checked_add(left)),
        kill_at: None,
        killed: false,
        verdict: None,
    };
    while watch.gone.is_none() {
        if let Err(e) = watch.step() {
            // A job that cannot be watched must not run.
            watch.kill()?;
            while watch.gone.is_none() {
                watch.reap(true);
            }
            watch.failure = Some(format!("supervision: {e}"));
        }
    }
    watch.finish()
}

/// Signals arrive through a descriptor from now on.
fn take_signals() -> io::Result<SignalFd> {
    let mut mask = SigSet::empty();
    for signal in [
        Signal::SIGCHLD,
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGHUP,
    ] {
        mask.add(signal);
    }
    mask.thread_block()?;
    Ok(SignalFd::with_flags(
        &mask,
        SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC,
    )?)
}

/// A sandbox under way.
struct Watch<'a> {
    folder: &'a Folder,
    launch: &'a Launch,
    control: File,
    orders: Vec<u8>,
    signals: SignalFd,
    main: Pid,
    report: Option<File>,
    inbox: Inbox,
    /// Where the sandbox sends what the job hands over.
    device: OwnedFd,
    /// That, once it is there.
    handover: Option<Handover>,
    streams: [Stream; 2],
    /// Looks at what the kernel does not bound.
    gauge: Gauge,
    landlock: bool,
    started: Option<Started>,
    /// When the job's first instruction was.
    began: Option<Instant>,
    /// The sandbox's report of a failure before the job began.
    failure: Option<String>,
    /// How the job ended, by report of *init*.
    ending: Option<Ending>,
    /// How the sandbox's first process ended.
    gone: Option<Ending>,
    /// End of the set-up time, then of the wall limit; `None` once the kill was sent.
    deadline: Option<Instant>,
    /// The disk that the job holds.
    disk: Disk,
    /// Until when the node said that the job may run; `None` for any time, and once it was told to
    /// end.
    lease: Option<Instant>,
    /// End of the grace, if a stop was asked for.
    kill_at: Option<Instant>,
    /// Whether the kill was sent.
    killed: bool,
    /// Why this supervisor ends or ended the job.
    verdict: Option<Exit>,
}

impl Watch<'_> {
    fn step(&mut self) -> io::Result<()> {
        self.sleep()?;
        self.take_reports()?;
        // Not before the start is written: output proves to its reader that the job runs.
        if self.began.is_some() {
            self.streams
                .iter_mut()
                .for_each(|stream| _ = stream.advance());
        }
        self.take_orders();
        self.handover.iter_mut().for_each(Handover::serve);
        self.take_signals()?;
        if self.gone.is_some() {
            // Its number may be another's by now: from here on nothing may be sent to it.
            return Ok(());
        }
        self.look()?;
        self.keep_lease();
        self.keep_disk()?;
        self.keep_deadlines()
    }

    /// Ends a job that has more than it may of what is only watched.
    fn look(&mut self) -> io::Result<()> {
        if self.began.is_none() || self.killed {
            return Ok(());
        }
        if let Some(reason) = self.gauge.look(Instant::now())? {
            self.verdict.get_or_insert(Exit::Killed { reason });
            self.kill()?;
        }
        Ok(())
    }

    /// Waits until there is something to do. Everything is then looked at without blocking, so
    /// which descriptor it was does not matter.
    fn sleep(&self) -> io::Result<()> {
        let mut fds: Vec<BorrowedFd<'_>> = vec![self.signals.as_fd(), self.control.as_fd()];
        fds.extend(self.report.as_ref().map(AsFd::as_fd));
        fds.extend(self.handover.as_ref().map(Handover::waits_on));
        if self.began.is_some() {
            fds.extend(self.streams.iter().filter_map(Stream::waits_on));
        }
        let look = self.began.filter(|_| !self.killed);
        let look = look.and_then(|_| self.gauge.next());
        let disk = self.watches_disk().then(|| self.disk.next());
        let next = [self.deadline, self.kill_at, self.lease, look, disk];
        let next = next.into_iter().flatten().min();
        let timeout = next.map(|t| t.saturating_duration_since(Instant::now()));
        sys::poll_readable(&fds, timeout).map(drop)
    }

    fn take_reports(&mut self) -> io::Result<()> {
        let Some(pipe) = &mut self.report else {
            return Ok(());
        };
        let mut buffer = [0; 4096];
        match pipe.read(&mut buffer) {
            Ok(0) => self.report = None,
            Ok(count) => {
                for report in self.inbox.push(buffer.get(..count).unwrap_or_default()) {
                    self.apply(report)?;
                }
            }
            Err(e) if is_transient(&e) => {}
            Err(e) => return Err(e),
        }
        Ok(())
    }

    fn apply(&mut self, report: Report) -> io::Result<()> {
        match report {
            Report::Ready { landlock } => {
                self.landlock = landlock;
                let spec = &self.launch.spec;
                if spec.network != Network::None || spec.internet {
                    self.handover = Some(Handover::open(&self.device, &self.folder.net())?);
                }
            }
            Report::Failed(message) => self.failure = Some(message),
            Report::Ended(ending) => self.ending = Some(ending),
            Report::Exec {
                realtime_ms,
                monotonic_us,
            } => {
                let now = Instant::now();
                self.began = Some(now);
                if self.deadline.is_some() {
                    self.deadline = now.checked_add(self.launch.spec.limits.wall);
                }
                let pid = self.main.as_raw();
                let started = Started {
                    supervisor: Pid::this().as_raw(),
                    pid,
                    pid_start_ticks: tree::stat_field(pid, tree::START).unwrap_or(0),
                    realtime_ms,
                    monotonic_us,
                    landlock: self.landlock,
                };
                self.folder.write_state(&Status::Running(started.clone()))?;
                self.started = Some(started);
            }
        }
        Ok(())
    }

    fn take_orders(&mut self) {
        let mut buffer = [0; MAX_ORDER];
        let Ok(count) = self.control.read(&mut buffer) else {
            return;
        };
        self.orders
            .extend_from_slice(buffer.get(..count).unwrap_or_default());
        while let Some(end) = self.orders.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = self.orders.drain(..=end).collect();
            match serde_json::from_slice(&line) {
                Ok(Control::Stop { grace_ms }) => {
                    self.stop(KillReason::Stopped, Duration::from_millis(grace_ms));
                }
                Ok(Control::Lease { left_ms }) if self.verdict.is_none() => {
                    self.lease = Instant::now().checked_add(Duration::from_millis(left_ms));
                }
                _ => {}
            }
        }
        if self.orders.len() > MAX_ORDER {
            self.orders.clear();
        }
    }

    fn take_signals(&mut self) -> io::Result<()> {
        while let Some(signal) = self.signals.read_signal()? {
            if i32::try_from(signal.ssi_signo) != Ok(libc::SIGCHLD) {
                self.stop(KillReason::Shutdown, SHUTDOWN_GRACE);
            }
        }
        self.reap(false);
        Ok(())
    }

    /// Takes note of children that have ended, if `block` waiting for one.
    fn reap(&mut self, block: bool) {
        while self.gone.is_none() {
            match sys::wait_child(block) {
                Ok(Some((pid, ending))) if pid == self.main => self.gone = Some(ending),
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Kills the whole job.
    fn kill(&mut self) -> io::Result<()> {
        self.killed = true;
        match self.launch.tier {
            // The kernel takes all of the pid namespace down with its first process.
            Tier::Namespaces => Ok(kill(self.main, Signal::SIGKILL)?),
            Tier::Plain => {
                tree::signal_all(Signal::SIGSTOP)?;
                tree::signal_all(Signal::SIGKILL).map(drop)
            }
        }
    }

    /// Asks the job to end, and sees to it that it has ended after `grace`. A second order can
    /// shorten the grace, not prolong it.
    fn stop(&mut self, reason: KillReason, grace: Duration) {
        let now = Instant::now();
        if self.began.is_none() {
            // There is no job yet that could make use of a grace.
            self.kill_at = Some(now);
        } else {
            let until = now.checked_add(grace);
            self.kill_at = self.kill_at.into_iter().chain(until).min();
            self.give_notice(&reason, grace);
            let _ = match self.launch.tier {
                Tier::Namespaces => kill(self.main, Signal::SIGTERM).map_err(Into::into),
                Tier::Plain => tree::signal_all(Signal::SIGTERM).map(drop),
            };
        }
        self.verdict.get_or_insert(Exit::Killed { reason });
    }

    /// Tells a job that keeps its progress why it ends, and when.
    fn give_notice(&self, reason: &KillReason, grace: Duration) {
        if self.launch.spec.farewell.is_some()
            && let Err(error) = notice::write(&self.folder.work(), reason, grace)
        {
            // The signal comes all the same.
            let _ = writeln!(io::stderr(), "gridbay supervisor: no notice: {error}");
        }
    }

    /// Ends the job at the time that the node told last: the node may be halted or gone.
    fn keep_lease(&mut self) {
        if self.lease.is_some_and(|end| end <= Instant::now()) {
            self.lease = None;
            let farewell = self.launch.spec.farewell.as_ref();
            self.stop(
                KillReason::Lease,
                farewell.map_or(SHUTDOWN_GRACE, |f| f.grace),
            );
        }
    }

    /// Whether the job can still write.
    fn watches_disk(&self) -> bool {
        self.began.is_some() && !self.killed
    }

    /// Ends the job at once if it holds too much of the disk, also within its grace.
    fn keep_disk(&mut self) -> io::Result<()> {
        if self.watches_disk()
            && let Some(reason) = self.disk.look(Instant::now())?
        {
            self.verdict = Some(Exit::Killed { reason });
            (self.deadline, self.kill_at, self.lease) = (None, None, None);
            self.kill()?;
        }
        Ok(())
    }

    fn keep_deadlines(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let passed = |t: Option<Instant>| t.is_some_and(|t| t <= now);
        if passed(self.deadline) {
            let reason = KillReason::Setup("it took too long".to_owned());
            let late = if self.began.is_some() {
                Exit::TimeLimit
            } else {
                Exit::Killed { reason }
            };
            self.verdict.get_or_insert(late);
        } else if !passed(self.kill_at) {
            return Ok(());
        }
        (self.deadline, self.kill_at) = (None, None);
        self.kill()
    }
}

fn is_transient(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
