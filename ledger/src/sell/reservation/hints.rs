//! Better allocations that came with a block.
//!
//! Hints ascend by class, as decisions do. A class that decides takes the hint for it, or refuses
//! it; a hint that comes out of turn, or for a class that decides nothing, is superfluous.
//! Execution refuses a block unless all its hints were taken; a proposer includes only those that
//! were.

use crate::refusal::BlockRefusal;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::mechanism::reservation::{Input, Outcome};
use gridbay_protocol::record::reservation::hint::{Hint, HintRefusal};
use gridbay_protocol::record::reservation::{Key, Node, ReservationRecord};
use std::collections::VecDeque;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// Not asked for yet.
    given: VecDeque<Hint>,
    taken: Vec<Hint>,
    refused: Option<(ClassId, HintRefusal)>,
}

impl Hints {
    /// The hints of a block or a draft.
    pub(crate) fn of(hints: &[Hint]) -> Hints {
        Hints {
            given: hints.iter().cloned().collect(),
            ..Hints::default()
        }
    }
    /// The hints that were taken, by class.
    pub(crate) fn taken(&self) -> &[Hint] {
        &self.taken
    }
    /// The outcome that a decision takes instead of the rule's.
    pub(super) fn take(
        &mut self,
        record: &ReservationRecord,
        input: &Input<Key, Node>,
        found: &Outcome<Key, Node>,
    ) -> Option<Outcome<Key, Node>> {
        while let Some(passed) = self.next_if(|class| *class < record.class) {
            self.refuse(passed.class, HintRefusal::Superfluous);
        }
        let hint = self.next_if(|class| *class == record.class)?;
        match hint.take(record, input, found) {
            Ok(better) => {
                self.taken.push(hint);
                Some(better)
            }
            Err(refusal) => {
                self.refuse(hint.class, refusal);
                None
            }
        }
    }
    fn next_if(&mut self, wanted: impl Fn(&ClassId) -> bool) -> Option<Hint> {
        let next = self.given.front()?;
        wanted(&next.class).then(|| self.given.pop_front())?
    }
    fn refuse(&mut self, class: ClassId, refusal: HintRefusal) {
        self.refused.get_or_insert((class, refusal));
    }
    /// Whether every hint was taken.
    pub(crate) fn all_taken(&self) -> Result<(), BlockRefusal> {
        let left = self.given.front();
        let left = left.map(|hint| (hint.class, HintRefusal::Superfluous));
        match self.refused.clone().or(left) {
            Some((class, refusal)) => Err(BlockRefusal::Hint { class, refusal }),
            None => Ok(()),
        }
    }
}
