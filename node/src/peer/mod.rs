//! Peers: the list, the owner's questions about a peer, and its marks.

mod failure;
mod handle;
mod meant;
pub(crate) mod routes;
pub(crate) mod types;
