//! Work to be done by a deadline: planned by one seller, which may change the number of its units
//! from slot to slot.

use super::flaw::Flaw;
use crate::ids::{ClassId, Hash32, OfferId};
use crate::limits;
use crate::mechanism::deadline::{Job, Shape};
use crate::units::Credits;
use serde::{Deserialize, Serialize};

/// A job for the seller of one offer that plans (see `mechanism::deadline`). Open; decided at the
/// next slot boundary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deadline {
    /// The class.
    pub class: ClassId,
    /// The offer; it sells under `Primary::Deadline`.
    pub offer: OfferId,
    /// Tasks of the job, 1 to [`limits::ORDER_UNITS`] and at most `unit_slots`.
    pub tasks: u32,
    /// Work to do, units times slots, 1 to [`limits::UNIT_SLOTS`]: a hard cap.
    pub unit_slots: u64,
    /// Slots after its acceptance through which `pmax` is paid, 1 to `hard`.
    pub soft: u32,
    /// Slots after its acceptance by which it is done, at most [`limits::ORDER_SLOTS`].
    pub hard: u32,
    /// Price until the soft deadline, above zero.
    pub pmax: Credits,
    /// Price at the hard deadline, at most `pmax`.
    pub pmin: Credits,
    /// How the price falls in between.
    pub shape: Shape,
    /// Salted hash of the job.
    pub work: Hash32,
}

impl Deadline {
    /// Checks that all values are in range.
    ///
    /// # Errors
    /// The first flaw.
    pub fn check(&self) -> Result<(), Flaw> {
        let tasks = (1..=limits::ORDER_UNITS).contains(&self.tasks);
        let work = (u64::from(self.tasks)..=limits::UNIT_SLOTS).contains(&self.unit_slots);
        if !tasks || !work {
            return Err(Flaw::Work);
        }
        if !(1..=self.hard).contains(&self.soft) || self.hard > limits::ORDER_SLOTS {
            return Err(Flaw::Deadlines);
        }
        if self.pmax == Credits::ZERO || self.pmin > self.pmax {
            return Err(Flaw::Rising);
        }
        Ok(())
    }
    /// The job as the mechanism sees it, `elapsed` slots after its acceptance, with `left` of its
    /// work to do.
    pub fn job<K>(&self, id: K, left: u64, elapsed: u32) -> Job<K> {
        Job {
            id,
            work: left,
            elapsed,
            soft: self.soft,
            hard: self.hard,
            pmax: self.pmax.micros(),
            pmin: self.pmin.micros(),
            shape: self.shape,
        }
    }
    /// The price of a job that is done in slot `age` after its acceptance, 1 for the first; `None`
    /// behind the hard deadline.
    pub fn price(&self, age: u32) -> Option<Credits> {
        let price = self.job((), self.unit_slots, 0).price(u64::from(age))?;
        Credits::from_micros(price)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> Deadline {
        Deadline {
            class: ClassId([1; 32]),
            offer: OfferId([2; 32]),
            tasks: 4,
            unit_slots: 8,
            soft: 2,
            hard: 6,
            pmax: Credits::from_micros(100).unwrap(),
            pmin: Credits::from_micros(20).unwrap(),
            shape: Shape::Linear,
            work: Hash32([3; 32]),
        }
    }

    #[test]
    fn illegal_orders_say_why() {
        let refused = |change: fn(&mut Deadline)| {
            let mut order = order();
            change(&mut order);
            order.check()
        };
        assert_eq!(refused(|_| ()), Ok(()));
        let work = Err(Flaw::Work);
        assert_eq!(refused(|o| o.tasks = 0), work);
        assert_eq!(refused(|o| o.unit_slots = 0), work);
        assert_eq!(refused(|o| o.unit_slots = 3), work);
        assert_eq!(refused(|o| o.unit_slots = limits::UNIT_SLOTS + 1), work);
        assert_eq!(refused(|o| o.tasks = limits::ORDER_UNITS + 1), work);
        let late = Err(Flaw::Deadlines);
        assert_eq!(refused(|o| o.soft = 0), late);
        assert_eq!(refused(|o| o.soft = 7), late);
        assert_eq!(refused(|o| o.hard = limits::ORDER_SLOTS + 1), late);
        let prices = Err(Flaw::Rising);
        assert_eq!(refused(|o| o.pmax = Credits::ZERO), prices);
        assert_eq!(refused(|o| o.pmin = Credits::MAX), prices);
    }

    #[test]
    fn the_price_is_that_of_the_slot_in_which_it_is_done() {
        let price = |age| order().price(age).map(Credits::micros);
        let prices: Vec<_> = (1..=7).map(price).collect();
        let expected = [100, 100, 80, 60, 40, 20].map(Some);
        assert_eq!(prices[..6], expected);
        assert_eq!(prices[6], None);
    }
}
