//! The ledger, which knows who owns what: accounts, postings, the state machine, state tree and
//! Merkle logs.
//!
//! [`State`] is the sum of all blocks so far. A block changes it in three steps that never wait and
//! never fail half-way:
//!
//! 1. [`CheckedBlock::check`] judges all that needs no state (bytes, signatures, roots of lists);
//! 2. [`State::execute`] computes the block's changes, a [`Delta`], or refuses it;
//! 3. [`State::commit`] makes the changes once the block is decided.
//!
//! A proposer makes its block with [`State::propose`], which leaves out inadmissible entries.
//! [`light`] is for strangers that have the genesis and nothing else.
//!
//! Inside are four rooms. `record` holds the state's data and imports no rule; `money` moves money,
//! in one function; `entry` checks and applies entries, one file a kind; `sell` holds the ways of
//! selling units, a folder each. `execute` and `close` fix the order of all steps. A rule is handed
//! a `view` of the tables that it may change.

#![deny(clippy::float_arithmetic)]

mod admit;
mod audit;
pub mod bank;
mod beacons;
mod book;
mod catalogue;
mod checked;
mod choice;
mod close;
mod delta;
mod entry;
mod entry_budget;
mod execute;
mod firm;
mod heartbeat;
mod holdings;
mod lease;
pub mod light;
pub mod log;
mod market;
mod money;
mod omission;
mod owner;
mod pot;
mod propose;
pub mod read;
mod record;
mod refusal;
mod retention;
mod room;
mod roots;
#[cfg(test)]
mod sample;
mod scarce;
mod seats;
mod sell;
mod slot;
mod snapshot;
mod state;
pub mod table;
mod tenancy;
pub mod tree;
mod turn;
mod view;
mod work;

pub use admit::{Admitted, Eligible};
pub use checked::{CheckedBlock, Completed, FormedBlock, NamedBlock};
pub use delta::Delta;
pub use propose::{Draft, Proposed};
pub use record::{
    Account, BidOrder, Booking, BuyOrder, CHAIN, Chain, Closed, Complaints, Contract, ContractJob,
    DeadlineOrder, Lease, Offer, Order, Part, Pending, Pot, PotOffer, Progress, ReservationOrder,
    Retained, Seats, Serving, ShareOrder, Spent, Stage, Stake, Stopped, Successor, Taken, Unopened,
};
pub use refusal::{
    BlockRefusal, Breach, CONTRACT_WORDS, ContractRefusal, REFUSAL_WORDS, RESERVATION_WORDS,
    Refusal, SEAT_WORDS, SeatRefusal, Unbookable,
};
pub use roots::{record_key, record_value};
pub use sell::{FreeAhead, InForce, JobInForce, Quote};
pub use snapshot::SnapshotError;
pub use state::State;
