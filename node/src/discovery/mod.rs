//! Discovery around the core: this node's statements about itself, its questions for adverts, and
//! its search for unknown sellers.
//!
//! - `about`: attributes and round trips for the own advert, and buckets in the DHT;
//! - `seek`: sellers that a query may want, from the DHT;
//! - `catch_up`: adverts from neighbours, for a node that has just joined.
//!
//! Every answer of another node is judged like a gossiped advert.

mod about;
mod catch_up;
mod seek;

pub use seek::Sought;

use crate::body::ask::{Asker, peer_of};
use crate::body::{BodyGone, BodyHandle};
use crate::overlay::OverlayHandle;
use gridbay_core::adverts::Verdict;
use gridbay_protocol::advert::SignedAdvert;
use gridbay_protocol::codec;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters, each since the start.
#[derive(Debug, Default)]
pub struct Counters {
    lookups: AtomicU64,
    asked: AtomicU64,
    answered: AtomicU64,
    learnt: AtomicU64,
    passed_over: AtomicU64,
    refused: AtomicU64,
}

/// Finds and is found.
#[derive(Clone)]
pub struct Discovery {
    body: BodyHandle,
    net: OverlayHandle,
    asker: Asker,
    own: PublicKey,
    counters: Arc<Counters>,
}

impl Discovery {
    /// For a node with this transport key.
    pub fn new(body: BodyHandle, net: OverlayHandle, own: PublicKey) -> Discovery {
        Discovery {
            asker: Asker::new(net.clone()),
            body,
            net,
            own,
            counters: Arc::default(),
        }
    }

    /// Says what this node is, and learns what its neighbours know; until the node stops.
    pub async fn attend(self, attributes: BTreeMap<String, String>) {
        tokio::join!(self.catch_up(), self.tell(attributes));
    }

    /// Round trips to connected peers in microseconds.
    pub fn measured(&self) -> BTreeMap<PublicKey, u64> {
        let peers = self.net.peers();
        let trip = |peer: &crate::overlay::PeerInfo| {
            let key = crate::body::ask::key_of(&peer.peer)?;
            let micros = u64::try_from(peer.rtt?.as_micros()).ok()?;
            Some((key, micros))
        };
        peers.iter().filter_map(trip).collect()
    }

    /// Counters by name.
    pub fn counts(&self) -> [(&'static str, u64); 6] {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.counters;
        [
            ("lookups", read(&counters.lookups)),
            ("asked", read(&counters.asked)),
            ("answered", read(&counters.answered)),
            ("learnt", read(&counters.learnt)),
            ("passed_over", read(&counters.passed_over)),
            ("refused", read(&counters.refused)),
        ]
    }

    /// Has an advert judged that a node answered with; whether it was good and new.
    async fn hear(&self, from: &PublicKey, advert: &SignedAdvert) -> Result<bool, BodyGone> {
        let verdict = self.body.hear(codec::encode(advert)).await?;
        let counter = match verdict {
            Verdict::Accept => &self.counters.learnt,
            Verdict::Ignore => &self.counters.passed_over,
            Verdict::Reject => {
                self.blame(from, "an advert that is refused");
                &self.counters.refused
            }
        };
        count(counter);
        Ok(verdict == Verdict::Accept)
    }

    /// A node answered what no honest node answers.
    fn blame(&self, node: &PublicKey, reason: &str) {
        tracing::debug!(%node, reason, "penalised a peer");
        if let Some(peer) = peer_of(node) {
            let _gone = self.net.penalise(peer, 20.0);
        }
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
