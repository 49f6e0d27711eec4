//! Sheets of a node's answers, one file each. Figures are as exact as other commands tell them.

mod book;
mod faults;
mod jobs;
mod leases;
mod money;
mod nodes;
mod prices;

pub(super) use book::book;
pub use faults::{Fault, faults};
pub(super) use jobs::jobs;
pub(super) use leases::leases;
pub(super) use money::{earned, money};
pub(super) use nodes::nodes;
pub use prices::prices;

/// Characters of an id in a cell.
const SHORT: usize = 12;

/// The beginning of an id.
fn short(id: &str) -> String {
    id.chars().take(SHORT).collect()
}

/// Microseconds for people.
fn millis(us: u64) -> String {
    format!("{}.{} ms", us / 1_000, us % 1_000 / 100)
}
