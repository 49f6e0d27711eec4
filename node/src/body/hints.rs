//! Better allocations of reservations, from a program beside the node (`crate::solver`).

use super::{Body, Message};
use gridbay_core::hints::Question;
use gridbay_core::input::Input;
use std::sync::Arc;

impl Body {
    /// Looks for them in a task of its own; without a solver nothing happens.
    pub(super) fn seek_hints(&mut self, question: Question) {
        let Some(solver) = self.tools.solver.as_ref().map(Arc::clone) else {
            return;
        };
        let handle = self.handle.clone();
        self.spawn(async move {
            let found = |hint| handle.deliver(Input::Hinted(hint));
            solver.seek(question, found).await;
            handle.pass(Message::Troubles).await;
        });
    }
}
