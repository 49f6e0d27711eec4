//! Two programs meet: peers as [`super::super::peer`] describes them, each a process inside its
//! host.
//!
//! 1. A relay is started on the lab's first open host; once it is ready, its addresses are given to
//!    the others.
//! 2. The waiting peer is started, then, once that is ready, the dialing one.
//! 3. Their lines are judged as they come. It is over when both have a direct path, when they have
//!    had any path for `settle`, or when there is none after `patience`. The words told until then
//!    count.
//! 4. All three are killed, whatever happened.

use super::super::exec;
use super::super::peer::{Event, Role};
use super::super::{Kind, Lab};
use super::{Judge, Meeting, Outcome, Path, Side};
use anyhow::{Context as _, bail};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Events that wait for the judge; a peer that tells more waits itself.
pub(in super::super) const EVENTS: usize = 64;
/// Bytes of a line; a longer one is cut into several, which are no events.
const LINE_BYTES: u64 = 64 << 10;

/// How to run peers.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The program.
    pub program: PathBuf,
    /// Its words before those of the role.
    pub words: Vec<OsString>,
    /// Until a peer is ready, and until there is any path.
    pub patience: Duration,
    /// Time in which a relayed path may become a direct one.
    pub settle: Duration,
    /// Where what peers print on standard error is kept, one file a host; discarded if there is
    /// none.
    pub logs: Option<PathBuf>,
}

/// A running peer; killed when it goes out of scope.
#[derive(Debug)]
pub(in super::super) struct Peer {
    child: Child,
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The side that told something; the relay is none.
pub(in super::super) type Told = (Option<Side>, Event);

impl Meeting for Programs {
    fn meet(&self, lab: &Lab, waiting: &str, dialing: &str) -> anyhow::Result<Outcome> {
        let (sender, told) = sync_channel(EVENTS);
        let (_relay, relay) = self.relay(lab, 0, &sender, &told)?;
        let mut early = Vec::new();

        let role = Role::Wait {
            relay: relay.clone(),
        };
        let side = Some(Side::Waiting);
        let _waiting = self.start(lab, waiting, &role, side, &sender)?;
        let (peer, _) = self.ready(&told, side, &mut early)?;

        let began = Instant::now();
        let role = Role::Dial {
            relay,
            peer: peer.clone(),
        };
        let side = Some(Side::Dialing);
        let _dialing = self.start(lab, dialing, &role, side, &sender)?;
        let (own, _) = self.ready(&told, side, &mut early)?;
        let mut judge = Judge::new(peer, own);
        for (side, event) in early {
            judge.hear(side, &event, ms_since(began));
        }
        Ok(self.judge(judge, &told, began))
    }
}

impl Programs {
    /// Starts a relay on the lab's open host of this place, counted from 0; returns its addresses
    /// with it.
    pub(in super::super) fn relay(
        &self,
        lab: &Lab,
        place: usize,
        sender: &SyncSender<Told>,
        told: &Receiver<Told>,
    ) -> anyhow::Result<(Peer, Vec<String>)> {
        let hosts = lab.topology().hosts();
        let mut open = hosts.filter(|(_, network, _)| network.kind == Kind::Open);
        let (host, ..) = open.nth(place).context("a relay takes an open host")?;
        let relay = self.start(lab, host, &Role::Relay, None, sender)?;
        let (_, addresses) = self.ready(told, None, &mut Vec::new())?;
        Ok((relay, addresses))
    }
    pub(in super::super) fn start(
        &self,
        lab: &Lab,
        host: &str,
        role: &Role,
        side: Option<Side>,
        sender: &SyncSender<Told>,
    ) -> anyhow::Result<Peer> {
        let mut command = Command::new(&self.program);
        command.args(&self.words).args(role.words());
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(match &self.logs {
            Some(folder) => File::create(folder.join(format!("{host}.log")))?.into(),
            None => Stdio::null(),
        });
        let mut child = exec::spawn(lab, host, &mut command)?;
        let stdout = child.stdout.take();
        let peer = Peer { child };
        let (stdout, sender) = (stdout.context("its output is a pipe")?, sender.clone());
        thread::spawn(move || listen(stdout, side, &sender));
        Ok(peer)
    }
    /// Waits until one says that it is ready. Words of others meanwhile are kept: lines of two
    /// peers do not arrive in the order in which they were told.
    pub(in super::super) fn ready(
        &self,
        told: &Receiver<Told>,
        side: Option<Side>,
        early: &mut Vec<(Side, Event)>,
    ) -> anyhow::Result<(String, Vec<String>)> {
        let until = Instant::now() + self.patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match told.recv_timeout(left) {
                Ok((from, Event::Ready { peer, addrs })) if from == side => {
                    return Ok((peer, addrs));
                }
                Ok((Some(from), event)) if early.len() < EVENTS => early.push((from, event)),
                Ok(_) => {}
                Err(_) => bail!("a peer was not ready within {:?}", self.patience),
            }
        }
    }
    fn judge(&self, mut judge: Judge, told: &Receiver<Told>, began: Instant) -> Outcome {
        let mut connected = None;
        while judge.path() != Path::Direct {
            let until = match judge.path() {
                Path::None => began + self.patience,
                _ => *connected.get_or_insert_with(Instant::now) + self.settle,
            };
            let left = until.saturating_duration_since(Instant::now());
            match told.recv_timeout(left) {
                Ok((Some(side), event)) => judge.hear(side, &event, ms_since(began)),
                Ok((None, _)) => {}
                Err(_) => break,
            }
        }
        judge.outcome()
    }
}

fn ms_since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Reads a peer's events until it ends or nobody listens any more.
fn listen(stdout: ChildStdout, side: Option<Side>, sender: &SyncSender<Told>) {
    let mut lines = BufReader::new(stdout);
    let mut line = String::new();
    loop {
        line.clear();
        match lines.by_ref().take(LINE_BYTES).read_line(&mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if let Some(event) = Event::read(&line)
            && sender.send((side, event)).is_err()
        {
            return;
        }
    }
}
