//! Better allocations of reservations, looked for outside of the core.
//!
//! 1. After a block, the decisions of the boundary ahead are previewed as things stand. If they
//!    differ from those last asked about, the body is asked for better allocations than the rule
//!    finds ([`crate::effect::Effect::SeekHints`]).
//! 2. Its findings come back as [`crate::input::Input::Hinted`] and go to the host, which checks
//!    them when a block of this node decides.
//!
//! Only a validator asks, as only it proposes.

use gridbay_ledger::State;
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::mechanism::reservation::window::WindowPolicy;
use gridbay_protocol::record::reservation::ReservationRecord;

/// Decisions for which better allocations are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The decisions, without winners.
    pub decisions: Vec<ReservationRecord>,
    /// The genesis' window policy.
    pub window: WindowPolicy,
    /// Milliseconds until they are made, roughly.
    pub within_ms: u64,
}

/// The decisions last asked about.
#[derive(Debug, Default)]
pub(crate) struct Seeker {
    asked: Vec<ReservationRecord>,
}

impl Seeker {
    /// The question after a block, if there is a new one.
    pub(crate) fn after_block(&mut self, state: &State, node: &PublicKey) -> Option<Question> {
        let mut members = state.validators().members().iter();
        members.find(|member| member.node == *node)?;
        let coming = state.reservations_to_come();
        if coming == self.asked {
            return None;
        }
        self.asked = coming.clone();
        let boundary = coming.first()?.height;
        let heights = boundary.saturating_sub(state.height());
        Some(Question {
            decisions: coming,
            window: state.policy().reservation,
            within_ms: heights.saturating_mul(state.policy().block_interval_ms),
        })
    }
}
