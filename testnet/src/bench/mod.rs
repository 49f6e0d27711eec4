//! Benchmarks on real local networks.

mod attackers;
mod besieged;
mod choice;
pub(crate) mod crowd;
mod growth;
pub(crate) mod hostile;
pub(crate) mod network;
pub(crate) mod orders;
mod peaks;
mod spender;
pub(crate) mod spread;
pub(crate) mod transfers;
