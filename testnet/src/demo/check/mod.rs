//! The demo's checks: pure functions from the evidence to a verdict, one file each. Here are those
//! of the whole network; the checks of single scenes lie beside them. The tests of each check show
//! that it fails on evidence that it must not accept.

pub(super) mod auctions;
pub(super) mod blocks;
pub(super) mod clearings;
pub(super) mod ledgers;
pub(super) mod leftovers;
pub(super) mod losers;
pub(super) mod money;
pub(super) mod outputs;
pub(super) mod statements;
mod verdict;

pub(crate) use verdict::{Check, Verdict};
