//! The options of a kill test.

use std::path::PathBuf;

/// Nodes that order jobs and do not vote.
pub(super) const BUYERS: usize = 2;

/// The options of a run.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The program of the nodes.
    pub(crate) program: PathBuf,
    /// Kills.
    pub(crate) kills: usize,
    /// Decides who is killed when; moments also depend on the machine.
    pub(crate) seed: u64,
    /// Validators.
    pub(crate) validators: usize,
    /// Log filter of the nodes.
    pub(crate) log: String,
    /// Leave the run's folder.
    pub(crate) keep: bool,
}
