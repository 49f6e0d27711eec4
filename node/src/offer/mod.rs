//! Offers.

mod handle;
pub(crate) mod named;
pub(crate) mod routes;
pub(crate) mod types;
