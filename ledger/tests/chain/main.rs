//! The ledger as a chain of blocks: scenarios worked out by hand, forgeries, and random blocks against a model.

#![allow(clippy::unwrap_used)]

mod accounts;
mod appeals;
mod buying;
mod crowd;
mod dead_seller;
mod delivery;
mod ending;
mod forgery;
mod keys;
mod market;
mod model;
mod model_share;
mod preemption;
mod record;
mod share;
mod snapshots;
mod trade;
mod uneven;
mod world;
