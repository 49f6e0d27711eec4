//! Metrics in Prometheus' text form.
//!
//! Names begin with `gridbay_` and one of the project's nouns, those of the process with
//! `process_`, as Prometheus' own libraries have them. Counters end in `_total`; times are in
//! seconds, sizes in bytes, money in credits. Labels have a fixed set of values, or name leases of
//! this node and classes of the network: never the text of a peer.

mod catalogue;
mod chain;
mod facts;
mod handle;
mod histogram;
mod hosted;
mod lease;
mod meters;
mod net;
mod news;
mod orders;
mod payments;
mod process;
mod requests;
pub(crate) mod routes;
mod stages;
mod text;

#[cfg(test)]
pub(crate) use catalogue::CATALOGUE;
pub(crate) use facts::{LeaseEnd, lease_ends};
pub use meters::Meters;
