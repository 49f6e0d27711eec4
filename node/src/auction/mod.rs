//! Auctions: the last ones, and one with its proof.

/// Bytes of one effect at the most: the record of a full class.
pub(crate) const EFFECT_BYTES: usize = 64 * 1024 * 1024;

pub(crate) mod board;
mod clearings;
mod figures;
pub(crate) mod handle;
mod recent;
pub(crate) mod routes;
pub(crate) mod types;
