//! Metrics in Prometheus' text form.

mod handle;
mod net;
pub(crate) mod routes;
mod text;
