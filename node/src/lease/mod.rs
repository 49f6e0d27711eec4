//! Leases that this node has bought or sold, and the private networks of those that have one.

pub(crate) mod handle;
mod net;
pub(crate) mod routes;
pub(crate) mod stream;
pub(crate) mod types;
