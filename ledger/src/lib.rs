//! Who owns what: accounts, postings, the state machine, state tree and Merkle logs.

pub mod log;
pub mod table;
pub mod tree;
