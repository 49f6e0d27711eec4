//! Auctions: the last ones, and one with its proof.

pub(crate) mod board;
mod clearings;
mod figures;
pub(crate) mod handle;
pub(crate) mod routes;
pub(crate) mod types;
