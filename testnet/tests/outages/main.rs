//! Outages in networks of real processes while a lease runs: the node that all began with is gone
//! for good, half of the nodes are killed and started again, the relay between buyer and seller
//! dies, an address changes. Each time the lease goes on to its end, and the nodes mesh again by
//! themselves within [`AGAIN`]. In [`disk`], a hostile job and others fill a seller's disk.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail like the test")]
#![allow(clippy::print_stdout, reason = "figures, and what is left out")]

mod bootstrap;
mod common;
mod disk;
mod relay;
mod restarts;
mod roam;

use std::time::Duration;

/// Longest time until nodes that can reach one another are meshed again.
const AGAIN: Duration = Duration::from_secs(10);
