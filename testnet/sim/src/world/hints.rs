//! The solver of the world's validators: the rule's outcome without a part of the reservations. It
//! is seldom better than with all of them, late now and then, and at times for the wrong slot.

use super::World;
use gridbay_core::hints::Question;
use gridbay_core::input::Input;
use gridbay_protocol::mechanism::reservation;
use gridbay_protocol::mechanism::reservation::window::WindowPolicy;
use gridbay_protocol::record::reservation::ReservationRecord;
use gridbay_protocol::record::reservation::hint::Hint;

/// Parts that are tried.
const TRIES: usize = 6;
/// Milliseconds that it takes at the most.
const LONGEST_MS: u64 = 800;

impl World {
    pub(super) fn seek_hints(&mut self, n: usize, question: &Question) {
        for record in &question.decisions {
            let hint = self.best_of_parts(record, &question.window);
            let delay = self.solver.below(LONGEST_MS);
            self.input(n, delay, Input::Hinted(hint));
        }
    }

    fn best_of_parts(&mut self, record: &ReservationRecord, window: &WindowPolicy) -> Hint {
        let (mut best, mut most) = (Vec::new(), 0);
        for _ in 0..TRIES {
            let mut input = record.input(window);
            input.bids.retain(|_| self.solver.below(3) > 0);
            let Ok(found) = reservation::clear(&input) else {
                continue;
            };
            if found.total > most {
                most = found.total;
                best = found.awards.into_iter().map(|a| a.placement).collect();
            }
        }
        Hint::new(record, &best)
    }
}
