//! The federation: its members, the validators that sign its blocks, and its rules.

mod handle;
pub(crate) use handle::quorum;
pub(crate) mod routes;
pub(crate) mod types;
