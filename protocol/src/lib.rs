//! All that gridbay nodes must agree on: types, codec, signatures, election and market mechanisms.
//!
//! A trade passes through seven nouns, one module each: [`advert`] → [`order`] → clearing →
//! [`block`] → [`lease`] → [`job`] → [`payment`]. Clearings have three modules, with one file a
//! mechanism in each: [`mechanism`] holds the rules, [`policy`] the choices of a federation about
//! them, [`record`] what a clearing publishes.
//!
//! Around them: accounts sign an [`entry`], and [`stage`] turns received bytes into a checked one;
//! a [`receipt`] is a validator's promise to include it, and an [`appeal`] is an owner's answer to
//! a broken promise; an [`effect`] is one change that a block makes; [`genesis`] and [`invitation`]
//! are the two ways in; [`validator`], [`vote`], [`election`] and [`beacon`] serve consensus;
//! [`calendar`] counts heights into rounds and slots; [`checkpoint`] is what a job keeps of its
//! progress; [`limits`] bounds everything; [`fixed`] and [`apportion`] are arithmetic;
//! [`splitmix`] draws test cases from a seed; [`told`] has the words of refusals for people.
//!
//! The crate is pure: no I/O, no clock, no randomness, no threads, and no floats in anything that
//! is signed, cleared or paid.

#![deny(clippy::float_arithmetic)]

#[macro_use]
mod named;

pub mod account;
pub mod advert;
pub mod appeal;
pub mod apportion;
pub mod bank;
pub mod beacon;
pub mod block;
pub mod buckets;
pub mod calendar;
pub mod checkpoint;
pub mod class;
pub mod codec;
pub mod effect;
pub mod election;
pub mod entry;
pub mod entry_budget;
pub mod evidence;
pub mod fixed;
pub mod genesis;
pub mod hash;
pub mod ids;
pub mod invitation;
pub mod job;
pub mod keys;
pub mod lease;
pub mod limits;
mod malformed;
pub mod mechanism;
pub mod memo;
pub mod node_record;
pub mod offer;
pub mod order;
pub mod payment;
pub mod policy;
pub mod receipt;
pub mod record;
#[cfg(feature = "schema")]
mod schema;
pub mod seats;
pub mod splitmix;
pub mod stage;
pub mod told;
pub mod units;
pub mod validator;
pub mod vote;
