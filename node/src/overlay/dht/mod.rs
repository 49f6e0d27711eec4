//! The DHT: the routing table, records of nodes and of providers, lookups, and the search for peers
//! that somebody waits for.

pub(super) mod lookups;
pub(super) mod providing;
pub(super) mod records;
pub(super) mod seek;
pub(super) mod table;
pub(super) mod telling;
