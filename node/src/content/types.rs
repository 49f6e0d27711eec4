//! Files that are uploaded before a job.

use gridbay_protocol::ids::ContentId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A staged file. `PUT /content`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Staged {
    /// Hash of its content.
    pub content: ContentId,
    /// Bytes.
    pub bytes: u64,
}
