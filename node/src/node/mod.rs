//! The node itself: its state, and its end.

pub(crate) mod handle;
pub(crate) mod routes;
pub(crate) mod stall;
pub(crate) mod types;
