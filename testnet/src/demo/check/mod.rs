//! The demo's checks: pure functions from the evidence to a verdict, one file each; here those that
//! no single scene is the subject of. The tests beside each check show that it fails on evidence
//! that it must not accept.

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
