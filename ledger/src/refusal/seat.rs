//! Why an account may invite nobody now.

use gridbay_protocol::ids::AccountId;

/// A refusal of an invitation's account, by the seats that are left (see `seats`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeatRefusal {
    /// Invitations go no further.
    #[error(
        "account {inviter} may invite nobody: it would be {depth} steps from a founding member"
    )]
    Depth {
        /// Who invites.
        inviter: AccountId,
        /// Depth of the account to be opened.
        depth: u8,
    },
    /// The inviter has as many accounts that it invited, open or closed in this epoch, as it may.
    #[error(
        "account {inviter} has invited {limit} accounts that are open or were closed in this epoch, \
         as many as it may"
    )]
    Quota {
        /// Who invites.
        inviter: AccountId,
        /// The limit.
        limit: u32,
    },
    /// As many accounts of this depth were opened under the sponsor in this epoch as may be.
    #[error(
        "sponsor {sponsor} has {limit} new accounts in this epoch, and no more until height {next}"
    )]
    Epoch {
        /// The sponsor.
        sponsor: AccountId,
        /// The limit.
        limit: u32,
        /// First height of the next epoch.
        next: u64,
    },
}

impl SeatRefusal {
    /// Whether the same entry may be accepted at a later height.
    pub(super) fn may_pass_later(&self) -> bool {
        match self {
            SeatRefusal::Depth { .. } => false,
            SeatRefusal::Quota { .. } | SeatRefusal::Epoch { .. } => true,
        }
    }

    /// Advice to the user.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            SeatRefusal::Depth { .. } => "ask a member for an invitation",
            SeatRefusal::Quota { .. } => {
                "close an account that was invited and wait for the next epoch, or ask another"
            }
            SeatRefusal::Epoch { .. } => "wait for the next epoch, or ask another member",
        }
    }
}
