//! Tokens as JSON.

use crate::api::scope::Scope;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `POST /tokens`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRequest {
    /// Name for people.
    #[schema(
        min_length = 1,
        max_length = 64,
        pattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$"
    )]
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// Seconds until it ends; never if `None`.
    #[schema(minimum = 1)]
    pub valid_seconds: Option<u32>,
}

/// `GET /tokens`: a token, without what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenRecord {
    /// Name for people.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// When it was made.
    pub made_ms: u64,
    /// When it ends; never if `None`.
    pub ends_ms: Option<u64>,
    /// Whether it counts now.
    pub counts: bool,
}

/// A new token. It is shown this once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewToken {
    /// What requests carry behind `Authorization: Bearer`.
    pub token: String,
    /// The rest about it.
    pub record: TokenRecord,
}
