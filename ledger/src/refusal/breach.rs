//! A broken invariant of our own: a mistake in this crate.

/// A broken invariant, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Breach(pub(crate) String);

/// A breach unless something holds.
pub(crate) fn hold(holds: bool, what: impl FnOnce() -> String) -> Result<(), Breach> {
    if holds { Ok(()) } else { Err(Breach(what())) }
}
