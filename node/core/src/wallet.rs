//! Checks of the owner's entries before they go out: those for a stranger's entry, and whether the
//! account can pay.

use crate::reply::{Refused, RefusedKind};
use gridbay_ledger::{Refusal, State};
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::stage::{Authentic, WellFormed};
use gridbay_protocol::units::Credits;
use std::sync::Arc;

/// Whether the ledger would take an entry in the next block, or soon.
pub(crate) fn would_pass(state: &State, entry: &Arc<Authentic>) -> Result<(), Refused> {
    match state.admit(entry) {
        Ok(_) => Ok(()),
        // A later block might help here too, but the owner wants to know now.
        Err(
            refusal @ (Refusal::Funds { .. }
            | Refusal::NoAccount(_)
            | Refusal::EntryBudget { .. }
            | Refusal::StillOpen { .. }),
        ) => Err(Refused::by_ledger(&refusal)),
        Err(refusal) if refusal.may_pass_later() => Ok(()),
        Err(refusal) => Err(Refused::by_ledger(&refusal)),
    }
}

/// Checks an own entry as if it had come from a stranger.
pub(crate) fn authentic(state: &State, entry: SignedEntry) -> Result<Authentic, Refused> {
    let formed = WellFormed::check(&state.network(), entry).map_err(|error| Refused {
        kind: RefusedKind::Invalid,
        word: error.word(),
        reason: error.to_string(),
        hint: error.hint().to_string(),
    })?;
    formed.authenticate().map_err(|error| Refused {
        kind: RefusedKind::Forbidden,
        word: "signature",
        reason: error.to_string(),
        hint: "the node's key file may be damaged".to_string(),
    })
}

/// The first money to be locked can be spent.
pub(crate) fn check_funds(
    state: &State,
    account: &AccountId,
    needed: Credits,
) -> Result<(), Refused> {
    let available = spendable(state, account);
    if needed > available {
        return Err(Refused {
            kind: RefusedKind::Unfunded,
            word: "funds",
            reason: format!("{available} credits available, {needed} must be locked first"),
            hint: "ask for less, or for a transfer: `gridbay ledger transfer`".to_string(),
        });
    }
    Ok(())
}

/// The money that an account can still pay: its purse and its credit line.
fn spendable(state: &State, account: &AccountId) -> Credits {
    let balance = state.balance(account);
    let line = i64::try_from(balance.credit_line.micros()).unwrap_or(i64::MAX);
    let sum = u64::try_from(balance.free.saturating_add(line)).unwrap_or(0);
    Credits::from_micros(sum).unwrap_or(Credits::MAX)
}
