//! Sealed reservations. One that is committed and cannot be opened any more would lose its deposit,
//! so an attempt ends early enough.

use super::way::{Asked, Attempt, Buys, Desk};
use crate::reply::Refused;
use gridbay_ledger::{State, Unbookable};
use gridbay_protocol::appeal::last_opening;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::mechanism::reservation::Channels;
use gridbay_protocol::order::{Flaw, Group, Reservation, Wish};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// Terms of a reservation; class and slots are the order's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReserveTerms {
    /// The groups wanted together.
    pub groups: Vec<Group>,
    /// First slot it may start in.
    pub earliest: u64,
    /// Last slot it may start in.
    pub latest: u64,
    /// The worth of all of it, and the payment if it wins.
    pub value: Credits,
    /// Channels of which it needs one.
    pub channels: Option<Channels>,
}

impl ReserveTerms {
    fn reservation(&self, at: &Attempt) -> Reservation {
        Reservation {
            class: at.class,
            groups: self.groups.clone(),
            slots: at.slots,
            earliest: self.earliest,
            latest: self.latest,
            value: self.value,
            channels: self.channels,
            work: at.work,
        }
    }
    /// Why a reservation that is committed in the next block could not be opened in the last block
    /// for it; `None` if it can.
    fn unbookable(&self, at: &Attempt, state: &State) -> Option<Unbookable> {
        let calendar = state.calendar();
        let round = calendar.round(state.height().saturating_add(1));
        let opening = last_opening(&calendar, round);
        state.bookable(&self.reservation(at), opening).err()
    }
}

impl Buys for ReserveTerms {
    fn asked(&self, at: &Attempt) -> Asked {
        Asked::Sealed(Wish::Reservation(self.reservation(at)))
    }
    /// All that it can cost.
    fn check(&self, at: &Attempt, desk: &Desk<'_>) -> Result<Credits, Refused> {
        let wish = self.reservation(at);
        wish.check().map_err(Refused::flawed)?;
        if wish.units() != at.tasks {
            return Err(Refused::flawed(Flaw::Units));
        }
        match self.unbookable(at, desk.state) {
            Some(why) => Err(Refused::by_ledger(&why.into())),
            None => Ok(wish.value),
        }
    }
    /// A reservation opened in the round after it must still have a start to come.
    fn last_commitment(&self, calendar: &Calendar) -> u64 {
        let before = calendar.last_of_slot(self.latest.saturating_sub(1));
        let round = calendar.round(before).saturating_sub(1);
        calendar.last_of_round(round)
    }
    fn hopeless(&self, at: &Attempt, state: &State) -> Option<&'static str> {
        self.unbookable(at, state).map(|why| why.word())
    }
    fn needs(&self, class: ClassId) -> Vec<(ClassId, u32)> {
        vec![(class, self.groups.iter().map(|g| g.units).sum())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_commitment_can_be_opened_before_the_last_start() {
        let terms = |latest| ReserveTerms {
            groups: vec![],
            earliest: 0,
            latest,
            value: Credits::ZERO,
            channels: None,
        };
        for (round_heights, slot_rounds) in [(4, 2), (5, 12), (2, 1), (4, 1)] {
            let calendar = Calendar {
                round_heights,
                slot_rounds,
            };
            for latest in 3..9 {
                let last = terms(latest).last_commitment(&calendar);
                let opened = last_opening(&calendar, calendar.round(last));
                assert!(calendar.slot(opened) < latest, "open in time");
                let later = last_opening(&calendar, calendar.round(last + 1));
                assert!(calendar.slot(later) >= latest, "and no earlier than needed");
            }
        }
    }
}
