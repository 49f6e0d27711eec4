//! Metrics in Prometheus' text form.

mod handle;
mod lease;
mod net;
pub(crate) mod routes;
mod text;
