//! The ledger host.
pub mod disk;
mod consensus;
mod fault;
mod guard;
mod limits;
mod message;
mod record;
pub use fault::Fault;
