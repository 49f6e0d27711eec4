//! What every gridbay node must agree on: types, codec, signatures, election and market mechanisms.
//!
//! A trade passes through seven nouns, one module each:
//! [`advert`] → [`order`] → clearing → [`block`] → [`lease`] → [`job`] → [`payment`].
//! Clearings have three modules, with one file a mechanism in each: [`mechanism`] is the rule,
//! [`policy`] what a federation decides about it, [`record`] what it made public.
//!
//! Around them: [`entry`] is what accounts sign and [`stage`] how received bytes become a checked
//! entry; [`receipt`] is a validator's promise to include it and [`appeal`] what an owner does
//! about a broken one; [`effect`] is what a block does; [`genesis`] and [`invitation`] are the two
//! ways in; [`validator`], [`vote`], [`election`] and [`beacon`] are what consensus needs;
//! [`calendar`] counts heights into rounds and slots; [`limits`] bounds everything; [`fixed`] and
//! [`apportion`] are arithmetic; [`splitmix`] draws test cases from a seed.
//!
//! The crate is pure: no I/O, no clock, no randomness, no threads, and no floats in anything that
//! is signed, cleared or paid.

#![deny(clippy::float_arithmetic)]

pub mod account;
pub mod advert;
pub mod appeal;
pub mod apportion;
pub mod bank;
pub mod beacon;
pub mod block;
pub mod buckets;
pub mod calendar;
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
pub mod seats;
pub mod splitmix;
pub mod stage;
pub mod units;
pub mod validator;
pub mod vote;
