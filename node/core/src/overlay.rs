//! The numbers of the overlay, and the decisions that need nothing else.
//!
//! The node's overlay (`node/src/overlay/`) runs by them, and the model of it
//! (`testnet/sim/src/overlay/`) as well, so that the model's findings on thousands of nodes are
//! findings on this node. Times suit a wide area. Two numbers belong to libp2p's Kademlia and
//! cannot be set ([`PEER_TIMEOUT`], [`PENDING`]); the node's tests compare the others with its
//! settings.
//!
//! Room for connections:
//!
//! 1. A lookup asks thirty peers or more and each of them keeps the connection, since gossip's
//!    streams never end. Left alone, every node of a larger network would soon have
//!    [`CONNECTIONS`] and refuse newcomers, and lookups would fail.
//! 2. So a node with [`crowded`] or more connections closes unneeded ones down to [`roomy`]. Those
//!    that others made go first, so that newcomers do not cost it the peers that it chose; among
//!    them those of the most crowded network; among those the oldest, so that a peer that has just
//!    come is not turned out by all nodes at once.
//! 3. Long before that, at more than [`ample`] peers, a node gives up unneeded connections that it
//!    dialled itself, because an idle connection costs both ends signs of life several times a
//!    minute. The oldest go first, one in a [`TICK`]: both ends have many to give up, and neither
//!    must fall below the peers that it wants. Connections that others dialled are theirs to give
//!    up: they may want them, and would be back at once.
//! 4. A connection younger than [`GRACE`] is not closed: the lookup that made it may still run. One
//!    that another made goes after [`VISIT`] where room is short: a newcomer asks a well-known node
//!    for other peers and is done, and the next one waits for the place.

use std::cmp::Reverse;
use std::time::Duration;

/// Peers in a bucket of the routing table, in an answer, and closest ones to a key that keep its
/// record.
pub const K: usize = 20;
/// Paths of a lookup that share no peer, and peers asked at a time on each.
pub const PARALLELISM: usize = 3;
/// Peers of one network prefix in one bucket.
pub const PER_PREFIX: usize = 2;
/// A lookup no longer waits for a peer that has been silent for so long.
pub const PEER_TIMEOUT: Duration = Duration::from_secs(10);
/// A new peer waits for so long for the place of one in a full bucket that is not connected.
pub const PENDING: Duration = Duration::from_secs(60);
/// Well above the time for a dial: one dead peer near the key must not cost a lookup, or a record
/// that is being put.
pub const LOOKUP_TIMEOUT: Duration = Duration::from_secs(30);
/// Lookups at a time.
pub const LOOKUPS: usize = 32;

/// How long making a QUIC connection may take.
pub const HANDSHAKE: Duration = Duration::from_secs(5);
/// How long making any other may take, and so the cost of a dial where nobody answers.
pub const DIAL_TIMEOUT: Duration = Duration::from_secs(10);
/// Silence after which a connection is given up.
pub const IDLE: Duration = Duration::from_secs(10);
/// How often an idle connection shows that it lives.
pub const KEEP_ALIVE: Duration = Duration::from_secs(3);
/// How often a connection is pinged.
pub const PING: Duration = Duration::from_secs(3);
/// Pace of the overlay's recurring work.
pub const TICK: Duration = Duration::from_secs(1);

/// First pause before a peer is dialled again.
pub const REDIAL_FIRST: Duration = Duration::from_millis(500);
/// The longest.
pub const REDIAL_MAX: Duration = Duration::from_secs(60);
/// After a connection that stood for so long the pauses begin at the first again. Well above
/// [`VISIT`].
pub const STAYED: Duration = Duration::from_secs(10);
/// Failures after which a peer known by address only is forgotten.
pub const KNOWN_TRIES: u32 = 5;
/// Peers known by address only.
pub const KNOWN_PEERS: usize = 1024;
/// Below this many peers, known ones are dialled.
pub const WANTED_PEERS: usize = 16;
/// Validators to which a node stays connected that is none.
pub const ANCHORS: usize = 2;
/// Addresses of peers written down for the next run.
pub const ACQUAINTANCES: usize = 512;
/// How often a node looks whether they have changed, and then writes them.
pub const ACQUAINTANCES_EVERY: Duration = Duration::from_secs(5);

/// Established connections in total.
pub const CONNECTIONS: usize = 256;
/// Connections being made, each direction.
pub const PENDING_CONNECTIONS: usize = 64;
/// A connection younger than this is not closed for room.
pub const GRACE: Duration = LOOKUP_TIMEOUT;
/// The same for a connection that another made, where room is short: long enough for a lookup's
/// questions.
pub const VISIT: Duration = Duration::from_secs(2);
/// Peers in gossip's mesh of a topic.
pub const MESH: usize = 8;

/// While more peers are wanted, a new one causes a lookup of the neighbourhood after this long:
/// several come at once.
pub const LOOKUP_SOON: Duration = Duration::from_millis(50);
/// Least pause between two such lookups: each costs thirty messages or more, and where many nodes
/// start at once there is always a new peer.
pub const LOOKUP_PAUSE: Duration = Duration::from_secs(3);
/// Longest pause between lookups of a node with nothing new, and the pause of one that has as many
/// peers as it wants.
pub const LOOKUP_SELDOM: Duration = Duration::from_secs(300);

/// Pause after which an unchanged record is put again.
pub const RECORD_AGAIN: Duration = Duration::from_secs(600);
/// Least pause between two records: addresses change in groups. Also the first pause after a put
/// that failed.
pub const RECORD_SETTLE: Duration = Duration::from_secs(1);
/// Longest pause after puts that failed.
pub const RECORD_RETRY_MAX: Duration = Duration::from_secs(60);
/// A lookup for a record, or for providers, goes on for so long after its first find, because a
/// newer record or more providers may come. It does not run to its own end, which a single dead
/// peer near the key can put off by [`DIAL_TIMEOUT`].
pub const FOUND_PATIENCE: Duration = Duration::from_secs(2);
/// A lookup for providers ends after this long even if it has found none, because its asker waits.
pub const PROVIDERS_TIME: Duration = Duration::from_secs(8);
/// Life of this node's record: three times the pause until it is put again.
pub const RECORD_LIFE: Duration = Duration::from_secs(1800);
/// Records of others that a node keeps.
pub const RECORDS: usize = 1024;

/// Of all connections, those that others may make. A quarter is kept for connections of the node's
/// own choice, lest hostile peers surround it.
pub const fn inbound(connections: usize) -> usize {
    connections - connections / 4
}

/// Connections at which room is made. No more than others may make, or newcomers would be refused
/// before.
pub const fn crowded(connections: usize) -> usize {
    inbound(connections)
}

/// Connections that are left when room is made.
pub const fn roomy(connections: usize) -> usize {
    connections / 2
}

/// Pause after a lookup of the node's neighbourhood, by the `last` pause. It doubles, since a
/// lookup that brought no new peer will not soon bring one. With `enough` peers it is the longest
/// at once, since each lookup connects to some thirty peers only to part again.
pub fn lookup_pause(last: Duration, enough: bool) -> Duration {
    if enough {
        LOOKUP_SELDOM
    } else {
        (last * 2).clamp(LOOKUP_PAUSE, LOOKUP_SELDOM)
    }
}

/// Peers above which a node gives up those of its own choice: as many as are `wanted`, and half a
/// mesh of others.
pub const fn ample(wanted: usize) -> usize {
    wanted + MESH / 2
}

/// A peer that nobody needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle<P> {
    /// The peer.
    pub peer: P,
    /// We dialled it.
    pub own: bool,
    /// Peers of its network.
    pub crowd: usize,
    /// Time since it is connected.
    pub age: Duration,
}

/// The bounds of a node's room.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Connections that it may have.
    pub connections: usize,
    /// Peers that it wants.
    pub wanted: usize,
    /// Age from which a connection may be closed.
    pub grace: Duration,
}

impl Room {
    /// Whether a node with so many peers and connections has none to close.
    pub fn suffices(&self, peers: usize, open: usize) -> bool {
        open < crowded(self.connections) && peers <= ample(self.wanted)
    }

    /// The peers to disconnect now, of those that nobody needs: steps 2 to 4.
    pub fn to_close<P>(&self, peers: usize, open: usize, mut idle: Vec<Idle<P>>) -> Vec<P> {
        let visit = self.grace.min(VISIT);
        idle.retain(|i| i.age >= if i.own { self.grace } else { visit });
        if open >= crowded(self.connections) {
            // Stable, so that equals are closed in the order given.
            idle.sort_by_key(|i| (i.own, Reverse((i.crowd, i.age))));
            idle.truncate(open - roomy(self.connections).min(open));
        } else if peers > ample(self.wanted) {
            idle.retain(|i| i.own);
            idle.sort_by_key(|i| Reverse(i.age));
            idle.truncate(1);
        } else {
            idle.clear();
        }
        idle.into_iter().map(|i| i.peer).collect()
    }
}

/// The pause after a failure, from the one before: twice as long, from `first` to `longest`.
pub fn longer(pause: Option<Duration>, first: Duration, longest: Duration) -> Duration {
    pause.map_or(first, |pause| (pause * 2).clamp(first, longest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter;

    fn idle(own: bool, crowd: usize, seconds: u64) -> Idle<u64> {
        Idle {
            peer: seconds,
            own,
            crowd,
            age: Duration::from_secs(seconds),
        }
    }

    fn aged(seconds: impl Iterator<Item = u64>) -> Vec<Idle<u64>> {
        seconds.map(|s| idle(false, 1, s)).collect()
    }

    const ROOM: Room = Room {
        connections: 160,
        wanted: 24,
        grace: GRACE,
    };

    #[test]
    fn lookups_become_seldom_and_are_so_at_once_with_enough_peers() {
        let pauses = |enough| {
            let first = lookup_pause(Duration::ZERO, enough);
            iter::successors(Some(first), move |last| Some(lookup_pause(*last, enough)))
        };
        let alone: Vec<u64> = pauses(false).take(9).map(|p| p.as_secs()).collect();
        assert_eq!(alone, [3, 6, 12, 24, 48, 96, 192, 300, 300]);
        assert!(pauses(true).take(3).all(|p| p == LOOKUP_SELDOM));
    }

    #[test]
    fn nothing_is_closed_while_there_is_room() {
        assert!(ROOM.suffices(28, 119) && !ROOM.suffices(29, 29) && !ROOM.suffices(9, 120));
        assert!(ROOM.to_close(119, 119, aged(100..219)).is_empty());
        assert_eq!(ROOM.to_close(120, 120, aged(100..220)).len(), 40);
    }

    #[test]
    fn the_oldest_go_first_and_young_ones_stay() {
        let closed = ROOM.to_close(120, 120, aged(0..120));
        assert_eq!(closed, (80..120).rev().collect::<Vec<_>>());
        let visit = VISIT.as_secs();
        assert_eq!(ROOM.to_close(120, 120, aged(0..visit + 1)), [visit]);
        assert!(ROOM.to_close(160, 160, aged(0..visit)).is_empty());
        let own = (0..40).map(|age| idle(true, 1, age)).collect();
        let closed = ROOM.to_close(160, 160, own);
        assert_eq!(closed, (30..40).rev().collect::<Vec<_>>());
    }

    #[test]
    fn who_came_by_itself_goes_before_the_chosen_and_the_crowd_before_the_single() {
        let all = vec![
            idle(true, 9, 99),
            idle(false, 1, 80),
            idle(false, 5, 40),
            idle(false, 5, 50),
            idle(true, 1, 70),
        ];
        assert_eq!(ROOM.to_close(160, 160, all), [50, 40, 80, 99, 70]);
    }

    #[test]
    fn the_oldest_of_our_own_choice_is_given_up_while_there_are_more_than_ample() {
        let all = [(true, 20), (true, 31), (true, 70), (true, 40), (false, 90)];
        let all = all.map(|(own, age)| idle(own, 1, age));
        assert!(ROOM.to_close(28, 60, all.to_vec()).is_empty());
        assert_eq!(ROOM.to_close(29, 29, all.to_vec()), [70]);
        assert!(ROOM.to_close(99, 99, all[..1].to_vec()).is_empty());
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
