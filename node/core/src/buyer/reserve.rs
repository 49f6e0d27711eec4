//! What is special about orders that reserve: when they can still be committed, and what they seal.

use super::record::{NewOrder, ReserveTerms, Terms};
use gridbay_ledger::{State, Unbookable};
use gridbay_protocol::appeal::last_opening;
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::order::{Bid, Reservation, Wish};

impl NewOrder {
    /// What an attempt at `height` seals; nothing for what is not sealed.
    pub(crate) fn wish(&self, height: u64, work: Hash32) -> Option<Wish> {
        match &self.terms {
            Terms::Buy { .. }
            | Terms::Deadline { .. }
            | Terms::Share { .. }
            | Terms::Contract(_) => None,
            Terms::Sealed {
                steps,
                min,
                budget,
                patience,
            } => Some(Wish::Bid(Bid {
                class: self.class,
                steps: steps.clone(),
                min: *min,
                slots: self.slots,
                budget: *budget,
                stands_until: height.saturating_add(*patience),
                work,
            })),
            Terms::Reserve(terms) => Some(Wish::Reservation(self.reservation(terms, work))),
        }
    }

    /// The reservation on these terms.
    pub(crate) fn reservation(&self, terms: &ReserveTerms, work: Hash32) -> Reservation {
        Reservation {
            class: self.class,
            groups: terms.groups.clone(),
            slots: self.slots,
            earliest: terms.earliest,
            latest: terms.latest,
            value: terms.value,
            channels: terms.channels,
            work,
        }
    }

    /// Why a reservation that is committed in the next block could not be opened in the last block for it; `None` if it
    /// can, and for other orders. What is committed and cannot be opened loses its deposit.
    pub(crate) fn unbookable(&self, state: &State) -> Option<Unbookable> {
        let Terms::Reserve(terms) = &self.terms else {
            return None;
        };
        let calendar = state.calendar();
        let round = calendar.round(state.height().saturating_add(1));
        let wish = self.reservation(terms, Hash32::default());
        state.bookable(&wish, last_opening(&calendar, round)).err()
    }

    /// Last height at which the commitment may be included: what is opened in the round after it must still have a start
    /// to come.
    pub(super) fn last_commitment(&self, calendar: &Calendar) -> u64 {
        match &self.terms {
            Terms::Reserve(terms) => {
                let before = calendar.last_of_slot(terms.latest.saturating_sub(1));
                let round = calendar.round(before).saturating_sub(1);
                calendar.last_of_round(round)
            }
            Terms::Sealed { .. }
            | Terms::Buy { .. }
            | Terms::Deadline { .. }
            | Terms::Share { .. }
            | Terms::Contract(_) => u64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buyer::OrderKey;
    use gridbay_protocol::ids::ClassId;
    use gridbay_protocol::job::JobSpec;
    use gridbay_protocol::units::Credits;

    #[test]
    fn the_last_commitment_can_be_opened_before_the_last_start() {
        let order = |latest| NewOrder {
            worth: None,
            key: OrderKey(1),
            entropy: [1; 32],
            name: "x".into(),
            accepted_ms: 0,
            class: ClassId([1; 32]),
            terms: Terms::Reserve(ReserveTerms {
                groups: vec![],
                earliest: 0,
                latest,
                value: Credits::ZERO,
                channels: None,
            }),
            slots: 1,
            tasks: 1,
            spec: JobSpec {
                argv: vec![],
                env: vec![],
                inputs: vec![],
                outputs: vec![],
                wall_seconds: 1,
            },
        };
        for (round_heights, slot_rounds) in [(4, 2), (5, 12), (2, 1), (4, 1)] {
            let calendar = Calendar {
                round_heights,
                slot_rounds,
            };
            for latest in 3..9 {
                let last = order(latest).last_commitment(&calendar);
                let opened = last_opening(&calendar, calendar.round(last));
                assert!(calendar.slot(opened) < latest, "open in time");
                let later = last_opening(&calendar, calendar.round(last + 1));
                assert!(calendar.slot(later) >= latest, "and no earlier than needed");
            }
        }
    }
}
