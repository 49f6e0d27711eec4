//! The commands that a handle sends to the overlay's task.

use std::collections::BTreeSet;
use std::time::Duration;

use gridbay_protocol::node_record::NodeRecord;
use libp2p::{Multiaddr, PeerId};
use tokio::sync::oneshot;

use super::error::{LookupError, RequestError, SeekError};
use super::event::{MessageId, RequestId, Verdict};
use super::lines::Line;
use super::packets;
use super::peers::marks::Mark;

/// Where the answer to a request goes.
pub(crate) type Reply = oneshot::Sender<Result<Vec<u8>, RequestError>>;
/// Peers found, with the addresses that the DHT knows.
pub(crate) type Found = Vec<(PeerId, Vec<Multiaddr>)>;

/// How a search ended.
pub(crate) type Sought = Result<(), SeekError>;
/// Where a record of the DHT goes.
pub(crate) type RecordReply = oneshot::Sender<Result<NodeRecord, LookupError>>;

/// One command. Sizes and topics are checked by the handle.
#[derive(Debug)]
pub(crate) enum Command {
    Publish {
        topic: usize,
        bytes: Vec<u8>,
    },
    Report {
        id: MessageId,
        verdict: Verdict,
    },
    Send {
        peers: Vec<PeerId>,
        line: Line,
        bytes: Vec<u8>,
    },
    Request {
        peer: PeerId,
        bytes: Vec<u8>,
        reply: Reply,
    },
    Respond {
        id: RequestId,
        bytes: Option<Vec<u8>>,
    },
    Keep {
        peer: PeerId,
        addresses: Vec<Multiaddr>,
    },
    Release {
        peer: PeerId,
    },
    Rest {
        peers: BTreeSet<PeerId>,
    },
    Dial {
        peer: PeerId,
        addresses: Vec<Multiaddr>,
    },
    Find {
        key: [u8; 32],
        reply: oneshot::Sender<Found>,
    },
    Connect {
        peer: PeerId,
        addresses: Vec<Multiaddr>,
        reply: oneshot::Sender<Sought>,
    },
    DialDirect {
        peer: PeerId,
    },
    Packets {
        peer: PeerId,
        reply: packets::Reply,
    },
    Record {
        peer: PeerId,
        reply: RecordReply,
    },
    Mark {
        peer: PeerId,
        mark: Option<Mark>,
    },
    Provide {
        key: [u8; 32],
    },
    Providers {
        key: [u8; 32],
        reply: oneshot::Sender<Vec<PeerId>>,
    },
    Known {
        reply: oneshot::Sender<Found>,
    },
    Penalise {
        peer: PeerId,
        points: f64,
    },
    Ban {
        peer: PeerId,
        time: Duration,
    },
}
