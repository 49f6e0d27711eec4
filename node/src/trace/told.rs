//! Up to where a node has told of its orders, which it keeps for its next run.

use serde::{Deserialize, Serialize};

/// Up to where everything was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Told {
    /// Height of the last look.
    pub(super) height: u64,
    /// Its time, milliseconds since 1970.
    pub(super) now_ms: u64,
    /// Place of the last line of history.
    pub(super) place: (u64, u32),
}
