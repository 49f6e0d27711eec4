//! The ledger host: consensus, journal, block file, mempool and catch-up, driven by effects.
//!
//! A [`Host`] is one synchronous machine: [`Host::step`] takes an input and the time and returns
//! effects. It owns its files through a [`disk::Disk`] and nothing else of the world: no network,
//! no clock, no threads, no randomness. Equal inputs give equal effects.
//!
//! - `host`: the machine, one file per concern;
//! - `consensus`: Malachite's core for one height, the only place that names it;
//! - `guard`: the consensus key and the rule never to contradict oneself;
//! - `frame`, `record`, `journal`, `blocks` are the files on disk; `snapshots`, `index` are derived
//!   from them;
//! - `rows`: where the index lies, the only place that names redb;
//! - `trouble`: whether the clock is right;
//! - `candidates`, `early`, `catchup`, `checks`, `pacing`, `mempool`, `strangers`, `receipts`,
//!   `serving`, `suggested`: bounded memories with their policies.

mod blocks;
mod candidates;
mod catchup;
mod checks;
mod consensus;
pub mod disk;
mod early;
mod fault;
mod frame;
mod guard;
mod heralds;
mod host;
mod index;
mod journal;
pub mod limits;
mod mempool;
pub mod message;
mod pacing;
mod receipts;
pub mod record;
mod reveals;
mod rows;
mod serving;
mod signatures;
mod snapshots;
mod spread;
mod stages;
mod strangers;
mod suggested;
mod trouble;

pub use catchup::Peer;
pub use fault::Fault;
pub use host::{
    Equivocation, Host, HostConfig, HostEffect, HostInput, Now, Offence, Received, Sizes,
};
pub use index::{HistoryItem, Sought};
pub use mempool::MempoolRefusal;
pub use stages::{Stage, Stages, Stopwatch};
pub use trouble::Trouble;
