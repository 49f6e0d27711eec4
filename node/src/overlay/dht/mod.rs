//! The DHT: the routing table, records of nodes and of providers, lookups, and the search for peers
//! that somebody waits for.
//!
//! [`Dht`] owns the memory of these. Kademlia itself is a behaviour of the swarm and comes in as an
//! argument, as do the peers, which the room asks questions. The room's requests to the swarm and
//! to other rooms are [`Order`]s, which the task carries out after each call.

mod bringers;
mod closest;
mod lookup;
mod lookups;
mod order;
mod providing;
mod records;
mod seek;
mod seeking;
pub(super) mod table;
mod telling;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gridbay_core::overlay::TICK;
use gridbay_protocol::keys::SecretKey;
use libp2p::PeerId;
use libp2p::kad::store::MemoryStore;
use libp2p::kad::{self, QueryId};

use bringers::Bringers;
use lookup::Lookup;
pub(super) use order::Order;
use providing::Providing;
use seek::Seek;
use telling::Telling;

use crate::overlay::config::TransportSeed;
use crate::overlay::shared::Shared;

/// Kind of the providers that relay.
const RELAYS: &str = "relay";

/// Kademlia, as the swarm has it.
pub(crate) type Kad = kad::Behaviour<MemoryStore>;

/// When the DHT is asked for our own neighbourhood.
#[derive(Debug)]
struct Next {
    last: Option<Instant>,
    next: Instant,
    pause: Duration,
}

/// The room of the DHT.
pub(crate) struct Dht {
    shared: Arc<Shared>,
    key: SecretKey,
    running: HashMap<QueryId, Lookup>,
    /// Of those for records: the peers with which they began.
    near: HashMap<QueryId, Vec<PeerId>>,
    own: Next,
    telling: Telling,
    /// The put of our own record that runs or ran last.
    put: Option<QueryId>,
    providing: Providing,
    bringers: Bringers,
    seeks: BTreeMap<PeerId, Seek>,
    orders: Vec<Order>,
}

impl Dht {
    pub(crate) fn new(shared: Arc<Shared>, seed: &TransportSeed, now: Instant) -> Self {
        Self {
            shared,
            key: SecretKey::from_seed(&seed.0),
            running: HashMap::new(),
            near: HashMap::new(),
            own: Next {
                last: None,
                next: now,
                pause: TICK,
            },
            telling: Telling::default(),
            put: None,
            providing: Providing::default(),
            bringers: Bringers::new(now),
            seeks: BTreeMap::new(),
            orders: Vec::new(),
        }
    }

    /// Requests to the swarm and other rooms.
    pub(crate) fn take_orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }

    /// Lookups that run.
    pub(crate) fn lookups(&self) -> usize {
        self.running.len()
    }

    /// Peers sought.
    pub(crate) fn seeks(&self) -> usize {
        self.seeks.len()
    }

    /// Whether a peer is sought.
    pub(crate) fn is_sought(&self, peer: &PeerId) -> bool {
        self.seeks.contains_key(peer)
    }
}
