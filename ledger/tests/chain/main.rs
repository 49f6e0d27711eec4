//! The ledger as a chain of blocks: scenarios worked out by hand, forgeries, and random blocks
//! against a model.

#![allow(clippy::unwrap_used)]

mod accounts;
mod alike;
mod amending;
mod appeals;
mod attacks;
mod bank;
mod bank_figures;
mod bank_sweep;
mod beacons;
mod budgets;
mod buying;
mod contract_words;
mod contracts;
mod crowd;
mod dead_seller;
mod deadline;
mod deadline_never_missed;
mod deadline_seller;
mod delivery;
mod ending;
mod forgery;
mod groups;
mod hints;
mod inclusion;
mod keys;
mod market;
mod model;
mod posted;
mod preemption;
mod record;
mod reservation;
mod reservation_bound;
mod reserving;
mod rules;
mod seats;
mod share;
mod snapshots;
mod sponsors;
mod trade;
mod turns;
mod uneven;
mod waiting;
mod world;
