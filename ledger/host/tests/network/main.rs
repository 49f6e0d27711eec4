//! Networks of hosts in one thread: agreement, crashes, liars, hostile bytes, and a market on top.

#![allow(clippy::unwrap_used)]

mod agreement;
mod boundaries;
mod checks;
mod clock;
mod crash;
mod crowding;
mod diskfault;
mod files;
mod genesis;
mod hostile;
mod inclusion;
mod liar;
mod market;
mod mempool;
mod openings;
mod pace;
mod rng;
mod rounds;
mod short;
mod snapshots;
mod together;
mod withheld;
mod world;
