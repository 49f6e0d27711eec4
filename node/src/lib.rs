//! The gridbay node: overlay, executors, keys, API and command line.

pub mod config;
pub mod keys;
