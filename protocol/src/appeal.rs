//! Appeals: an opening that validators acknowledged, and that is in no block all the same.
//!
//! An [`Appeal`] names the opening by everything that its entry's id covers, so that the ledger can
//! compute the id that the receipts must name. The opening's signature is not needed: an honest
//! validator gives receipts only for entries whose signatures it has checked, and an appeal needs
//! receipts of more than honest minorities can lack.

use crate::calendar::Calendar;
use crate::codec;
use crate::entry::{Entry, EntryBody, entry_id};
use crate::ids::{AccountId, EntryId, NetworkId};
use crate::keys::PublicKey;
use crate::limits::INCLUSION_HEIGHTS;
use crate::order::Open;
use crate::receipt::{self, SignedReceipt};
use serde::{Deserialize, Serialize};

/// Asks for the deposit of a bid that was sent to be opened in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Appeal {
    /// Key that signed the opening.
    pub key: PublicKey,
    /// Last height of the opening.
    pub valid_until: u64,
    /// The opening.
    pub open: Open,
    /// Receipts of the opening's entry, ascending by validator.
    pub receipts: Vec<SignedReceipt>,
}

/// Height of the last block in which a bid committed in a round can be opened.
pub fn last_opening(calendar: &Calendar, committed: u64) -> u64 {
    let next = committed.saturating_add(1);
    calendar.last_of_round(next).saturating_sub(1)
}

/// Latest tip at which the opening of a bid committed in a round must have been acknowledged to
/// count as in time: [`INCLUSION_HEIGHTS`] below the last block that could open it, which thereby
/// is one that no honest validator accepts without it in the first rounds of consensus. If the
/// round is too short for that: the tip before the first such block, so that all of them passed the
/// opening by.
pub fn latest_tip(calendar: &Calendar, committed: u64) -> u64 {
    let in_time = last_opening(calendar, committed).saturating_sub(INCLUSION_HEIGHTS);
    in_time.max(calendar.last_of_round(committed))
}

impl Appeal {
    /// Id of the opening's entry, if `account` sent it.
    pub fn opening(&self, network: &NetworkId, account: &AccountId) -> EntryId {
        let entry = Entry {
            network: *network,
            account: *account,
            key: self.key,
            valid_until: self.valid_until,
            body: EntryBody::Open(self.open.clone()),
        };
        entry_id(&codec::encode(&entry))
    }
    /// Whether all values are in range and the receipts name one entry, in order.
    pub fn is_valid(&self) -> bool {
        self.open.wish.check().is_ok() && receipt::are_in_order(&self.receipts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_tip_leaves_time_or_all_blocks() {
        let of = |round_heights| {
            let calendar = Calendar {
                round_heights,
                slot_rounds: 1,
            };
            (last_opening(&calendar, 2), latest_tip(&calendar, 2))
        };
        // Committed in heights 5 and 6, 7 and 8 are the next round: 7 alone can open.
        assert_eq!(of(2), (7, 6));
        assert_eq!(of(3), (11, 9));
        assert_eq!(of(4), (15, 12));
        assert_eq!(of(5), (19, 16));
        assert_eq!(of(100), (399, 396));
    }
}
