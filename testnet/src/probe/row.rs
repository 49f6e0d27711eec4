//! One line of the report.

use super::inside::{KEPT, REFUSED};
use gridbay_node::executor::{Exit, KillReason, Selling, Tier};
use serde::{Deserialize, Serialize};

/// How far a probe came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// The kernel refused it, or ended the job.
    Enforced,
    /// The supervisor saw it and ended the job.
    Watched,
    /// It succeeded, or nobody can tell.
    Broken,
    /// The job has it, nobody can take it away, and it opens nothing: another probe tries.
    Kept,
}

impl Outcome {
    /// As in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Outcome::Enforced => "enforced",
            Outcome::Watched => "watched",
            Outcome::Broken => "broken",
            Outcome::Kept => "kept",
        }
    }

    /// By the end of the probe's job; `bounded`: it tries limits, and may be ended by one.
    pub(crate) fn of(exit: &Exit, bounded: bool) -> Outcome {
        match exit {
            Exit::Exited(code) if *code == REFUSED => Outcome::Enforced,
            Exit::Exited(code) if *code == KEPT => Outcome::Kept,
            exit if bounded && bound(exit).is_some() => Outcome::Watched,
            Exit::TimeLimit if bounded => Outcome::Enforced,
            // Ended for its memory or its processor time, or by the filter.
            Exit::Signaled(9 | 24 | 25) if bounded => Outcome::Enforced,
            Exit::Signaled(31) => Outcome::Enforced,
            _ => Outcome::Broken,
        }
    }
}

/// The bound for which the supervisor ended a job, if it did.
pub(crate) fn bound(exit: &Exit) -> Option<&'static str> {
    let Exit::Killed { reason } = exit else {
        return None;
    };
    match reason {
        KillReason::Memory => Some("memory"),
        KillReason::Processor => Some("processor"),
        KillReason::Processes => Some("processes"),
        KillReason::Disk => Some("disk"),
        _ => None,
    }
}

/// A probe in a tier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// The probe.
    pub(crate) probe: String,
    /// The tier.
    pub(crate) tier: Tier,
    /// The user of the node: `root` or `user`.
    pub(crate) user: String,
    /// Whether the tier is sold to strangers unless the owner says otherwise.
    pub(crate) sold: bool,
    /// How far it came.
    pub(crate) result: Outcome,
    /// The probe's words; of a watched one the [`bound`] for which it was ended.
    pub(crate) detail: String,
}

impl Row {
    /// A row.
    pub(crate) fn new(probe: &str, tier: Tier, user: &str, result: Outcome, detail: String) -> Row {
        Row {
            probe: probe.to_owned(),
            tier,
            user: user.to_owned(),
            sold: Selling::sells_tier(tier, false),
            result,
            detail,
        }
    }

    /// Whether strangers could do that to a seller.
    pub(crate) fn is_a_hole(&self) -> bool {
        self.sold && self.result == Outcome::Broken
    }
}

#[cfg(test)]
mod tests {
    use super::super::inside::BROKEN_PROBE;
    use super::*;

    #[test]
    fn what_cannot_be_told_is_broken() {
        let killed = |reason| Exit::Killed { reason };
        for (exit, bounded, outcome) in [
            (Exit::Exited(0), false, Outcome::Broken),
            (Exit::Exited(101), true, Outcome::Broken),
            (Exit::Exited(REFUSED), false, Outcome::Enforced),
            (Exit::Signaled(9), false, Outcome::Broken),
            (Exit::Signaled(9), true, Outcome::Enforced),
            (Exit::Signaled(31), false, Outcome::Enforced),
            (Exit::Signaled(11), true, Outcome::Broken),
            (Exit::TimeLimit, false, Outcome::Broken),
            (Exit::TimeLimit, true, Outcome::Enforced),
            (Exit::Lost, true, Outcome::Broken),
            (killed(KillReason::Memory), true, Outcome::Watched),
            (killed(KillReason::Memory), false, Outcome::Broken),
            (killed(KillReason::Disk), true, Outcome::Watched),
            (killed(KillReason::Disk), false, Outcome::Broken),
            (killed(KillReason::NoRoom), true, Outcome::Broken),
            (killed(KillReason::Stopped), true, Outcome::Broken),
            (Exit::Exited(i32::from(BROKEN_PROBE)), true, Outcome::Broken),
            (Exit::Exited(KEPT), false, Outcome::Kept),
        ] {
            assert_eq!(Outcome::of(&exit, bounded), outcome, "{exit:?} {bounded}");
        }
    }

    #[test]
    fn only_what_is_sold_has_holes() {
        let row = |tier, result| Row::new("a", tier, "root", result, String::new());
        assert!(row(Tier::Namespaces, Outcome::Broken).is_a_hole());
        assert!(!row(Tier::Namespaces, Outcome::Watched).is_a_hole());
        assert!(!row(Tier::Plain, Outcome::Broken).is_a_hole());
    }
}
