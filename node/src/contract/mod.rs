//! Contracts.

mod handle;
pub(crate) mod routes;
pub(crate) mod types;
