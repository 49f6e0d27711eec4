//! Why an account may invite nobody now.

use gridbay_protocol::ids::AccountId;

refusals! {
    /// A refusal of an invitation's account, by the seats that are left (see `seats`).
    [Clone] SeatRefusal, SEAT_WORDS;

    /// Invitations go no further.
    Depth {
        inviter: AccountId,
        /// Depth of the account to be opened.
        depth: u8,
    } = "invitation_depth", never:
        "account {inviter} may invite nobody: it would be {depth} steps from a founding member",
        "ask a member for an invitation";
    /// The inviter has as many accounts that it invited, open or closed in this epoch, as it may.
    Quota { inviter: AccountId, limit: u32 } = "invitation_quota", later:
        "account {inviter} has invited {limit} accounts that are open or were closed in this epoch, \
         as many as it may",
        "close an account that was invited and wait for the next epoch, or ask another";
    /// As many accounts of this depth were opened under the sponsor in this epoch as may be.
    Epoch { sponsor: AccountId, limit: u32, next: u64 } = "invitation_epoch", later:
        "sponsor {sponsor} has {limit} new accounts in this epoch, and no more until height {next}",
        "wait for the next epoch, or ask another member";
}
