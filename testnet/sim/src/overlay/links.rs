//! The connections of one node, by peer, and their bounds as the node sets them
//! (`connection_limits` of its swarm).

use super::{Id, Millis};
use gridbay_core::overlay::{GRACE, Idle, MESH, Room, WANTED_PEERS, inbound};
use std::time::Duration;

/// A connection, as one end sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The other end.
    pub peer: Id,
    /// When it stood.
    pub since: Millis,
    /// We dialled.
    pub outbound: bool,
    /// It is in gossip's mesh.
    pub mesh: bool,
}

/// The connections of a node.
#[derive(Clone, Debug, Default)]
pub struct Links {
    by_peer: Vec<Link>,
    outbound: usize,
    mesh: usize,
}

impl Links {
    /// Connections.
    pub fn len(&self) -> usize {
        self.by_peer.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_peer.is_empty()
    }

    fn place(&self, peer: Id) -> Result<usize, usize> {
        self.by_peer.binary_search_by_key(&peer, |link| link.peer)
    }

    /// The connection to a peer.
    pub fn get(&self, peer: Id) -> Option<&Link> {
        self.place(peer).ok().map(|at| &self.by_peer[at])
    }

    /// All, by peer.
    pub fn iter(&self) -> impl Iterator<Item = &Link> {
        self.by_peer.iter()
    }

    /// Whether one more may be had, by our own dial or by another's.
    pub fn has_room(&self, connections: usize, by_us: bool) -> bool {
        let theirs = self.len() - self.outbound;
        self.len() < connections && (by_us || theirs < inbound(connections))
    }

    /// A connection stands.
    pub fn add(&mut self, link: Link) {
        if let Err(at) = self.place(link.peer) {
            self.by_peer.insert(at, link);
            self.outbound += usize::from(link.outbound);
            self.mesh += usize::from(link.mesh);
        }
    }

    /// A connection is gone.
    pub fn remove(&mut self, peer: Id) -> Option<Link> {
        let link = self.by_peer.remove(self.place(peer).ok()?);
        self.outbound -= usize::from(link.outbound);
        self.mesh -= usize::from(link.mesh);
        Some(link)
    }

    /// Whether gossip's mesh wants more.
    pub fn wants_mesh(&self) -> bool {
        self.mesh < MESH
    }

    /// Takes a peer into the mesh.
    pub fn graft(&mut self, peer: Id) {
        if let Ok(at) = self.place(peer)
            && !self.by_peer[at].mesh
        {
            self.by_peer[at].mesh = true;
            self.mesh += 1;
        }
    }

    /// Whom to disconnect now.
    pub fn to_close(
        &self,
        connections: usize,
        now: Millis,
        is_kept: impl Fn(Id) -> bool,
    ) -> Vec<Id> {
        let room = Room {
            connections,
            wanted: WANTED_PEERS,
            grace: GRACE,
        };
        room.to_close(self.len(), self.len(), self.idle(now, is_kept))
    }

    /// Those that nobody needs. The model has no crowds: a site has four nodes.
    fn idle(&self, now: Millis, is_kept: impl Fn(Id) -> bool) -> Vec<Idle<Id>> {
        let idle = self.iter().filter(|l| !l.mesh && !is_kept(l.peer));
        let of = |l: &Link| Idle {
            peer: l.peer,
            own: l.outbound,
            crowd: 1,
            age: Duration::from_millis(now - l.since),
        };
        idle.map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(peer: Id, outbound: bool) -> Link {
        Link {
            peer,
            since: Millis::from(peer),
            outbound,
            mesh: false,
        }
    }

    #[test]
    fn others_may_make_three_quarters_and_we_the_rest() {
        let mut links = Links::default();
        for peer in 0..120 {
            assert!(links.has_room(160, false));
            links.add(link(peer, false));
        }
        assert!(!links.has_room(160, false) && links.has_room(160, true));
        for peer in 120..160 {
            assert!(links.has_room(160, true));
            links.add(link(peer, true));
        }
        assert!(!links.has_room(160, true));
        assert_eq!(links.remove(3).map(|l| l.peer), Some(3));
        assert!(links.has_room(160, false), "one of theirs is gone");
        assert_eq!((links.len(), links.remove(3)), (159, None));
    }

    #[test]
    fn room_is_made_among_those_that_nobody_needs() {
        let mut links = Links::default();
        (0..120).for_each(|peer| links.add(link(peer, false)));
        (0..MESH as Id).for_each(|peer| links.graft(peer));
        assert!(!links.wants_mesh());
        let closed = links.to_close(160, 40_000, |peer| peer == 10);
        assert_eq!(closed.len(), 40);
        assert!(closed.iter().all(|p| *p >= MESH as Id && *p != 10));
        assert!(
            links.to_close(160, 1_500, |_| false).is_empty(),
            "all young"
        );
    }

    #[test]
    fn of_our_own_choice_one_at_a_time_is_given_up() {
        let mut links = Links::default();
        (0..40).for_each(|peer| links.add(link(peer, peer >= 15)));
        let mut gone = Vec::new();
        loop {
            let close = links.to_close(160, 40_000, |peer| peer == 20);
            let [peer] = close[..] else { break };
            links.remove(peer);
            gone.push(peer);
        }
        let given_up = (15..36).filter(|peer| *peer != 20);
        assert_eq!(gone, given_up.collect::<Vec<_>>());
    }
}
