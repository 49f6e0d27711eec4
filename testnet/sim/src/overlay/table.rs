//! The routing table of a node, as libp2p-kad 0.49 keeps it.
//!
//! 1. A bucket holds [`K`] peers: first those that are not connected, the one that has been so for
//!    longest in front, then those that are.
//! 2. A peer that comes into a full bucket waits. If the foremost is not connected, it is to be
//!    dialled, and after [`PENDING`] the newcomer takes its place unless it has connected by then;
//!    if all are connected, or somebody waits already, the newcomer is turned away.
//! 3. Only peers that were identified as servers come in, each connected at that moment; of one
//!    site at most [`PER_PREFIX`] a bucket.
//! 4. A peer that a dial did not reach goes (`Task::leave_table` of the node).

use super::key::{Distance, Key};
use super::{Id, Millis, ms};
use gridbay_core::overlay::{K, PENDING, PER_PREFIX};

/// The fate of a peer that was to enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// It is in, or was.
    Yes,
    /// It waits for the place of this one, which is to be dialled.
    Waits(Id),
    /// There is no room.
    No,
}

#[derive(Clone, Debug, Default)]
struct Bucket {
    peers: Vec<Id>,
    /// How many of the last peers are connected.
    connected: usize,
    pending: Option<(Id, Millis)>,
}

impl Bucket {
    fn position(&self, peer: Id) -> Option<usize> {
        self.peers.iter().position(|p| *p == peer)
    }

    fn is_connected(&self, position: usize) -> bool {
        position >= self.peers.len() - self.connected
    }

    fn put(&mut self, peer: Id, connected: bool) {
        if connected {
            self.peers.push(peer);
            self.connected += 1;
        } else {
            let first = self.peers.len() - self.connected;
            self.peers.insert(first, peer);
        }
    }

    fn take(&mut self, position: usize) -> Id {
        if self.is_connected(position) {
            self.connected -= 1;
        }
        self.peers.remove(position)
    }

    /// Step 2, when the time is over.
    fn settle(&mut self, now: Millis, is_connected: impl Fn(Id) -> bool) {
        let Some((peer, at)) = self.pending.filter(|(_, at)| *at <= now) else {
            return;
        };
        self.pending = None;
        debug_assert!(at <= now);
        if self.peers.len() >= K {
            if self.is_connected(0) {
                return;
            }
            self.take(0);
        }
        self.put(peer, is_connected(peer));
    }
}

/// A routing table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    buckets: Vec<Bucket>,
}

impl Table {
    /// Adds a connected peer. `sites` tells where others are, to keep to step 3; none for one
    /// machine.
    pub fn insert(
        &mut self,
        own: &Key,
        peer: (Id, &Key),
        now: Millis,
        is_connected: impl Fn(Id) -> bool,
        same_site: impl Fn(Id) -> bool,
    ) -> Inserted {
        let (id, key) = peer;
        let Some(index) = own.distance(key).bucket() else {
            return Inserted::No;
        };
        if self.buckets.len() <= index {
            self.buckets.resize_with(index + 1, Bucket::default);
        }
        let bucket = &mut self.buckets[index];
        bucket.settle(now, is_connected);
        if bucket.position(id).is_some() {
            return Inserted::Yes;
        }
        let near = bucket.peers.iter().filter(|p| same_site(**p));
        if near.count() >= PER_PREFIX || bucket.pending.is_some_and(|(p, _)| p == id) {
            return Inserted::No;
        }
        if bucket.peers.len() < K {
            bucket.put(id, true);
            return Inserted::Yes;
        }
        if bucket.is_connected(0) || bucket.pending.is_some() {
            return Inserted::No;
        }
        bucket.pending = Some((id, now + ms(PENDING)));
        Inserted::Waits(bucket.peers[0])
    }

    /// A peer of the table is connected now, or no longer.
    pub fn mark(&mut self, distance: &Distance, peer: Id, connected: bool) {
        let Some(bucket) = self.bucket(distance) else {
            return;
        };
        if let Some(position) = bucket.position(peer)
            && bucket.is_connected(position) != connected
        {
            bucket.take(position);
            bucket.put(peer, connected);
            if position == 0 && connected {
                bucket.pending = None;
            }
        }
    }

    /// Step 4.
    pub fn remove(&mut self, distance: &Distance, peer: Id) {
        let Some(bucket) = self.bucket(distance) else {
            return;
        };
        if let Some(position) = bucket.position(peer) {
            bucket.take(position);
        }
        if bucket.pending.is_some_and(|(p, _)| p == peer) {
            bucket.pending = None;
        }
    }

    fn bucket(&mut self, distance: &Distance) -> Option<&mut Bucket> {
        self.buckets.get_mut(distance.bucket()?)
    }

    /// Newcomers whose time is over come in.
    pub fn settle(&mut self, now: Millis, is_connected: impl Fn(Id) -> bool) {
        for bucket in &mut self.buckets {
            bucket.settle(now, &is_connected);
        }
    }

    /// The [`K`] peers closest to a target, nearest first, `but` left out.
    pub fn closest(&self, keys: &[Key], target: &Key, but: Id) -> Vec<Id> {
        let all = self.peers().filter(|p| *p != but);
        let mut near: Vec<(Distance, Id)> = all
            .map(|p| (keys[p as usize].distance(target), p))
            .collect();
        if near.len() > K {
            near.select_nth_unstable(K - 1);
            near.truncate(K);
        }
        near.sort_unstable();
        near.into_iter().map(|(_, p)| p).collect()
    }

    /// All peers in it.
    pub fn peers(&self) -> impl Iterator<Item = Id> + '_ {
        self.buckets.iter().flat_map(|b| b.peers.iter().copied())
    }

    /// Buckets that are full, and buckets with somebody in them.
    pub fn fill(&self) -> (usize, usize) {
        let full = self.buckets.iter().filter(|b| b.peers.len() >= K).count();
        let used = self.buckets.iter().filter(|b| !b.peers.is_empty()).count();
        (full, used)
    }
}

#[cfg(test)]
mod tests;
