//! The ledger as a chain of blocks: scenarios worked out by hand, forgeries, and random blocks against a model.

#![allow(clippy::unwrap_used)]

mod accounts;
mod dead_seller;
mod forgery;
mod keys;
mod market;
mod model;
mod preemption;
mod snapshots;
mod trade;
mod uneven;
mod world;
