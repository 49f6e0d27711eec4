//! The numbers of the overlay, and what is decided by them alone.
//!
//! The node's overlay (`node/src/overlay/`) runs by them, and the model of it (`testnet/sim/src/overlay/`) as well, so that what the
//! model says of thousands of nodes is said of this node. Times are those of a wide area. What belongs to libp2p's Kademlia and
//! cannot be set ([`PEER_TIMEOUT`], [`PENDING`]) stands here too; the node's tests hold the others against its settings.
//!
//! Room for connections:
//!
//! 1. A lookup asks some sixty peers and each of them keeps the connection, since gossip's streams never end. Left alone every node
//!    of a larger network would soon stand at [`CONNECTIONS`], refuse whoever comes, and lookups would fail.
//! 2. So a node with [`crowded`] or more connections closes the oldest of those that nobody needs down to [`roomy`]. The oldest, and
//!    not the newest: all are closed in turn then, and one who has just come is not turned out by all at once.
//! 3. None is closed that is younger than [`GRACE`]: the lookup that it was made for may still run.

use std::time::Duration;

/// Peers in a bucket of the routing table, in an answer, and closest ones to a key that keep its record.
pub const K: usize = 20;
/// Paths of a lookup that share no peer, and peers asked at a time on each.
pub const PARALLELISM: usize = 3;
/// Peers of one network prefix in one bucket.
pub const PER_PREFIX: usize = 2;
/// A lookup no longer waits for a peer that has been silent for so long.
pub const PEER_TIMEOUT: Duration = Duration::from_secs(10);
/// A new peer waits for so long for the place of one in a full bucket that is not connected.
pub const PENDING: Duration = Duration::from_secs(60);
/// Well above the time for a dial: one dead peer near the key must not cost a lookup, or a record that is being put.
pub const LOOKUP_TIMEOUT: Duration = Duration::from_secs(30);
/// Lookups at a time.
pub const LOOKUPS: usize = 32;

/// How long making a QUIC connection may take.
pub const HANDSHAKE: Duration = Duration::from_secs(5);
/// How long making any other may take, and so what a dial costs where nobody answers.
pub const DIAL_TIMEOUT: Duration = Duration::from_secs(10);
/// Silence after which a connection is given up.
pub const IDLE: Duration = Duration::from_secs(10);
/// How often an idle connection shows that it lives.
pub const KEEP_ALIVE: Duration = Duration::from_secs(3);
/// How often a connection is pinged.
pub const PING: Duration = Duration::from_secs(3);
/// What is done from time to time is done this often.
pub const TICK: Duration = Duration::from_millis(500);

/// First pause before a peer is dialled again.
pub const REDIAL_FIRST: Duration = Duration::from_millis(500);
/// The longest.
pub const REDIAL_MAX: Duration = Duration::from_secs(60);
/// Failures after which a peer known by address only is forgotten.
pub const KNOWN_TRIES: u32 = 5;
/// Peers known by address only.
pub const KNOWN_PEERS: usize = 1024;
/// Below this many peers, known ones are dialled.
pub const WANTED_PEERS: usize = 24;
/// Addresses of peers written down for the next run.
pub const ACQUAINTANCES: usize = 512;
/// How often it is looked whether they have changed; then they are.
pub const ACQUAINTANCES_EVERY: Duration = Duration::from_secs(5);

/// Established connections in total.
pub const CONNECTIONS: usize = 160;
/// Connections being made, each direction.
pub const PENDING_CONNECTIONS: usize = 64;
/// A connection younger than this is not closed for room.
pub const GRACE: Duration = LOOKUP_TIMEOUT;
/// Peers in gossip's mesh of a topic.
pub const MESH: usize = 8;

/// After a new peer, while more are wanted, our neighbourhood is asked for after this long: several come at once.
pub const LOOKUP_SOON: Duration = Duration::from_millis(50);
/// Least pause between two such lookups: each costs some 60 messages.
pub const LOOKUP_PAUSE: Duration = Duration::from_secs(1);
/// Longest pause between lookups of a node with nothing new.
pub const LOOKUP_SELDOM: Duration = Duration::from_secs(300);

/// Pause after which an unchanged record is put again.
pub const RECORD_AGAIN: Duration = Duration::from_secs(600);
/// Least pause between two records: addresses change in groups. Also the first pause after a put that failed.
pub const RECORD_SETTLE: Duration = Duration::from_secs(1);
/// Longest pause after puts that failed.
pub const RECORD_RETRY_MAX: Duration = Duration::from_secs(60);
/// Life of our record: three times until it is put again.
pub const RECORD_LIFE: Duration = Duration::from_secs(1800);
/// Records of others that a node keeps.
pub const RECORDS: usize = 1024;

/// Of the connections in total, those that others may make: a quarter is left to connections of our own choice, against being
/// surrounded.
pub const fn inbound(connections: usize) -> usize {
    connections - connections / 4
}

/// Connections at which room is made. No more than others may make, or they would be refused before.
pub const fn crowded(connections: usize) -> usize {
    inbound(connections)
}

/// Connections that are left when room is made.
pub const fn roomy(connections: usize) -> usize {
    connections / 2
}

/// The peers to disconnect, of `open` connections in all: `idle` are those that nobody needs, with the time since they are connected.
pub fn to_close<P>(
    open: usize,
    connections: usize,
    grace: Duration,
    mut idle: Vec<(Duration, P)>,
) -> Vec<P> {
    if open < crowded(connections) {
        return Vec::new();
    }
    idle.retain(|(age, _)| *age >= grace);
    // Stable, so that equal ages are closed in the order given.
    idle.sort_by_key(|(age, _)| std::cmp::Reverse(*age));
    idle.truncate(open - roomy(connections).min(open));
    idle.into_iter().map(|(_, peer)| peer).collect()
}

/// The pause after a failure, from the one before: twice as long, from `first` to `longest`.
pub fn longer(pause: Option<Duration>, first: Duration, longest: Duration) -> Duration {
    pause.map_or(first, |pause| (pause * 2).clamp(first, longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aged(seconds: impl Iterator<Item = u64>) -> Vec<(Duration, u64)> {
        seconds.map(|s| (Duration::from_secs(s), s)).collect()
    }

    #[test]
    fn nothing_is_closed_while_there_is_room() {
        assert!(to_close(119, 160, GRACE, aged(100..219)).is_empty());
        assert_eq!(to_close(120, 160, GRACE, aged(100..220)).len(), 40);
    }

    #[test]
    fn the_oldest_go_first_and_young_ones_stay() {
        let closed = to_close(120, 160, GRACE, aged(0..120));
        assert_eq!(closed, (80..120).rev().collect::<Vec<_>>());
        assert_eq!(to_close(120, 160, GRACE, aged(0..31)), [30]);
        assert!(to_close(160, 160, GRACE, aged(0..30)).is_empty());
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let seconds = Duration::from_secs;
        let mut pause = None;
        let mut all = Vec::new();
        for _ in 0..8 {
            pause = Some(longer(pause, seconds(1), seconds(60)));
            all.push(pause.map_or(0, |p| p.as_secs()));
        }
        assert_eq!(all, [1, 2, 4, 8, 16, 32, 60, 60]);
    }
}
