//! The gridbay node: overlay, executors, keys, API and command line.
//!
//! Each noun of the API and the command line is a module (`peer`, `offer`, `ledger`, ...): its JSON
//! in `types`, its addresses in `routes`, the node's work for them in `handle`.

#[macro_use]
mod named;

pub mod alert;
pub mod anchors;
pub mod api;
pub mod app;
mod auction;
pub mod audit;
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
mod events;
pub mod executor;
mod federation;
mod held;
mod invite;
mod job;
pub mod keys;
mod lease;
mod ledger;
mod market;
pub mod metrics;
mod node;
mod offer;
mod order;
pub mod outbound;
pub mod overlay;
pub mod owner;
mod peer;
mod plan;
mod pool;
mod post;
mod project;
pub mod rank;
mod reservation;
mod routes;
pub mod solver;
pub mod store;
mod terminal;
mod token;
pub mod top;
pub mod trace;
pub mod trouble;
pub mod ui;
mod web;

pub use routes::router;
pub use web::{chart, pages};
