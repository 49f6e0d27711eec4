//! Jobs.

pub(crate) mod attempts;
pub(crate) mod dropped;
mod files;
pub(crate) mod handle;
mod listed;
pub(crate) mod logs;
mod named;
pub(crate) mod reason;
pub(crate) mod routes;
pub(crate) mod state;
pub(crate) mod types;
mod why;

pub(crate) use named::meant;
