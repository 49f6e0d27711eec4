//! Seats bound the invitations of a founding member, which answers for all accounts that come of
//! them.

use serde::{Deserialize, Serialize};

/// How far invitations go. How many accounts of each depth may be open under one member is
/// [`crate::genesis::Policy::accounts_per_member`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InvitationPolicy {
    /// Steps from a founding member to the last account that its invitations lead to, 1 to
    /// [`DEPTH`]: with 1 only members invite, with 2 those whom they invited do as well.
    pub depth: u8,
    /// Accounts of each depth that may be opened under one member in one epoch.
    pub per_epoch: u32,
    /// Accounts that one invited account has invited, with money or without, and that are open, at
    /// the most.
    pub per_user: u32,
}

/// The deepest that invitations may go.
pub const DEPTH: u8 = 8;

impl InvitationPolicy {
    /// Whether all values are in range.
    pub fn is_valid(&self) -> bool {
        (1..=DEPTH).contains(&self.depth)
    }
}

impl Default for InvitationPolicy {
    /// Invited users may invite 8 others, who may not; a member takes in 500 of each kind in an
    /// epoch.
    fn default() -> InvitationPolicy {
        InvitationPolicy {
            depth: 2,
            per_epoch: 500,
            per_user: 8,
        }
    }
}
