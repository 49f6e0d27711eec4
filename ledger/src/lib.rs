//! Who owns what: accounts, postings, the state machine, state tree and Merkle logs.
//!
//! [`State`] is everything that the blocks so far have made true. A block passes through it in
//! three steps that never wait and never fail half-way:
//!
//! 1. [`CheckedBlock::check`]: what can be judged without the state (bytes, signatures, roots of lists);
//! 2. [`State::execute`]: what the block does, as a [`Delta`], or why it is refused;
//! 3. [`State::commit`]: after the decision.
//!
//! A proposer makes its block with [`State::propose`], which leaves out what is inadmissible. Money moves in
//! one function (`purse::post`), entries are checked in `entry`, one file per kind, and what happens when
//! a round or a slot closes is in `close`, `slot`, `deadline`, `reservation`, `clear` and `buy`. [`light`] is for
//! strangers who have the validators' keys and nothing else.

#![deny(clippy::float_arithmetic)]

mod account;
mod admit;
mod amend;
mod audit;
pub mod bank;
mod beacons;
mod book;
mod buy;
mod catalogue;
mod checked;
mod choice;
mod clear;
mod close;
mod contract;
mod deadline;
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
mod offer;
mod omission;
mod order;
mod owner;
mod pot;
mod propose;
mod purse;
pub mod read;
mod records;
mod refusal;
mod reservation;
mod retention;
mod room;
mod roots;
#[cfg(test)]
mod sample;
mod scarce;
mod seats;
mod share;
mod share_out;
mod slot;
mod snapshot;
mod state;
pub mod table;
mod tenancy;
pub mod tree;
mod turn;
mod unopened;
mod work;

pub use account::Account;
pub use admit::{Admitted, Eligible};
pub use beacons::Successor;
pub use checked::CheckedBlock;
pub use contract::{Contract, ContractJob, Progress, Serving};
pub use deadline::Quote;
pub use entry_budget::Spent;
pub use execute::Delta;
pub use lease::Lease;
pub use offer::{Offer, Pending};
pub use order::{BidOrder, BuyOrder, DeadlineOrder, Order, ShareOrder, Stage, Taken, Unopened};
pub use pot::{Part, Pot, PotOffer, Stake, Stopped};
pub use propose::{Draft, Proposed};
pub use refusal::{
    BlockRefusal, Breach, CONTRACT_WORDS, ContractRefusal, REFUSAL_WORDS, RESERVATION_WORDS,
    Refusal, SEAT_WORDS, SeatRefusal, Unbookable,
};
pub use reservation::{Booking, ReservationOrder};
pub use retention::{Complaints, Retained};
pub use roots::{record_key, record_value};
pub use seats::{Closed, Seats};
pub use snapshot::SnapshotError;
pub use state::{CHAIN, Chain, State};
