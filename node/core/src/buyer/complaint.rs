//! Complaints of a buyer whose tasks a seller does not serve (rules of the ledger: `retention`).
//!
//! 1. Every attempt to start a task, and every question after its state, says something of the
//!    offer's units: *served* if the seller knows the run, *not served* if it refuses it, does not
//!    know it any more, or says nothing.
//! 2. After [`TRIES`] of the latter without one of the former the buyer complains of one slot: the
//!    earliest whose earnings are held or that runs, in which nothing was served from its first
//!    quarter on. The running slot must be late enough that nothing is to be expected of it, and
//!    early enough for the complaint to be included.
//! 3. A seller that says nothing, or whose ledger is behind, may be starting again: it has
//!    [`RESTART_MS`].
//!
//! A run that its seller says was lost is no evidence: its inputs may not have been there.

use super::order::OrderAgent;
use super::pace::RESEND_HEIGHTS;
use crate::agent::StartRefusal;
use crate::signer::Signer;
use gridbay_ledger::State;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::{LeaseId, OfferId};
use gridbay_protocol::limits::INCLUSION_HEIGHTS;

/// Tries in a row that were not served before the buyer complains.
pub const TRIES: u32 = 3;
/// Milliseconds for which a seller may say nothing: long enough for a node to be started again.
pub const RESTART_MS: u64 = 10_000;

/// A buyer's knowledge of units that do not serve it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unserved {
    /// Whether anything was ever served there.
    served: bool,
    /// Tries in a row that were not.
    tries: u32,
    /// Height and time of the first of them.
    since: (u64, u64),
    /// Height and time of the last.
    last: (u64, u64),
    /// Whether the last try got no answer that says anything.
    silent: bool,
    /// Slot complained of, and the height at which the complaint was sent.
    sent: Option<(u64, u64)>,
}

/// The result of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Try {
    Served,
    Refused,
    Silent,
}

impl Try {
    /// The result that a refused start means.
    pub(super) fn refused(why: StartRefusal) -> Try {
        match why {
            StartRefusal::NoLease => Try::Silent,
            StartRefusal::NotMine
            | StartRefusal::NoUnit
            | StartRefusal::OtherWork
            | StartRefusal::NotBuyer
            | StartRefusal::Dismissed
            | StartRefusal::Invalid
            | StartRefusal::NoRoom
            | StartRefusal::NoNetwork
            | StartRefusal::NoRelay
            | StartRefusal::NoRuntime => Try::Refused,
        }
    }
}

impl Unserved {
    fn note(&mut self, tried: Try, at: (u64, u64)) {
        if tried == Try::Served {
            (self.served, self.tries) = (true, 0);
            return;
        }
        if self.tries == 0 {
            self.since = at;
        }
        self.tries = self.tries.saturating_add(1);
        (self.last, self.silent) = (at, tried == Try::Silent);
    }
    /// Whether there is enough to complain of.
    fn is_enough(&self) -> bool {
        let patient = self.last.1.saturating_sub(self.since.1) >= RESTART_MS;
        self.tries >= TRIES && (patient || !self.silent)
    }
    /// Whether nothing was served in a slot from its first quarter on, although it was tried.
    fn covers(&self, state: &State, slot: u64) -> bool {
        let calendar = state.calendar();
        let (len, end) = (calendar.slot_heights(), calendar.last_of_slot(slot));
        let begin = end + 1 - len;
        let from = if self.served { begin + len / 4 } else { end };
        self.since.0 <= from && self.last.0 >= begin
    }
    /// The slot to complain of now.
    fn slot(&self, state: &State, lease: &LeaseId, offer: &OfferId) -> Option<u64> {
        let held = state.retained(offer, lease).map(|(slot, _)| slot);
        if let Some(slot) = { held }.find(|slot| self.covers(state, *slot)) {
            return Some(slot);
        }
        let running = state.lease(lease)?;
        let (calendar, height) = (state.calendar(), state.height());
        let len = calendar.slot_heights();
        let late = height + (len / 4).max(INCLUSION_HEIGHTS) >= calendar.last_of_slot(running.slot);
        let long = height >= self.since.0 + len / 4;
        let acknowledged = running.units_of(offer) > 0 && running.has_delivered(offer);
        (acknowledged && late && long && self.covers(state, running.slot)).then_some(running.slot)
    }
}

impl OrderAgent {
    /// Notes the result of a try at units of a lease, at this height and time.
    pub(super) fn note_try(&mut self, lease: LeaseId, offer: OfferId, tried: Try, at: (u64, u64)) {
        self.unserved
            .entry((lease, offer))
            .or_default()
            .note(tried, at);
    }
    /// Whether a complaint may still be due.
    pub(super) fn may_complain(&self) -> bool {
        self.unserved
            .values()
            .any(|unserved| unserved.tries >= TRIES)
    }
    /// Complaints that are due.
    pub(super) fn complain(&mut self, state: &State, signer: &Signer<'_>) -> Vec<SignedEntry> {
        let open = |lease: &LeaseId, offer: &OfferId| {
            let runs = state.lease(lease).is_some_and(|l| l.units_of(offer) > 0);
            runs || state.retained(offer, lease).next().is_some()
        };
        self.unserved.retain(|(lease, offer), _| open(lease, offer));
        let height = state.height();
        let window = u64::from(state.policy().dispute_slots);
        let mut entries = Vec::new();
        for ((lease, offer), unserved) in &mut self.unserved {
            if window == 0 || !unserved.is_enough() {
                continue;
            }
            let Some(slot) = unserved.slot(state, lease, offer) else {
                continue;
            };
            let again = |(of, at)| of == slot && height < at + RESEND_HEIGHTS;
            if unserved.sent.is_some_and(again) {
                continue;
            }
            unserved.sent = Some((slot, height));
            let body = EntryBody::Complain {
                lease: *lease,
                offer: *offer,
                slot,
            };
            tracing::warn!(%lease, %offer, slot, "a seller does not serve the lease: complaining");
            let until = state.calendar().last_of_slot(slot.saturating_add(window));
            entries.push(signer.sign(state, body, until));
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(tries: &[(Try, u64)]) -> Unserved {
        let mut unserved = Unserved::default();
        for (tried, ms) in tries {
            unserved.note(*tried, (ms / 250, *ms));
        }
        unserved
    }

    #[test]
    fn refusals_in_a_row_are_enough_and_silence_takes_as_long_as_a_restart() {
        use Try::{Refused, Served, Silent};
        let cases: [(&[(Try, u64)], bool); 7] = [
            (&[(Refused, 0), (Refused, 100)], false),
            (&[(Refused, 0), (Refused, 100), (Refused, 300)], true),
            (
                &[(Refused, 0), (Refused, 100), (Served, 300), (Refused, 400)],
                false,
            ),
            (&[(Silent, 0), (Silent, 3_000), (Silent, 9_000)], false),
            (&[(Silent, 0), (Silent, 3_000), (Silent, 10_000)], true),
            (&[(Silent, 0), (Silent, 3_000), (Refused, 3_100)], true),
            (
                &[(Served, 0), (Silent, 100), (Silent, 200), (Served, 20_000)],
                false,
            ),
        ];
        for (tries, enough) in cases {
            assert_eq!(tried(tries).is_enough(), enough, "{tries:?}");
        }
        assert_eq!(Try::refused(StartRefusal::NoLease), Silent);
        assert_eq!(Try::refused(StartRefusal::NoUnit), Refused);
    }
}
