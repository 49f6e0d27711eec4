//! Bids: what to bid, which stand, and other prices for them.

mod handle;
pub(crate) mod routes;
mod suggest;
pub(crate) mod types;
