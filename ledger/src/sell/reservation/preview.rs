//! The input of the next boundary's decision, for solvers that look for a better allocation
//! meanwhile.

use super::asked;
use crate::state::State;
use crate::work::Work;
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::record::reservation::ReservationRecord;

impl State {
    /// The decisions on reservations at the boundary of the next height's slot, as things stand, by
    /// class and without winners. Reservations may still be opened and units set or withdrawn; ties
    /// of reservations that were not decided on before are not broken yet. None of that makes an
    /// allocation of what stands infeasible, unless units go.
    pub fn reservations_to_come(&self) -> Vec<ReservationRecord> {
        let mut work = Work::begin(self, self.time_ms(), &[0; 32]);
        let calendar = work.calendar();
        work.chain.height = calendar.last_of_slot(calendar.slot(work.height()));
        // Ties that are not broken yet look alike at every height.
        work.chain.beacon = Hash32::default();
        let classes = work.constitution.classes.iter();
        classes
            .filter_map(|class| asked(&mut work.book(), class))
            .collect()
    }
}
