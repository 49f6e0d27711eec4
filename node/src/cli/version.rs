//! `version`: of this program, which the node of the same folder may not run yet.

use super::context::Context;
use super::error::CliError;
use serde::Serialize;

/// What `version` tells.
#[derive(Clone, Copy, Debug, Serialize)]
struct Version {
    version: &'static str,
}

pub(super) fn run(at: &Context) -> Result<(), CliError> {
    let version = Version {
        version: env!("CARGO_PKG_VERSION"),
    };
    at.tell(&version, |told| format!("gridbay {}\n", told.version))
}
