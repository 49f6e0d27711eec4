//! The gridbay node: overlay, executors, keys, API and command line.

pub mod api;
pub mod cli;
pub mod config;
pub mod executor;
pub mod keys;
pub mod overlay;
pub mod ui;
