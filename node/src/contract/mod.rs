//! Contracts.

pub(crate) mod routes;
pub(crate) mod types;
