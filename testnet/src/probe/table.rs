//! The table of probes: the attempts of a hostile job, group by group.

use super::inside::{self, Probe};

/// Tells the program to be somebody who does nothing.
pub(crate) const STAND_STILL: &str = "stand-still";

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

/// Probes of what no count sees: only a quota of the kernel bounds it, so they run where there are
/// quotas (`docs/durability.md`).
pub(crate) const BY_QUOTA: [&str; 1] = ["disk-in-messages"];

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
        assert!(BY_QUOTA.iter().all(|name| names.contains(name)));
    }
}
