//! The table of probes: what a hostile job tries, group by group.

use super::inside::{self, Answer};
use gridbay_node::executor::Limits;

/// Tells the program to be somebody who does nothing.
pub(crate) const STAND_STILL: &str = "stand-still";

/// What a probe is told of the stage, as variables.
pub(crate) mod env {
    /// A file that only the node may read.
    pub(crate) const SECRET: &str = "PROBE_SECRET";
    /// The folder it is in.
    pub(crate) const HOME: &str = "PROBE_HOME";
    /// A socket on which the node listens.
    pub(crate) const SOCKET: &str = "PROBE_SOCKET";
    /// One for datagrams.
    pub(crate) const DATAGRAM: &str = "PROBE_DATAGRAM";
    /// Name of an abstract one.
    pub(crate) const ABSTRACT: &str = "PROBE_ABSTRACT";
    /// Port on the host's loopback on which somebody listens.
    pub(crate) const PORT: &str = "PROBE_PORT";
    /// Process id of somebody who stands for the node.
    pub(crate) const NODE: &str = "PROBE_NODE";
    /// A word of that process's command line.
    pub(crate) const MARK: &str = "PROBE_MARK";
    /// Process id of another job.
    pub(crate) const NEIGHBOUR: &str = "PROBE_NEIGHBOUR";
    /// A file of that job.
    pub(crate) const NEIGHBOURS_FILE: &str = "PROBE_NEIGHBOURS_FILE";
    /// The host's name.
    pub(crate) const HOST: &str = "PROBE_HOST";
}

/// One thing that a job tries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// Its name, unique.
    pub(crate) name: &'static str,
    /// The attempt, made inside.
    pub(crate) attempt: fn() -> Answer,
    /// The bounds that it tries, if it does: then it may be ended by them.
    pub(crate) limits: Option<fn(&mut Limits)>,
}

/// A probe within the ordinary limits.
pub(crate) const fn probe(name: &'static str, attempt: fn() -> Answer) -> Probe {
    Probe {
        name,
        attempt,
        limits: None,
    }
}

/// A probe of limits.
pub(crate) const fn limit(
    name: &'static str,
    limits: fn(&mut Limits),
    attempt: fn() -> Answer,
) -> Probe {
    Probe {
        name,
        attempt,
        limits: Some(limits),
    }
}

/// All probes.
pub(crate) fn all() -> impl Iterator<Item = &'static Probe> {
    let groups = [
        inside::CALLS,
        inside::KERNEL,
        inside::SOCKETS,
        inside::FILES,
        inside::PROC,
        inside::PROCESSES,
        inside::LIMITS,
    ];
    groups.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn there_are_enough_probes_and_each_has_its_name() {
        let names: BTreeSet<&str> = all().map(|probe| probe.name).collect();
        assert_eq!(names.len(), all().count());
        assert!(names.len() >= 60 && !names.contains(STAND_STILL));
    }
}
