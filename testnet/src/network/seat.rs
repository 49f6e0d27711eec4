//! Where a node runs: a network namespace, and addresses.

use super::cli;
use crate::lab::netns;
use anyhow::Context as _;
use std::path::PathBuf;
use std::process::{Child, Command};

/// A place for one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// Path of its network namespace; `None` for the one of the laboratory.
    pub namespace: Option<PathBuf>,
    /// Addresses that it listens on.
    pub listen: Vec<String>,
    /// Addresses at which others reach it, as a founder tells in the genesis. A node that joins
    /// finds out.
    pub reached: Vec<String>,
}

impl Seat {
    /// On `port` of the loopback interface; port 0 takes a free one.
    pub fn loopback(port: u16) -> Seat {
        let both = cli::both_transports("127.0.0.1", port);
        Seat {
            namespace: None,
            listen: both.to_vec(),
            reached: both.to_vec(),
        }
    }
    /// The same, that also listens where the strictest firewalls let their nodes out to.
    pub fn also_at_443(mut self) -> Seat {
        let tcp = |address: &String| {
            let (host, _) = address.split_once("/tcp/")?;
            Some(format!("{host}/tcp/443"))
        };
        let more: Vec<String> = self.listen.iter().filter_map(tcp).collect();
        self.listen.extend(more);
        let more: Vec<String> = self.reached.iter().filter_map(tcp).collect();
        self.reached.extend(more);
        self
    }
    /// Starts a process there.
    ///
    /// # Errors
    /// The namespace is gone, or the program does not start.
    pub(super) fn spawn(&self, command: &mut Command) -> anyhow::Result<Child> {
        let child = match &self.namespace {
            None => command.spawn(),
            Some(path) => netns::inside(path, || command.spawn())?,
        };
        child.with_context(|| format!("cannot run {:?}", command.get_program()))
    }
}
