//! The gridbay node: overlay, executors, keys, API and command line.

pub mod api;
pub mod app;
pub mod backend;
pub mod body;
pub mod cli;
pub mod config;
pub mod discovery;
pub mod doctor;
pub mod executor;
pub mod keys;
pub mod overlay;
pub mod solver;
pub mod store;
pub mod ui;
