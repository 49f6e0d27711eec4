//! A refusal for good is a promise: the entry never takes effect, whoever it is sent to.
//!
//! The reasons that are for good are judged here by their meaning, not by the ledger's own opinion.

use gridbay_core::Core;
use gridbay_host::Sought;
use gridbay_ledger::Refusal;
use gridbay_protocol::stage::Authentic;
use std::collections::BTreeMap;

/// Entries refused for good, with the reason.
#[derive(Debug, Default)]
pub(super) struct Promises(BTreeMap<Sought, String>);

impl Promises {
    /// Notes what a ledger said of an entry that nobody has sent before.
    pub(super) fn note(&mut self, entry: &Authentic, refusal: &Refusal) {
        if is_for_good(refusal) {
            self.0.insert(entry.into(), refusal.to_string());
        }
    }
    /// Whether a node's chain has none of these entries.
    pub(super) fn are_kept(&self, core: &Core) -> Result<(), String> {
        for (entry, refusal) in &self.0 {
            if let Some(height) = core.host().entry_height(*entry) {
                let id = entry.id;
                return Err(format!(
                    "entry {id} was refused for good ({refusal}) and took effect at height {height}"
                ));
            }
        }
        Ok(())
    }
}

/// Whether no later height can change the refusal. An entry that took effect is refused as used as
/// well, which does not count.
fn is_for_good(refusal: &Refusal) -> bool {
    match refusal {
        // Heights only grow.
        Refusal::Expired { .. } => true,
        Refusal::Grant {
            valid_until,
            height,
        } => valid_until < height,
        Refusal::Standing { stands_until } => *stands_until <= 1,
        Refusal::OpeningTime { early, .. } => !early,
        // The contents of the entry do not change, nor does the constitution.
        Refusal::Overflow
        | Refusal::NotMember(_)
        | Refusal::NoValidator(_)
        | Refusal::NoClass(_)
        | Refusal::Seal(_)
        | Refusal::Budget { .. }
        | Refusal::FirmSlots { .. }
        | Refusal::Surcharge(_)
        | Refusal::PoolWeights { .. } => true,
        // An opened bid is never sealed again, an exiting order never stays, and a token stays
        // used.
        Refusal::NotSealed(_) | Refusal::Exiting(_) | Refusal::TokenUsed { .. } => true,
        // An appeal brings what it has.
        Refusal::OpeningLapsed { .. }
        | Refusal::ReceiptLate { .. }
        | Refusal::Receipts(_)
        | Refusal::ReceiptPower { .. } => true,
        _ => false,
    }
}
