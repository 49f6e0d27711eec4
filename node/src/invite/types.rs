//! Invitations.

use crate::api::types::amount;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `POST /invitations`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InviteRequest {
    /// Moved to the new account.
    #[serde(with = "amount")]
    pub endowment: Credits,
    /// Seconds for which it can be used.
    #[schema(minimum = 1)]
    pub valid_seconds: u64,
}

/// An invitation. Secret: every holder of the token can open the account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Invite {
    /// Text form of the invitation.
    pub token: String,
    /// Who invites.
    pub inviter: AccountId,
    /// Moved to the new account.
    #[serde(with = "amount")]
    pub endowment: Credits,
    /// Last height at which it can be used.
    pub valid_until: u64,
}
