//! The clocks of one simulated machine: both derive from the world's time, neither need be right.

use gridbay_core::input::Now;

/// The world's time 0, in milliseconds since 1970.
pub const EPOCH_MS: u64 = 1_800_000_000_000;

/// A machine's clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    /// How far the wall clock is ahead of the world's, in milliseconds.
    pub skew_ms: i64,
    /// World time at which the node's process started.
    pub booted: u64,
}

impl Clock {
    /// The node's reading at world time `at`.
    pub fn read(&self, at: u64) -> Now {
        Now {
            mono_ms: at.saturating_sub(self.booted),
            // The genesis is a second old when the world begins.
            wall_ms: (EPOCH_MS + 1_000 + at).saturating_add_signed(self.skew_ms),
        }
    }
    /// World time of a monotonic time of this node.
    pub fn world(&self, mono_ms: u64) -> u64 {
        self.booted.saturating_add(mono_ms)
    }
}
