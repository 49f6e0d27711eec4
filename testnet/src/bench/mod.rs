//! Benchmarks on real local networks.

mod attackers;
mod besieged;
mod choice;
pub(crate) mod crowd;
mod growth;
pub(crate) mod hostile;
pub(crate) mod leases;
pub(crate) mod ledger;
mod moved;
pub(crate) mod network;
pub(crate) mod orders;
mod peaks;
pub(crate) mod put;
pub(crate) mod setup;
mod spender;
pub(crate) mod spread;
