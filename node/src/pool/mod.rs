//! Pools: units that are shared among all who claim some, and who gets which share.

mod handle;
pub(crate) mod routes;
pub(crate) mod types;
