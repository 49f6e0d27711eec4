//! How many entries, and how many bytes of them, one account may put into the ledger in an epoch
//! ([`EPOCH_HEIGHTS`]). Entries cost nothing else and are kept for ever, so this bounds an
//! account's share of everybody's disk and of the blocks.

use crate::entry::EntryBody;
use crate::limits::{self, EPOCH_HEIGHTS};
use serde::{Deserialize, Serialize};

/// The budget of one account for entries in one epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryBudget {
    /// Entries, at least 64 and at most what all blocks of an epoch hold.
    pub entries: u32,
    /// Bytes of them, [`limits::ENTRY_BYTES`] at least.
    pub bytes: u64,
}

/// The federation's choice: `gridbay found --member-entries` and `--user-entries`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryBudgets {
    /// Of a founding member's account.
    pub member: EntryBudget,
    /// Of any other account.
    pub user: EntryBudget,
}

impl EntryBudget {
    /// So many entries a height, of 512 bytes each.
    pub fn a_height(entries: u32) -> EntryBudget {
        EntryBudget {
            entries: entries.saturating_mul(EPOCH_HEIGHTS as u32),
            bytes: u64::from(entries) * EPOCH_HEIGHTS * 512,
        }
    }
    fn is_valid(&self) -> bool {
        let most = EPOCH_HEIGHTS * limits::BLOCK_ENTRIES as u64;
        (64..=most).contains(&u64::from(self.entries))
            && (limits::ENTRY_BYTES as u64..=EPOCH_HEIGHTS * limits::BLOCK_BYTES as u64)
                .contains(&self.bytes)
    }
}

impl EntryBudgets {
    /// Whether all values are in range.
    pub fn is_valid(&self) -> bool {
        self.member.is_valid() && self.user.is_valid()
    }
}

impl Default for EntryBudgets {
    /// Four entries a height for users and 64 for members, of 512 bytes each: at four blocks a
    /// second 16 and 256 entries a second all the time, or all of an epoch's in one burst. A member
    /// is an institution that pays thousands of jobs.
    fn default() -> EntryBudgets {
        EntryBudgets {
            member: EntryBudget::a_height(64),
            user: EntryBudget::a_height(4),
        }
    }
}

/// Whether an entry is taken whatever the account has spent: it answers for what the ledger holds
/// already (a seal, a lease, an order, an unopened bid), at most once for each, acknowledgements
/// again after a slot without a sign of life, and signs of life once a slot for each node that
/// serves a lease, and to be kept from it would cost the account or others money. It counts, so
/// less is left for others.
pub fn is_owed(body: &EntryBody) -> bool {
    matches!(
        body,
        EntryBody::Open(_)
            | EntryBody::Deliver { .. }
            | EntryBody::Fail { .. }
            | EntryBody::Cancel { .. }
            | EntryBody::Appeal(_)
            | EntryBody::Heartbeat { .. }
            | EntryBody::Complain { .. }
    )
}

/// Entries beyond the budget that only replace keys, counted by themselves: a thief of a lesser key
/// that spent the budget with it, and what is owed beside it, does not keep the owner from taking
/// it away.
pub const KEY_RESERVE: u32 = 8;
