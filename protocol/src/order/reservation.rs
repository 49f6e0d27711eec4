//! Reservations: sets of units together, ahead of time.

use super::flaw::Flaw;
use crate::ids::{ClassId, Hash32, OfferId};
use crate::limits;
use crate::mechanism::reservation::{CHANNELS, Channels};
use crate::units::{Credits, Price};
use serde::{Deserialize, Serialize};

/// Some units of some offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// How many, at least 1.
    pub units: u32,
    /// Offers they may be of, ascending; empty for any of the class that sells under reservation.
    pub offers: Vec<OfferId>,
}

/// All groups at the same time, for a run of slots from one start, or nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reservation {
    /// The class.
    pub class: ClassId,
    /// The groups wanted together, 1 to [`limits::RESERVATION_GROUPS`] groups; a unit serves one of
    /// them.
    pub groups: Vec<Group>,
    /// Length in slots, 1 to [`limits::RESERVATION_SLOTS`].
    pub slots: u32,
    /// First slot it may start in.
    pub earliest: u64,
    /// Last slot it may start in.
    pub latest: u64,
    /// The worth of all of it, and the payment if it wins.
    pub value: Credits,
    /// The exclusive channel, if one is needed.
    pub channels: Option<Channels>,
    /// Salted hash of the job; its text stays off the ledger.
    pub work: Hash32,
}

impl Reservation {
    /// Units of all groups; 0 if they overflow.
    pub fn units(&self) -> u32 {
        let mut all = self.groups.iter();
        all.try_fold(0u32, |n, g| n.checked_add(g.units))
            .unwrap_or(0)
    }
    /// Units times slots.
    pub fn node_slots(&self) -> u64 {
        u64::from(self.units()) * u64::from(self.slots)
    }
    /// The least that it must be worth at a price of a node-slot; `None` beyond the range of money.
    pub fn least(&self, posted: Price) -> Option<Credits> {
        posted.times(self.node_slots())
    }
    /// Price per slot, and the surcharge of the first one: the remainder of the division.
    pub fn per_slot(&self) -> (Credits, Credits) {
        let slots = u64::from(self.slots.max(1));
        let each = self.value.share_floor(1, slots).unwrap_or(Credits::ZERO);
        let even = each.checked_mul(slots).unwrap_or(Credits::ZERO);
        (each, self.value.saturating_sub(even))
    }
    /// Checks that all values are in range. Supply and prices are the ledger's to judge.
    ///
    /// # Errors
    /// The first flaw.
    pub fn check(&self) -> Result<(), Flaw> {
        let groups = &self.groups;
        let named: usize = groups.iter().map(|g| g.offers.len()).sum();
        let ascends = |group: &Group| group.offers.windows(2).all(|w| w[0] < w[1]);
        let is_range = |c: Channels| c.low <= c.high && c.high - c.low < CHANNELS;
        let flaws = [
            (
                Flaw::Groups,
                (1..=limits::RESERVATION_GROUPS).contains(&groups.len())
                    && groups.iter().all(|g| g.units >= 1)
                    && (1..=limits::RESERVATION_UNITS).contains(&self.units()),
            ),
            (
                Flaw::GroupOffers,
                named <= limits::RESERVATION_OFFERS && groups.iter().all(ascends),
            ),
            (
                Flaw::Run,
                (1..=limits::RESERVATION_SLOTS).contains(&self.slots),
            ),
            (Flaw::Starts, self.earliest <= self.latest),
            (Flaw::Channels, self.channels.is_none_or(is_range)),
        ];
        Flaw::first(&flaws)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reservation(value: u64, slots: u32, units: &[u32]) -> Reservation {
        let group = |&units: &u32| Group {
            units,
            offers: vec![],
        };
        Reservation {
            class: ClassId([1; 32]),
            groups: units.iter().map(group).collect(),
            slots,
            earliest: 4,
            latest: 9,
            value: Credits::from_micros(value).unwrap(),
            channels: None,
            work: Hash32([2; 32]),
        }
    }

    #[test]
    fn the_first_slot_bears_the_remainder() {
        for (value, slots, each, more) in [(100, 3, 33, 1), (99, 3, 33, 0), (2, 3, 0, 2)] {
            let (price, first) = reservation(value, slots, &[1]).per_slot();
            assert_eq!((price.micros(), first.micros()), (each, more));
        }
    }

    #[test]
    fn illegal_reservations_say_why() {
        let refused = |slots, units: &[u32]| reservation(1, slots, units).check();
        assert_eq!(refused(2, &[1, 3]), Ok(()));
        let groups = Err(Flaw::Groups);
        assert_eq!(refused(2, &[]), groups);
        assert_eq!(refused(2, &[1, 0]), groups);
        assert_eq!(refused(2, &[1; limits::RESERVATION_GROUPS + 1]), groups);
        assert_eq!(refused(2, &[limits::RESERVATION_UNITS, 1]), groups);
        assert_eq!(refused(2, &[u32::MAX, u32::MAX]), groups);
        let run = Err(Flaw::Run);
        assert_eq!(refused(0, &[1]), run);
        assert_eq!(refused(limits::RESERVATION_SLOTS + 1, &[1]), run);
        let mut twice = reservation(1, 2, &[1]);
        twice.groups[0].offers = vec![OfferId([1; 32]); 2];
        assert_eq!(twice.check(), Err(Flaw::GroupOffers));
        let mut inverted = reservation(1, 2, &[1]);
        inverted.latest = inverted.earliest - 1;
        assert_eq!(inverted.check(), Err(Flaw::Starts));
        let mut channels = reservation(1, 2, &[1]);
        for (low, high, legal) in [(3, 3, true), (0, 63, true), (0, 64, false), (4, 3, false)] {
            channels.channels = Some(Channels { low, high });
            let flaw = Err(Flaw::Channels);
            assert_eq!(
                channels.check(),
                if legal { Ok(()) } else { flaw },
                "{low} to {high}"
            );
        }
    }

    #[test]
    fn the_least_value() {
        let wish = reservation(1, 7, &[2, 3]);
        assert_eq!(wish.least(Price(10)).unwrap().micros(), 350);
        assert_eq!(wish.least(Price(u64::MAX)), None);
    }
}
