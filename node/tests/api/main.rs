//! The API on a network of one validator: its answers are checked against the ledger's own rules,
//! its routes and bounds over real sockets.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod asking;
mod auction;
mod bid;
mod bounds;
mod find;
mod isolation;
mod job;
mod joining;
mod ledger;
mod logs;
mod market;
mod routes;
mod served;
mod world;
