//! Counts of the accounts that a founding member answers for, and of those that an account invited.

use super::Account;
use serde::{Deserialize, Serialize};

/// The accounts of one depth under a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seats {
    /// Open now.
    pub open: u32,
    /// The epoch in which the last one was opened.
    pub epoch: u64,
    /// Opened in that epoch.
    pub opened: u32,
}

/// Accounts that an inviter's guests closed in an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    /// The epoch.
    pub epoch: u64,
    /// How many in it.
    pub accounts: u32,
}

impl Closed {
    pub(crate) fn in_epoch(&self, epoch: u64) -> u32 {
        if self.epoch == epoch {
            self.accounts
        } else {
            0
        }
    }
}

impl Seats {
    pub(crate) fn opened_in(&self, epoch: u64) -> u32 {
        if self.epoch == epoch { self.opened } else { 0 }
    }
}

impl Account {
    /// The accounts of a depth that it answers for; 1 are those that it invited.
    pub fn seats(&self, depth: u8) -> Seats {
        let at = usize::from(depth).checked_sub(1);
        let seats = at.and_then(|at| self.seats.get(at));
        seats.copied().unwrap_or_default()
    }
    pub(crate) fn seats_mut(&mut self, depth: u8) -> &mut Seats {
        let at = usize::from(depth).saturating_sub(1);
        if self.seats.len() <= at {
            self.seats.resize(at + 1, Seats::default());
        }
        &mut self.seats[at]
    }
}
