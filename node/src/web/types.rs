//! Links to the web pages, as JSON.

pub use crate::api::scope::Scope;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `POST /web/links`: a link that opens a session of the web pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkRequest {
    /// What the session may do.
    pub scope: Scope,
}

/// A link that opens one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WebLink {
    /// The address to open in a browser on this machine.
    pub url: String,
    /// What the session may do.
    pub scope: Scope,
    /// Seconds in which the link must be used.
    pub link_seconds: u64,
    /// Seconds that the session lasts.
    pub session_seconds: u64,
}
