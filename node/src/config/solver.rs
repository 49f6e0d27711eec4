//! The settings `solver.*`: a program that looks for better allocations of reservations.

use super::parse;
use super::raw::RawConfig;
use super::{ConfigError, read, text};
use std::path::PathBuf;
use std::time::Duration;
use toml::Value;

/// Longest time that may be given.
const LONGEST: Duration = Duration::from_secs(3_600);

/// What the owner set.
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
        let time = match value {
            Value::Integer(n) => parse::duration(&n.to_string()),
            value => parse::duration(&text(value)?),
        }?;
        match time {
            Duration::ZERO => Err("want some time".to_owned()),
            time if time > LONGEST => Err("want an hour at most".to_owned()),
            time => Ok(time),
        }
    })?;
    Ok((program != "off").then(|| SolverConfig {
        program: program.into(),
        time,
    }))
}
