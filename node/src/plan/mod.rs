//! Plans: which jobs by deadlines an offer has taken, and when it does them.

mod handle;
pub(crate) mod routes;
pub(crate) mod types;
