//! The entries of a bounded place, by the founding members that answer for their accounts.
//!
//! A member's accounts are its *house*. When a place is full, a newcomer replaces the newest entry
//! of the house with most in it, if its own house has less. So every house is sure of its even
//! share of the place, whatever all others send. Entries that a promise binds count, but stay.

use gridbay_protocol::ids::{AccountId, EntryId};
use std::collections::{BTreeMap, BTreeSet};

/// An entry by the order of arrival.
pub(super) type Arrival = (u64, EntryId);

/// The entries of a house.
#[derive(Clone, Debug, Default)]
struct House {
    held: usize,
    /// Entries that may leave, the newest last.
    loose: BTreeSet<Arrival>,
}

/// The houses of a place. All that is done with it costs the logarithm of what it holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Crowd {
    houses: BTreeMap<AccountId, House>,
    /// Those with something that may leave, by what they hold.
    order: BTreeSet<(usize, AccountId)>,
    entries: usize,
}

impl Crowd {
    fn change(&mut self, id: &AccountId, change: impl FnOnce(&mut House)) {
        let house = self.houses.entry(*id).or_default();
        self.order.remove(&(house.held, *id));
        change(house);
        if !house.loose.is_empty() {
            self.order.insert((house.held, *id));
        } else if house.held == 0 {
            self.houses.remove(id);
        }
    }
    /// Takes an entry in that may leave.
    pub(super) fn add(&mut self, house: &AccountId, weight: usize, entry: Arrival) {
        self.entries += 1;
        self.change(house, |house| {
            house.held += weight;
            house.loose.insert(entry);
        });
    }
    /// Lets an entry go.
    pub(super) fn remove(&mut self, house: &AccountId, weight: usize, entry: Arrival) {
        self.entries -= 1;
        self.change(house, |house| {
            house.held -= weight;
            house.loose.remove(&entry);
        });
    }
    /// From now on an entry stays.
    pub(super) fn bind(&mut self, house: &AccountId, entry: Arrival) {
        self.change(house, |house| {
            house.loose.remove(&entry);
        });
    }
    /// Entries of all houses.
    pub(super) fn len(&self) -> usize {
        self.entries
    }
    /// Whether a house has at least half of what the one with most has.
    pub(super) fn is_large(&self, house: &AccountId) -> bool {
        let most = self.order.last().map_or(0, |(held, _)| *held);
        2 * self.held(house) >= most
    }
    fn held(&self, house: &AccountId) -> usize {
        self.houses.get(house).map_or(0, |house| house.held)
    }
    /// The entry that leaves for one of a house, if another house has more than it would have.
    pub(super) fn yields_to(&self, house: &AccountId, weight: usize) -> Option<EntryId> {
        let (most, largest) = self.order.last()?;
        if self.held(house) + weight >= *most {
            return None;
        }
        let (_, newest) = self.houses.get(largest)?.loose.last()?;
        Some(*newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_with_most_yields_its_newest_that_may_leave() {
        let [one, two] = [1, 2].map(|n| AccountId([n; 32]));
        let entry = |n: u8| (u64::from(n), EntryId([n; 32]));
        let mut crowd = Crowd::default();
        for n in 0..4 {
            crowd.add(&one, 1, entry(n));
        }
        assert_eq!(crowd.yields_to(&one, 1), None, "not to itself");
        assert_eq!(
            crowd.yields_to(&two, 4),
            None,
            "not to one that has as much"
        );
        assert_eq!(crowd.yields_to(&two, 1), Some(entry(3).1));
        crowd.bind(&one, entry(3));
        assert_eq!(crowd.yields_to(&two, 1), Some(entry(2).1));
        assert!(crowd.is_large(&one) && !crowd.is_large(&two));
        (0..3).for_each(|n| crowd.remove(&one, 1, entry(n)));
        assert_eq!(crowd.yields_to(&two, 0), None, "what is bound stays");
        crowd.remove(&one, 1, entry(3));
        assert_eq!((crowd.len(), crowd.houses.len()), (0, 0));
    }
}
