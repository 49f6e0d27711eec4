//! Token buckets, by owner. Pure: the time comes in, as an instant or as the time since a start.
//!
//! 1. A bucket refills with time. So a cost is stated as the time in which it is refilled, and a
//!    bucket's size as the time in which an empty one fills.
//! 2. Of each bucket only the time is kept at which it will be full again (a virtual scheduling
//!    GCRA). A bucket that is full says nothing, so it is forgotten.
//! 3. The number of buckets is bounded. Where all are in use, the one that is full first makes
//!    room: it has been used least.

use std::collections::BTreeMap;
use std::ops::Add;
use std::time::Duration;

/// The buckets.
#[derive(Debug)]
pub struct Buckets<Key, Time> {
    /// When each is full again.
    full: BTreeMap<Key, Time>,
    most: usize,
}

impl<Key, Time> Buckets<Key, Time>
where
    Key: Ord + Clone,
    Time: Copy + Ord + Add<Duration, Output = Time>,
{
    /// At most so many buckets, and at least one.
    pub fn new(most: usize) -> Self {
        Self {
            full: BTreeMap::new(),
            most: most.max(1),
        }
    }

    /// Whether a bucket that holds `whole` has as much as `cost`. From a full one anything may be
    /// taken, even what is larger than the bucket.
    pub fn holds(&self, key: &Key, cost: Duration, whole: Duration, now: Time) -> bool {
        let full = self.full.get(key).copied().unwrap_or(now);
        full <= now || full + cost <= now + whole
    }

    /// Takes as much as `cost` out of a bucket, whether it holds that or not.
    pub fn take(&mut self, key: Key, cost: Duration, now: Time) {
        if !self.full.contains_key(&key) && self.full.len() >= self.most {
            self.make_room(now);
        }
        let full = self.full.entry(key).or_insert(now);
        *full = (*full).max(now) + cost;
    }

    /// Forgets the buckets that are full.
    pub fn forget_full(&mut self, now: Time) {
        self.full.retain(|_, at| *at > now);
    }

    /// Buckets that are not full, and those not forgotten yet.
    pub fn len(&self) -> usize {
        self.full.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.full.is_empty()
    }

    fn make_room(&mut self, now: Time) {
        self.forget_full(now);
        if self.full.len() >= self.most {
            let first = self.full.iter().min_by_key(|(_, at)| **at);
            if let Some(first) = first.map(|(key, _)| key.clone()) {
                self.full.remove(&first);
            }
        }
    }
}
