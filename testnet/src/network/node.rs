//! One node as a child process: started, watched, killed, stopped.

use super::cli;
use super::folder::RunFolder;
use super::process::Process;
use super::record::NodeRecord;
use super::seat::Seat;
use anyhow::{Context as _, bail};
use gridbay_node::api::client::Client;
use gridbay_node::api::types::{NodeState, NodeStatus};
use gridbay_node::config::Home;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// How often a node that starts is asked whether it is ready.
const ASK_EVERY: Duration = Duration::from_millis(50);
/// Lines of a node's log that an error quotes.
const QUOTED_LINES: usize = 12;

/// The part of a node in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A founding member: votes and sells.
    Validator,
    /// Joined by invitation.
    Buyer,
}

impl Role {
    /// As in `run.json`.
    pub fn name(self) -> &'static str {
        match self {
            Role::Validator => "validator",
            Role::Buyer => "buyer",
        }
    }
}

/// A node of a run. It belongs to a [`super::Network`], which ends it.
#[derive(Debug)]
pub struct Node {
    /// Name.
    pub name: String,
    /// Role.
    pub role: Role,
    /// Data folder.
    pub home: Home,
    log: PathBuf,
    seat: Seat,
    client: Client,
    child: Option<Child>,
    process: Option<Process>,
    /// The last status that showed it ready.
    status: Option<NodeStatus>,
}

impl Node {
    pub(super) fn new(folder: &RunFolder, name: String, role: Role, seat: Seat) -> Node {
        let home = Home::new(folder.data(&name));
        Node {
            log: folder.log(&name),
            seat,
            client: Client::new(home.socket()),
            child: None,
            process: None,
            status: None,
            name,
            role,
            home,
        }
    }
    /// A client of its API.
    pub fn client(&self) -> &Client {
        &self.client
    }
    /// The status that it had when it was last seen ready.
    pub fn status(&self) -> Option<&NodeStatus> {
        self.status.as_ref()
    }
    /// Its process, if it was started.
    pub fn process(&self) -> Option<&Process> {
        self.process.as_ref()
    }
    /// Whether it was started and neither killed nor stopped.
    pub fn is_up(&self) -> bool {
        self.child.is_some()
    }
    pub(super) fn record(&self) -> NodeRecord {
        let status = self.status.as_ref();
        NodeRecord {
            name: self.name.clone(),
            role: self.role.name().to_owned(),
            node: status.map(|s| s.node.to_hex()).unwrap_or_default(),
            listen: status.map(|s| s.listen.clone()).unwrap_or_default(),
            socket: self.home.socket(),
            data: self.home.path().to_owned(),
            log: self.log.clone(),
            process: self.process.clone(),
        }
    }
    /// Starts its process, in a group of its own: an interrupt from the keyboard is for the
    /// laboratory, which ends nodes in order.
    pub(super) fn start(&mut self, program: &Path) -> anyhow::Result<()> {
        let log = File::options().create(true).append(true).open(&self.log);
        let log = log.with_context(|| format!("cannot write {}", self.log.display()))?;
        let mut command = cli::command(program, self.home.path());
        command.args(["node", "up"]).stdin(Stdio::null());
        command
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0);
        let child = self.seat.spawn(&mut command)?;
        let pid = i32::try_from(child.id()).context("a process number above 2^31")?;
        self.process = Process::look(pid);
        self.child = Some(child);
        Ok(())
    }
    /// Waits until it takes orders.
    pub(super) async fn ready(&mut self, until: Instant) -> anyhow::Result<()> {
        loop {
            if let Some(child) = &mut self.child
                && let Some(exit) = child.try_wait()?
            {
                bail!("{} ended ({exit}):\n{}", self.name, self.last_lines());
            }
            let state = match self.client.get::<NodeStatus>("/node").await {
                Ok(status) if status.state == NodeState::Ready => {
                    // When it had just begun it had no command line yet.
                    let pid = self.process.as_ref().map(|process| process.pid);
                    self.process = pid.and_then(Process::look);
                    self.status = Some(status);
                    return Ok(());
                }
                Ok(status) => status.state.name().to_owned(),
                Err(error) => error.to_string(),
            };
            if Instant::now() > until {
                let lines = self.last_lines();
                bail!("{} was not ready in time ({state}):\n{lines}", self.name);
            }
            tokio::time::sleep(ASK_EVERY).await;
        }
    }
    /// Kills it at once, as a power cut would.
    pub(super) fn kill(&mut self) -> anyhow::Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        self.process = None;
        Ok(())
    }
    /// Asks it to end.
    pub(super) fn ask_to_end(&self) {
        // Not yet waited for, so the number is still this child's.
        if let Some(pid) = self.child.as_ref().and_then(|c| i32::try_from(c.id()).ok()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
    }
    /// Whether its process is over.
    pub(super) fn has_ended(&mut self) -> bool {
        self.child
            .as_mut()
            .is_none_or(|child| child.try_wait().is_ok_and(|exit| exit.is_some()))
    }
    /// Lets go of its process: nobody ends it from here.
    pub(super) fn let_go(&mut self) {
        self.child = None;
    }
    /// The last lines that it printed.
    pub fn last_lines(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let from = lines.len().saturating_sub(QUOTED_LINES);
        lines[from..].iter().map(|l| format!("  {l}\n")).collect()
    }
}
