//! A model of the overlay: routing tables, connections, records and lookups of many nodes under
//! virtual time.
//!
//! 1. The deciding parts are copied from the node and its Kademlia, with the node's own numbers
//!    (`gridbay_core::overlay`): the routing [`table`], the [`path`]s of a lookup and how three of
//!    them share the work ([`paths`]), the [`book`] of dials, the [`links`] and their bounds.
//! 2. The carrying parts are simulated: latencies from coordinates ([`place`]), handshakes and
//!    requests as round trips, a dead peer as a dial that fails and as links that are given up
//!    after a silence.
//! 3. Nodes come and go ([`world`]). A node leaves without a word; for each that leaves another
//!    comes, a new one or one that was there before, with its old disk.
//! 4. Records are looked up all the while by nodes and of nodes that are drawn. A lookup succeeds
//!    if it brings the newest record that its owner had put when the lookup began. Everything is
//!    counted ([`measure`]) and told as [`figures`].
//! 5. One seed decides everything: equal [`Settings`] give equal [`figures::Figures`].
//!
//! Nothing here depends on libp2p; `gridbay-testnet sim model --check` compares the copy with real
//! nodes.

pub mod book;
pub mod figures;
pub mod key;
pub mod links;
pub mod measure;
pub mod path;
pub mod paths;
pub mod place;
mod query;
mod queue;
pub mod table;
pub mod world;

use gridbay_core::overlay::CONNECTIONS;
use std::time::Duration;

/// A node, by its place in the list of all.
pub type Id = u32;

/// Virtual milliseconds since the beginning.
pub type Millis = u64;

/// A time of the node's in virtual milliseconds.
pub const fn ms(time: Duration) -> Millis {
    time.as_millis() as Millis
}

/// A model to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Nodes that are up at a time, founders among them; at least 2.
    pub nodes: usize,
    /// Decides everything else.
    pub seed: u64,
    /// Virtual time in which all nodes start.
    pub join: Duration,
    /// Virtual time after that, without churn or lookups: tables and records settle.
    pub settle: Duration,
    /// Virtual time with churn and lookups.
    pub measured: Duration,
    /// Nodes of a thousand that leave in an hour.
    pub churn: u64,
    /// Nodes of a thousand that cannot be dialled: clients of the DHT.
    pub private: u64,
    /// Lookups to measure.
    pub lookups: usize,
    /// Connections that a node may have.
    pub connections: usize,
    /// Whether a crowded node makes room, as the real one does.
    pub room: bool,
    /// All on one machine: no latency to speak of, and any number of one site in a bucket.
    pub local: bool,
}

impl Settings {
    /// `nodes` across the Internet, 30 of 100 leaving in an hour, as many private, for an hour.
    pub fn wide_area(nodes: usize, seed: u64) -> Settings {
        Settings {
            nodes,
            seed,
            join: Duration::from_secs(600),
            settle: Duration::from_secs(60),
            measured: Duration::from_secs(3600),
            churn: 300,
            private: 300,
            lookups: 4000,
            connections: CONNECTIONS,
            room: true,
            local: false,
        }
    }

    /// `nodes` on one machine that stay, for the comparison with real ones. So short a measured
    /// time has one sample of their connections, at its beginning, when all is quiet.
    pub fn local(nodes: usize, seed: u64) -> Settings {
        Settings {
            join: Duration::from_secs(10),
            settle: Duration::from_secs(60),
            measured: Duration::from_secs(20),
            churn: 0,
            private: 0,
            lookups: 1000,
            local: true,
            ..Settings::wide_area(nodes, seed)
        }
    }
}
