//! Bytes on the wire: transports, frames, gossip, requests and one-way messages.

pub(super) mod behaviour;
pub(super) mod budget;
pub(super) mod codec;
pub(super) mod foreign;
pub(super) mod gossip;
pub(super) mod inflight;
pub(super) mod messages;
pub(super) mod outbox;
pub(super) mod own;
pub(super) mod swarm;
pub(super) mod transport;
