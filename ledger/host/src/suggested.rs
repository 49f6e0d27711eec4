//! Hints that this node's own solver found, kept until the block that they are for.

use gridbay_ledger::State;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::record::reservation::hint::Hint;
use std::collections::BTreeMap;

/// The newest hint of each class. They are checked when a block is made, against what there is to
/// decide then.
#[derive(Debug, Default)]
pub(crate) struct Suggested {
    by_class: BTreeMap<ClassId, Hint>,
}

impl Suggested {
    /// Keeps a hint instead of an older one for its class, if the class is traded and the hint has
    /// a hint's size.
    pub(crate) fn keep(&mut self, state: &State, hint: Hint) {
        let traded = state
            .classes()
            .iter()
            .any(|class| class.key.id() == hint.class);
        if traded && hint.is_bounded() {
            self.by_class.insert(hint.class, hint);
        }
    }
    /// The hints that the next block may use: none unless it closes a slot.
    pub(crate) fn draft(&self, state: &State) -> Vec<Hint> {
        match state.calendar().closes_slot(state.height() + 1) {
            true => self.by_class.values().cloned().collect(),
            false => Vec::new(),
        }
    }
    /// A block was applied: hints for its boundary are of no use any more.
    pub(crate) fn applied(&mut self, state: &State) {
        if state.calendar().closes_slot(state.height()) {
            self.by_class.clear();
        }
    }
}
