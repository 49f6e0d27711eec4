//! Bids: suggestions, the bids that stand, and new prices for them.

mod handle;
pub(crate) mod routes;
mod suggest;
pub(crate) mod types;
