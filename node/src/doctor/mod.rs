//! Finds the faults of a node's network and its jobs, and says in plain words how to mend them.
//! Pure: facts come in, findings go out.
//!
//! 1. [`stopped`] judges a folder without a running node, [`running`] a node.
//! 2. A finding is of one [`Kind`] and names the fault, the evidence and the remedy.
//! 3. The gravest come first ([`in_order`]). A hint alone does not mean that something is wrong.

mod handle;
mod jobs;
mod pairs;
pub(crate) mod routes;
mod running;
mod stopped;

pub use jobs::JobsFact;
pub use pairs::PairFact;
pub use running::{PeerFact, Running, running};
pub use stopped::{Stopped, stopped};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

named! {
    /// How much a finding weighs.
    pub enum Severity {
        /// The node does not do its work.
        Broken = "broken",
        /// It works worse than it could, or may soon fail.
        Warning = "warning",
        /// Good to know.
        Hint = "hint",
    }
}

/// The kinds of findings, by weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = FindingKind)]
pub enum Kind {
    /// The settings cannot be used.
    Settings,
    /// The folder belongs to no network.
    NoNetwork,
    /// Somebody else has the port.
    PortInUse,
    /// No node runs.
    NotRunning,
    /// The disk fails.
    Disk,
    /// The clock is wrong.
    Clock,
    /// Nobody is connected.
    NoPeers,
    /// The ledger does not take the invitation.
    Invitation,
    /// A listener is gone.
    ListenerMissing,
    /// Nobody can reach it: it cannot be dialled and has no place at a relay.
    NoRelay,
    /// The network makes no blocks.
    NoBlocks,
    /// It does not have the newest blocks.
    Behind,
    /// The declared address does not work.
    ExternalRefuted,
    /// It does not listen where the genesis says.
    PromiseUnheard,
    /// A name cannot be resolved.
    NameUnresolved,
    /// UDP does not come through.
    UdpBlocked,
    /// All peers are in one network.
    OnePrefix,
    /// The disk is nearly full.
    DiskShort,
    /// Many peers misbehave.
    ManyBans,
    /// Messages of others go through too few hands.
    MeshSmall,
    /// The solver of reservations does not help.
    Solver,
    /// It does not reach a member of a lease's network.
    PairCut,
    /// Strangers' jobs run without isolation.
    JobsUnisolated,
    /// It has no more places for those who cannot be dialled.
    RelayFull,
    /// The worst kind of NAT.
    SymmetricNat,
    /// No strangers' jobs run here.
    NoJobs,
    /// Some bounds of jobs are watched only.
    JobsWatched,
    /// Jobs have no private network of their lease.
    NoClusters,
    /// They have one without TUN devices.
    NoTun,
    /// Strangers' jobs reach the web.
    JobsReachWeb,
}

impl Kind {
    /// How much it weighs.
    pub fn severity(self) -> Severity {
        if self <= Kind::Behind {
            Severity::Broken
        } else if self <= Kind::JobsUnisolated {
            Severity::Warning
        } else {
            Severity::Hint
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Finding {
    /// Kind.
    pub kind: Kind,
    /// Weight.
    pub severity: Severity,
    /// The fault.
    pub what: String,
    /// How that is known.
    pub why: String,
    /// The remedy.
    pub mend: String,
}

impl Finding {
    fn new(
        kind: Kind,
        what: impl Into<String>,
        why: impl Into<String>,
        mend: impl Into<String>,
    ) -> Finding {
        Finding {
            kind,
            severity: kind.severity(),
            what: what.into(),
            why: why.into(),
            mend: mend.into(),
        }
    }
}

/// The gravest first, equal ones in the order in which they were found.
pub fn in_order(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| (finding.severity, finding.kind));
    findings
}

/// Whether something is wrong.
pub fn is_ill(findings: &[Finding]) -> bool {
    findings.iter().any(|f| f.severity < Severity::Hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_come_first_and_a_hint_is_no_illness() {
        let of = |kind| Finding::new(kind, "", "", "");
        let hint = of(Kind::SymmetricNat);
        assert!(!is_ill(std::slice::from_ref(&hint)));
        let sorted = in_order(vec![hint, of(Kind::UdpBlocked), of(Kind::NoPeers)]);
        let kinds: Vec<Kind> = sorted.iter().map(|f| f.kind).collect();
        let order = [Kind::NoPeers, Kind::UdpBlocked, Kind::SymmetricNat];
        assert_eq!(kinds, order);
        assert!(is_ill(&sorted));
    }
}
