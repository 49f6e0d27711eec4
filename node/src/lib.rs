//! The gridbay node: overlay, executors, keys, API and command line.
//!
//! What the API and the command line speak of is one module a noun (`peer`, `offer`, `ledger`,
//! ...): its JSON in `types`, its addresses in `routes`, what the node does for them in `handle`.

pub mod api;
pub mod app;
mod auction;
pub mod backend;
mod bank;
mod bid;
pub mod body;
mod buy;
pub mod cli;
pub mod config;
mod content;
mod contract;
pub mod discovery;
pub mod doctor;
pub mod executor;
mod invite;
mod job;
pub mod keys;
mod ledger;
mod market;
mod metrics;
mod node;
mod offer;
mod order;
pub mod overlay;
mod peer;
mod routes;
pub mod solver;
pub mod store;
pub mod trouble;
pub mod ui;

pub use routes::router;
