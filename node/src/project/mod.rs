//! Users of one node, and the projects that they order for: one account on the ledger, and a budget
//! for each project.

mod actor;
pub(crate) mod gate;
mod handle;
mod month;
pub(crate) mod routes;
pub(crate) mod types;

pub(crate) use actor::Actor;
pub(crate) use month::month_of;
