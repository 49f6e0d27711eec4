//! How many connections of the API may be ones to ranks, and to ports of members.

use std::sync::Arc;
use tokio::sync::Semaphore;

/// Such connections of one kind at a time.
pub(crate) const CARRIED: usize = 512;

/// Room for both kinds: neither takes the other's.
pub(crate) struct Carried {
    /// To ranks, with orders.
    pub(crate) ranks: Arc<Semaphore>,
    /// To ports of members.
    pub(crate) streams: Arc<Semaphore>,
}

/// As many as may be open at a time.
pub(crate) fn permits() -> Carried {
    Carried {
        ranks: Arc::new(Semaphore::new(CARRIED)),
        streams: Arc::new(Semaphore::new(CARRIED)),
    }
}
