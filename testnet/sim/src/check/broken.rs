//! A breach of an invariant.

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{id} broken after {at} ms: {what}")]
pub struct Broken {
    /// The invariant.
    pub id: &'static str,
    /// World time in milliseconds.
    pub at: u64,
    /// The breach, in words.
    pub what: String,
}

impl Broken {
    /// A breach.
    pub fn new(id: &'static str, at: u64, what: String) -> Broken {
        Broken { id, at, what }
    }
}
