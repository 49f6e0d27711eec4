//! The bank's publications.

mod handle;
pub(crate) mod routes;
pub(crate) mod types;
