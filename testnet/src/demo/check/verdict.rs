//! The verdict of a check: one line of the report.

use serde::Serialize;

/// The finding of a check: what held, or what did not.
pub(crate) type Verdict = Result<String, String>;

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    /// The claim that must hold.
    pub(crate) name: &'static str,
    /// Whether it does.
    pub(crate) ok: bool,
    /// Figures, or what is wrong.
    pub(crate) detail: String,
}

impl Check {
    /// A line from a verdict.
    pub(crate) fn new(name: &'static str, verdict: Verdict) -> Check {
        let ok = verdict.is_ok();
        Check {
            name,
            ok,
            detail: verdict.unwrap_or_else(|wrong| wrong),
        }
    }
}
