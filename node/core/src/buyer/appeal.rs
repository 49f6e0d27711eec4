//! The deposit of a bid that was sent to be opened and was not: kept receipts, and the appeal made
//! of them.
//!
//! 1. When the opening is sent, its id and its last height are kept on disk with the order.
//! 2. While the bid can be opened, the receipts that the host has collected for it are kept beside.
//! 3. If the ledger has the bid as unopened, those in time go into an appeal, the most powerful
//!    signers first, as many as it takes. Without enough of them there is none, and the deposit is
//!    lost.

use gridbay_ledger::State;
use gridbay_protocol::appeal::{Appeal, latest_tip};
use gridbay_protocol::ids::{EntryId, OrderId};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::order::Open;
use gridbay_protocol::receipt::SignedReceipt;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// An opening that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// Its entry.
    pub entry: EntryId,
    /// Key that signed it.
    pub key: PublicKey,
    /// Its last height.
    pub valid_until: u64,
    /// Receipts of validators, ascending; at most one of each.
    pub receipts: Vec<SignedReceipt>,
}

impl Opening {
    /// The appeal for an order; `None` if it waits for none or the receipts in time do not suffice.
    pub(super) fn appeal(&self, state: &State, order: &OrderId, open: Open) -> Option<Appeal> {
        let round = state.unopened(order)?.round;
        let latest = latest_tip(&state.calendar(), round);
        let set = state.validators();
        let power = |r: &SignedReceipt| set.get(&r.receipt.validator).map_or(0, |v| v.power);
        let in_time = self.receipts.iter().filter(|r| r.receipt.height <= latest);
        let mut in_time: Vec<SignedReceipt> = in_time.copied().collect();
        in_time.sort_by_key(|r| (Reverse(power(r)), r.receipt.validator));
        let enough = |sum: u64| u128::from(sum) * 3 > u128::from(set.total_power());
        let mut sum = 0;
        let needed = in_time.iter().position(|r| {
            sum += power(r);
            enough(sum)
        })?;
        in_time.truncate(needed + 1);
        in_time.sort_by_key(|r| r.receipt.validator);
        Some(Appeal {
            key: self.key,
            valid_until: self.valid_until,
            open,
            receipts: in_time,
        })
    }
}
