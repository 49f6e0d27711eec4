//! The settings `solver.*`: a program that looks for better allocations of reservations.

use super::raw::{ConfigError, RawConfig};
use super::read::{read, some_time, text};
use std::path::PathBuf;
use std::time::Duration;

/// Longest time that may be given.
const LONGEST: Duration = Duration::from_secs(3_600);

/// The owner's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolverConfig {
    /// Name or path of the program.
    pub program: PathBuf,
    /// Longest time for one question, up to an hour.
    pub time: Duration,
}

/// `None` while the program is `off`.
pub(super) fn check(raw: &RawConfig) -> Result<Option<SolverConfig>, ConfigError> {
    let program = read(raw, "solver.program", |value| match text(value)? {
        name if name.is_empty() => Err("want a program, or off".to_owned()),
        name => Ok(name),
    })?;
    let time = read(raw, "solver.time", |value| {
        some_time(value, LONGEST, "want an hour at most")
    })?;
    Ok((program != "off").then(|| SolverConfig {
        program: program.into(),
        time,
    }))
}
