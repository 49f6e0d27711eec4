//! A peer that is sought, and the callers that wait for it.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::overlay::command::{Reply, Sought};
use crate::overlay::error::SeekError;

/// How long a dial may take before the record is looked up beside it: where a peer is no longer,
/// nobody answers for seconds.
const IMPATIENCE: Duration = Duration::from_secs(1);

/// A peer that is sought.
#[derive(Debug)]
pub(super) struct Seek {
    pub(super) since: Instant,
    /// Whether a dial was begun at once.
    pub(super) dialled: bool,
    pub(super) looked_up: bool,
    /// When the record is looked up next, whatever else is under way, and the pause after that.
    again: Instant,
    pause: Duration,
    pub(super) redials: u8,
    pub(super) requests: Vec<(Vec<u8>, Reply)>,
    pub(super) callers: Vec<oneshot::Sender<Sought>>,
    /// Why the last attempt failed.
    pub(super) failure: Option<SeekError>,
}

impl Seek {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            since: now,
            dialled: false,
            looked_up: false,
            again: now + IMPATIENCE,
            pause: 2 * IMPATIENCE,
            redials: 0,
            requests: Vec::new(),
            callers: Vec::new(),
            failure: None,
        }
    }

    /// Whether the record is to be looked up now, after pauses that double.
    pub(super) fn is_slow(&mut self, now: Instant) -> bool {
        let slow = now >= self.again;
        if slow {
            (self.again, self.pause) = (now + self.pause, self.pause * 2);
        }
        slow
    }
}
