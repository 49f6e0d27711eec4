//! The gridbay node: overlay, executors, keys, API and command line.
//!
//! Each noun of the API and the command line is a module (`peer`, `offer`, `ledger`, ...): its JSON
//! in `types`, its addresses in `routes`, the node's work for them in `handle`.

#[macro_use]
mod named;

pub mod api;
pub mod app;
mod auction;
pub mod backend;
mod bank;
mod bid;
pub mod body;
mod buy;
pub mod cli;
pub mod cluster;
pub mod config;
mod content;
mod contract;
pub mod discovery;
pub mod doctor;
pub mod executor;
mod held;
mod invite;
mod job;
pub mod keys;
mod lease;
mod ledger;
mod market;
mod metrics;
mod node;
mod offer;
mod order;
pub mod outbound;
pub mod overlay;
mod peer;
pub mod rank;
mod routes;
pub mod solver;
pub mod store;
mod terminal;
pub mod trouble;
pub mod ui;

pub use routes::router;
