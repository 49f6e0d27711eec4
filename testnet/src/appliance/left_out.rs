//! Trials that cannot be made on this machine or with this image.

/// A trial that cannot be made here, and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct LeftOut(pub(crate) &'static str);
