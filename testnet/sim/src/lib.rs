//! The deterministic world: whole gridbay nodes under virtual time, with faults, liars and
//! checkers.
//!
//! One thread, virtual time, one seed that decides everything. The cores are the real ones,
//! consensus, ledger, journal and agents included; network, disks, clocks, jobs and users are
//! played.

pub mod batch;
pub mod check;
pub mod class;
pub mod cli;
pub mod clock;
pub mod cover;
pub mod fault;
pub mod found;
pub mod hunt;
pub mod liar;
mod load;
pub mod overlay;
pub mod plan;
pub mod preempt;
pub mod regression;
pub mod rng;
pub mod run;
pub mod shrink;
pub mod tell;
pub mod trace;
mod ways;
pub mod world;
