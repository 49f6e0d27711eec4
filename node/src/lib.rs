//! The gridbay node: overlay, executors, keys, API and command line.

pub mod api;
pub mod app;
pub mod backend;
pub mod body;
mod buy;
pub mod cli;
pub mod config;
pub mod discovery;
pub mod doctor;
pub mod executor;
pub mod keys;
mod market;
mod order;
pub mod overlay;
pub mod solver;
pub mod store;
pub mod ui;

// A node with planted faults must not exist.
const _: () = assert!(!gridbay_protocol::planted::COMPILED);
