//! The gridbay node: overlay, executors, keys, API and command line.

pub mod executor;
pub mod overlay;
