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
