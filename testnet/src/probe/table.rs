//! The table of probes: the attempts of a hostile job, group by group.

use super::inside::{self, Answer};
use gridbay_node::executor::Limits;

/// Tells the program to be somebody who does nothing.
pub(crate) const STAND_STILL: &str = "stand-still";

/// The variables by which a probe is told about the stage.
pub(crate) mod env {
    /// A file that only the node may read.
    pub(crate) const SECRET: &str = "PROBE_SECRET";
    /// The folder it is in.
    pub(crate) const HOME: &str = "PROBE_HOME";
    /// A socket on which the node listens.
    pub(crate) const SOCKET: &str = "PROBE_SOCKET";
    /// One for datagrams.
    pub(crate) const DATAGRAM: &str = "PROBE_DATAGRAM";
    /// Name of an abstract one; with [`DATAGRAMS`] behind it, of one for datagrams.
    pub(crate) const ABSTRACT: &str = "PROBE_ABSTRACT";
    /// Behind the name of an abstract socket.
    pub(crate) const DATAGRAMS: &str = "-datagrams";
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
    /// A file of root's that only a group may read in which the node is besides its own, or
    /// [`NO_FILE`].
    pub(crate) const GROUP_FILE: &str = "PROBE_GROUP_FILE";
    /// Where root did not begin and so could make none.
    pub(crate) const NO_FILE: &str = "none";
    /// There if the probe runs outside of a job, to show that it reaches what it tries.
    pub(crate) const OUTSIDE: &str = "PROBE_OUTSIDE";

    /// The variables of every probe.
    pub(crate) const ALL: [&str; 12] = [
        SECRET,
        HOME,
        SOCKET,
        DATAGRAM,
        ABSTRACT,
        PORT,
        NODE,
        MARK,
        NEIGHBOUR,
        NEIGHBOURS_FILE,
        HOST,
        GROUP_FILE,
    ];
    /// Those that are numbers.
    pub(crate) const NUMBERS: [&str; 3] = [PORT, NODE, NEIGHBOUR];
}

/// Probes that reach their aim outside of a job, as the node's own user: each runs there once,
/// before it runs in one. Not among them are those that need root or another kernel, that would
/// harm the stage, and that try bounds of the executor's own making.
pub(crate) const REACHES: [&str; 34] = [
    "host-loopback",
    "node-socket",
    "abstract-socket",
    "datagram-pair",
    "datagram-pair-abstract",
    "read-key",
    "write-key",
    "chmod-key",
    "times-of-key",
    "owner-of-key",
    "list-node-folder",
    "neighbours-file",
    "own-orders",
    "sys",
    "host-name",
    "host-processes",
    "signal-node",
    "signal-neighbour",
    "signal-by-descriptor",
    "read-limits-of-node",
    "scheduler-of-node",
    "environment-of-node",
    "descriptors-of-node",
    "namespaces-of-node",
    "address-space",
    "descriptors",
    "file-size",
    "disk-total",
    "disk-files",
    "disk-nameless",
    "disk-mapped",
    "deep-tree",
    "endless-output",
    "room-set-aside",
];

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
        inside::DISK,
        inside::HIDDEN,
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
        assert!(REACHES.iter().all(|name| names.contains(name)));
    }
}
