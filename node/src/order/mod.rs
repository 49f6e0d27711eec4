//! Orders: their quotes, and placing them.

pub(crate) mod class;
pub(crate) mod handle;
pub(crate) mod own;
pub(crate) mod plan;
pub(crate) mod quote;
pub(crate) mod routes;
pub(crate) mod types;
