//! Benchmarks on real local networks.

pub(crate) mod orders;
mod spread;
