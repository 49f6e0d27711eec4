//! Orders: what they would cost.

pub(crate) mod routes;
pub(crate) mod types;
