//! Auctions: the last ones, and one with its proof.

pub(crate) mod board;
mod clearings;
pub(crate) mod handle;
pub(crate) mod routes;
pub(crate) mod short;
pub(crate) mod types;
