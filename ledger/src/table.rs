//! A copy-on-write overlay over an ordered map: how a candidate block runs without touching the
//! state.
//!
//! 1. A [`Table`] borrows the map of the committed state and starts without changes.
//! 2. Reads see the changes first, then the base. Writes only ever reach the changes:
//!    `Some(value)` replaces or adds a record, `None` (a tombstone) hides the base's record.
//! 3. [`Table::into_changes`] yields the net effect: entries that equal the base are left out, so
//!    two executions with the same outcome yield equal changes, whatever detours they took.
//! 4. After the decision, [`apply`] writes the changes into the base.
//!
//! A lookup costs O(log changes + log base); a full iteration O(changes + base). No base record is
//! cloned unless it is written to.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Range;
use std::iter::Peekable;
use std::ops::{Bound, RangeBounds};

/// Records looked at by this thread, for tests that hold work to a bound.
#[cfg(test)]
pub(crate) mod steps {
    use std::cell::Cell;

    thread_local! { static STEPS: Cell<u64> = const { Cell::new(0) }; }

    pub(crate) fn count() {
        STEPS.set(STEPS.get() + 1);
    }
    /// How many some work looks at.
    pub(crate) fn of<T>(work: impl FnOnce() -> T) -> (u64, T) {
        let before = STEPS.get();
        let done = work();
        (STEPS.get() - before, done)
    }
}

/// The net effect of an execution on one map: `Some` sets the record, `None` removes it.
pub type Changes<K, V> = BTreeMap<K, Option<V>>;

/// An ordered map seen through changes that are not committed yet.
#[derive(Clone, Debug)]
pub struct Table<'a, K, V> {
    base: &'a BTreeMap<K, V>,
    changes: Changes<K, V>,
}

impl<'a, K: Ord + Clone, V: Clone + PartialEq> Table<'a, K, V> {
    /// A table that reads as `base` until it is written to.
    pub fn new(base: &'a BTreeMap<K, V>) -> Self {
        Self {
            base,
            changes: BTreeMap::new(),
        }
    }

    /// The record under `key`, as changed so far.
    pub fn get(&self, key: &K) -> Option<&V> {
        #[cfg(test)]
        steps::count();
        match self.changes.get(key) {
            Some(change) => change.as_ref(),
            None => self.base.get(key),
        }
    }

    /// Whether there is a record under `key`.
    pub fn contains(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    /// Sets the record under `key`, whether there was one or not.
    pub fn insert(&mut self, key: K, value: V) {
        self.changes.insert(key, Some(value));
    }

    /// Removes and returns the record under `key`, if there is one.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let Some(below) = self.base.get(key) else {
            // Nothing to hide in the base, so no tombstone is needed.
            return self.changes.remove(key).flatten();
        };
        match self.changes.insert(key.clone(), None) {
            Some(overlaid) => overlaid,
            None => Some(below.clone()),
        }
    }

    /// The record under `key` for writing; a record of the base is cloned into the changes first.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        if !self.changes.contains_key(key) {
            let below = self.base.get(key)?;
            self.changes.insert(key.clone(), Some(below.clone()));
        }
        self.changes.get_mut(key)?.as_mut()
    }

    /// Number of records; costs one base lookup per change.
    pub fn len(&self) -> usize {
        let (mut added, mut hidden) = (0, 0);
        for (key, change) in &self.changes {
            match (self.base.contains_key(key), change.is_some()) {
                (false, true) => added += 1,
                (true, false) => hidden += 1,
                _ => {}
            }
        }
        self.base.len() + added - hidden
    }

    /// Whether there is no record at all.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// All records in ascending order of keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        self.range(..)
    }

    /// The records whose keys lie in `range`, ascending. A range whose start lies behind its end is
    /// empty (the standard map would panic).
    pub fn range(&self, range: impl RangeBounds<K>) -> Iter<'_, K, V> {
        let bounds = (range.start_bound(), range.end_bound());
        if is_void(bounds) {
            return Iter {
                base: Range::default().peekable(),
                changes: Range::default().peekable(),
            };
        }
        Iter {
            base: self.base.range::<K, _>(bounds).peekable(),
            changes: self.changes.range::<K, _>(bounds).peekable(),
        }
    }

    /// The records that are not as in the base, each as it was and as it is.
    pub fn changed(&self) -> impl Iterator<Item = (&K, Option<&V>, Option<&V>)> {
        let all = self.changes.iter();
        let all = all.map(|(key, change)| {
            #[cfg(test)]
            steps::count();
            (key, self.base.get(key), change.as_ref())
        });
        all.filter(|(_, was, is)| was != is)
    }

    /// The net effect: every key whose record now differs from the base's.
    pub fn into_changes(self) -> Changes<K, V> {
        let Self { base, mut changes } = self;
        changes.retain(|key, change| base.get(key) != change.as_ref());
        changes
    }
}

/// Whether no key can lie within the bounds.
fn is_void<K: Ord>(bounds: (Bound<&K>, Bound<&K>)) -> bool {
    match bounds {
        (Bound::Excluded(start), Bound::Excluded(end)) => start >= end,
        (
            Bound::Included(start) | Bound::Excluded(start),
            Bound::Included(end) | Bound::Excluded(end),
        ) => start > end,
        _ => false,
    }
}

/// Writes changes, as [`Table::into_changes`] yields them, into the map they were made against.
pub fn apply<K: Ord, V>(base: &mut BTreeMap<K, V>, changes: Changes<K, V>) {
    for (key, change) in changes {
        match change {
            Some(value) => base.insert(key, value),
            None => base.remove(&key),
        };
    }
}

/// Ordered iteration over a [`Table`]: base and changes merged, changes first on equal keys.
#[derive(Clone, Debug)]
pub struct Iter<'t, K, V> {
    base: Peekable<Range<'t, K, V>>,
    changes: Peekable<Range<'t, K, Option<V>>>,
}

impl<'t, K: Ord, V> Iterator for Iter<'t, K, V> {
    type Item = (&'t K, &'t V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            #[cfg(test)]
            steps::count();
            let order = match (self.base.peek(), self.changes.peek()) {
                (_, None) => return self.base.next(),
                (None, Some(_)) => Ordering::Greater,
                (Some((below, _)), Some((changed, _))) => below.cmp(changed),
            };
            match order {
                Ordering::Less => return self.base.next(),
                Ordering::Equal => drop(self.base.next()),
                Ordering::Greater => {}
            }
            // The changed record is next in order; a tombstone yields nothing and the search goes
            // on.
            if let Some((key, Some(value))) = self.changes.next() {
                return Some((key, value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Op {
        Insert(u8, u8),
        Remove(u8),
        Bump(u8),
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![
            (0..24u8, 0..4u8).prop_map(|(k, v)| Op::Insert(k, v)),
            (0..24u8).prop_map(Op::Remove),
            (0..24u8).prop_map(Op::Bump),
        ]
    }

    fn small_map() -> impl Strategy<Value = BTreeMap<u8, u8>> {
        prop::collection::btree_map(0..24u8, 0..4u8, 0..16)
    }

    proptest! {
        #[test]
        fn behaves_as_a_cloned_map(base in small_map(), ops in prop::collection::vec(op(), 0..40)) {
            let mut plain = base.clone();
            let mut table = Table::new(&base);
            for op in ops {
                match op {
                    Op::Insert(k, v) => { plain.insert(k, v); table.insert(k, v); }
                    Op::Remove(k) => prop_assert_eq!(plain.remove(&k), table.remove(&k)),
                    Op::Bump(k) => {
                        let (a, b) = (plain.get_mut(&k), table.get_mut(&k));
                        prop_assert_eq!(&a, &b);
                        if let (Some(a), Some(b)) = (a, b) { *a ^= 1; *b ^= 1; }
                    }
                }
                prop_assert_eq!(plain.len(), table.len());
                prop_assert_eq!(plain.is_empty(), table.is_empty());
                prop_assert!(plain.iter().eq(table.iter()));
            }
            for k in 0..24 {
                prop_assert_eq!(plain.get(&k), table.get(&k));
                prop_assert_eq!(plain.contains_key(&k), table.contains(&k));
                for end in k..24 {
                    prop_assert!(plain.range(k..end).eq(table.range(k..end)));
                    prop_assert!(plain.range(k..=end).eq(table.range(k..=end)));
                }
                prop_assert!(plain.range(k..).eq(table.range(k..)));
                prop_assert!(plain.range(..k).eq(table.range(..k)));
            }

            for k in 0..24 {
                let changed = table.changed().find(|(key, ..)| **key == k);
                let differs = base.get(&k) != plain.get(&k);
                prop_assert_eq!(changed, differs.then_some((&k, base.get(&k), plain.get(&k))));
            }

            let changes = table.into_changes();
            for k in 0..24 {
                prop_assert_eq!(changes.contains_key(&k), base.get(&k) != plain.get(&k), "net change of {}", k);
            }
            let mut applied = base.clone();
            apply(&mut applied, changes);
            prop_assert_eq!(applied, plain);
        }
    }

    #[test]
    fn detours_leave_no_trace() {
        let base = BTreeMap::from([(1, 'a'), (2, 'b')]);
        let mut table = Table::new(&base);
        table.insert(3, 'c');
        assert_eq!(table.remove(&3), Some('c'));
        assert_eq!(table.remove(&1), Some('a'));
        assert_eq!(table.remove(&1), None);
        table.insert(1, 'a');
        *table.get_mut(&2).unwrap() = 'b';
        assert_eq!(table.into_changes(), BTreeMap::new());
    }

    #[test]
    #[allow(clippy::reversed_empty_ranges)]
    fn void_ranges_are_empty_instead_of_a_panic() {
        let base = BTreeMap::from([(1, ()), (2, ()), (3, ())]);
        let table = Table::new(&base);
        assert_eq!(table.range(3..1).count(), 0);
        assert_eq!(table.range(3..=2).count(), 0);
        assert_eq!(
            table
                .range((Bound::Excluded(2), Bound::Excluded(2)))
                .count(),
            0
        );
        assert_eq!(table.range(2..=2).count(), 1);
    }
}
