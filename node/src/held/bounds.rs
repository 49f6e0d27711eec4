//! How many connections of the API may be ones to ranks.

use std::sync::Arc;
use tokio::sync::Semaphore;

/// Such connections at a time.
pub(crate) const CARRIED: usize = 512;

/// As many as may be open at a time.
pub(crate) fn permits() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(CARRIED))
}
