//! Tokens of programs that use the API over HTTP.

mod handle;
pub(crate) mod routes;
pub(crate) mod types;
