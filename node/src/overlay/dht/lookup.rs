//! A running lookup, and its finds so far.

use std::time::Instant;

use gridbay_protocol::node_record::NodeRecord;
use libp2p::PeerId;
use tokio::sync::oneshot;

use crate::overlay::command::{Found, RecordReply};

/// A running lookup.
#[derive(Debug)]
pub(super) enum Lookup {
    /// Peers close to a key; somebody may wait for them.
    Closest(Option<oneshot::Sender<Found>>),
    /// The record of a node.
    Record(Box<Sought>),
    /// Relays.
    Relays,
    /// Those that provide something.
    Providers(Providers),
}

/// A record that is looked for: to reach the node, or for somebody who only wants to see it.
#[derive(Debug)]
pub(super) struct Sought {
    pub(super) peer: PeerId,
    /// The best so far.
    pub(super) best: Option<NodeRecord>,
    /// When the first was found.
    pub(super) since: Option<Instant>,
    pub(super) reply: Option<RecordReply>,
}

/// Those that provide something, as found since a lookup began.
#[derive(Debug)]
pub(super) struct Providers {
    pub(super) began: Instant,
    /// When the first was found.
    pub(super) since: Option<Instant>,
    pub(super) found: Vec<PeerId>,
    pub(super) reply: oneshot::Sender<Vec<PeerId>>,
}
