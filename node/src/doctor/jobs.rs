//! How strangers' jobs run.

use super::{Finding, Kind};

/// The findings for an owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum JobsFact {
    /// All is enforced.
    #[default]
    Isolated,
    /// Isolated, but these bounds are only watched.
    Watched(Vec<&'static str>),
    /// The owner sells the plain tier.
    Unisolated,
    /// Nothing is sold, for this reason.
    None(String),
}

pub(super) fn jobs(fact: &JobsFact) -> Option<Finding> {
    match fact {
        JobsFact::Isolated => None,
        JobsFact::Watched(which) => Some(Finding::new(
            Kind::JobsWatched,
            format!("of jobs, {} are watched and not enforced", which.join(", ")),
            "the node has no control groups for them: between two looks a job can be beyond its bounds",
            "start the node with delegated control groups: systemd-run --user --scope -p Delegate=yes \
             gridbay node up, or a service with Delegate=yes and DelegateSubgroup=node",
        )),
        JobsFact::Unisolated => Some(Finding::new(
            Kind::JobsUnisolated,
            "strangers' jobs run beside this node without isolation",
            "jobs.unisolated is on and this machine gives no namespaces",
            "let users make namespaces (see docs/sandbox.md), or set jobs.unisolated to off",
        )),
        JobsFact::None(why) => Some(Finding::new(
            Kind::NoJobs,
            "this node sells nothing: strangers' jobs would not be isolated",
            why,
            "if it is to sell, let users make namespaces (by sysctl or an AppArmor profile), or run the \
             node as root; see docs/cluster.md and docs/sandbox.md; buying needs none",
        )),
    }
}

/// Why jobs that want a network of their own cannot run here.
pub(super) fn network(why: &str) -> Finding {
    Finding::new(
        Kind::NoClusters,
        "jobs that want a network of their own do not run here",
        why,
        "let users make namespaces (by sysctl or an AppArmor profile) or run the node as root, and open \
         /dev/net/tun to users (chmod 666) or have a kernel with veth and packet sockets; see \
         docs/cluster.md",
    )
}

/// Why jobs' networks have no TUN devices, although they work.
pub(super) fn no_tun(why: &str) -> Finding {
    Finding::new(
        Kind::NoTun,
        "jobs' networks work by virtual cables (veth), because there are no TUN devices for them",
        why,
        "nothing has to be done; to have TUN devices, open /dev/net/tun to users (chmod 666)",
    )
}

/// Strangers' jobs use this machine's address.
pub(super) fn web() -> Finding {
    Finding::new(
        Kind::JobsReachWeb,
        "strangers' jobs that ask for it reach the web from this machine's address",
        "jobs.outbound is web",
        "nothing has to be done; whoever trusts this address trusts them, see docs/outbound.md; set \
         jobs.outbound to none to end it",
    )
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    #[test]
    fn an_owner_is_told_the_truth_about_jobs() {
        assert_eq!(jobs(&JobsFact::Isolated), None);
        for (fact, kind) in [
            (JobsFact::Watched(vec!["memory"]), Kind::JobsWatched),
            (JobsFact::Unisolated, Kind::JobsUnisolated),
            (JobsFact::None("clone: EPERM".to_owned()), Kind::NoJobs),
        ] {
            assert_eq!(jobs(&fact).unwrap().kind, kind);
        }
        assert_eq!(network("open: EACCES").kind, Kind::NoClusters);
        assert_eq!(web().severity, Severity::Hint);
        let cable = no_tun("tun: EACCES");
        assert_eq!((cable.kind, &*cable.why), (Kind::NoTun, "tun: EACCES"));
        assert_eq!(cable.severity, Severity::Hint);
    }
}
