//! Benchmarks on real local networks.

pub(crate) mod crowd;
pub(crate) mod orders;
pub(crate) mod spread;
