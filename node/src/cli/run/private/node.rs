//! The one node of a private market, as a process.

use super::{LOOK, late};
use crate::api::types::{NodeState, NodeStatus};
use crate::buy::flags::NOT_SENT;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Time that it has to end by itself.
const END: Duration = Duration::from_secs(10);

/// A child; it must be ended or let go.
#[derive(Debug)]
pub(super) struct Node {
    child: Child,
    log: PathBuf,
}

impl Node {
    /// Starts it, in a group of its own: an interrupt from the keyboard is for the job. Unless it
    /// is to stay, its standard input is held by this process and ends with it.
    pub(super) fn start(at: &Context, stays: bool) -> Result<Node, CliError> {
        let log = at.home.path().join("node.log");
        let child = spawn(at, stays, &log).map_err(|error| {
            let why = format!("the node of a private market cannot be started: {error}");
            CliError::new(Exit::FAILED, NOT_SENT, why, "free memory or file handles")
        })?;
        Ok(Node { child, log })
    }

    /// Waits until it takes orders.
    pub(super) async fn ready(&mut self, at: &Context, until: Instant) -> Result<(), CliError> {
        let client = at.client()?;
        loop {
            if let Ok(Some(exit)) = self.child.try_wait() {
                let why = format!(
                    "the node of a private market ended ({exit}): {}",
                    self.last()
                );
                let next =
                    "see what it lacks: gridbay doctor; where there is a network, gridbay join";
                return Err(CliError::new(Exit::FAILED, NOT_SENT, why, next));
            }
            let status = client.get::<NodeStatus>("/node").await;
            if status.is_ok_and(|status| status.state == NodeState::Ready) {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(late(&self.last()));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Ends it: it is asked first.
    pub(super) fn end(&mut self) {
        // Not waited for yet, so the number is still this child's.
        if let Ok(pid) = i32::try_from(self.child.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let until = Instant::now() + END;
        while Instant::now() < until && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(LOOK);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// The last line that it printed.
    fn last(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        text.lines().last().unwrap_or("it said nothing").to_owned()
    }
}

fn spawn(at: &Context, stays: bool, log: &Path) -> io::Result<Child> {
    let log = File::create(log)?;
    let mut command = Command::new(env::current_exe()?);
    let own = |name: &str| name.starts_with("GRIDBAY_");
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(own)) {
        command.env_remove(name);
    }
    command.arg("--data").arg(at.home.path());
    for setting in &at.sources.flags {
        command.args(["--set", setting]);
    }
    command.args(["node", "up"]);
    match stays {
        true => command.stdin(Stdio::null()),
        false => command.arg("--private").stdin(Stdio::piped()),
    };
    command
        .stdout(log.try_clone()?)
        .stderr(log)
        .process_group(0)
        .spawn()
}
