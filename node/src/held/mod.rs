//! Clusters that an owner holds: jobs whose ranks run what the owner signs.

mod admitted;
pub(crate) mod bounds;
pub(crate) mod carry;
mod guests;
pub(crate) mod handle;
mod logged;
pub(crate) mod routes;
pub(crate) mod types;
mod visit;
mod way;

pub(crate) use guests::Guests;
