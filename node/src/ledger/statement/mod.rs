//! Statements of an account: what moved its money in a time, summed by job and by day, exactly.
//!
//! All of it follows from the ledger's postings and the balances of now: walking back from these,
//! each posting is undone, so opening and closing balance differ by just what is listed.

pub(crate) mod csv;
mod fold;
mod handle;
pub(crate) mod latest;
mod project;
pub(crate) mod types;
