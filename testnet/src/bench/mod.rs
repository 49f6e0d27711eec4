//! Benchmarks on real local networks.

mod attackers;
pub(crate) mod crowd;
pub(crate) mod hostile;
pub(crate) mod orders;
pub(crate) mod spread;
