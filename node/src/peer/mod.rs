//! Peers: the list, and what the owner asks about one and says of one.

mod failure;
mod handle;
mod meant;
pub(crate) mod routes;
pub(crate) mod types;
