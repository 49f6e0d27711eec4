//! Jobs.

mod attempts;
mod files;
pub(crate) mod handle;
mod logs;
pub(crate) mod reason;
pub(crate) mod routes;
mod state;
pub(crate) mod types;
mod why;

use crate::api::{ApiError, ErrorCode};
use types::JobId;

/// Parses the id in a path.
pub(crate) fn job_id(text: String) -> Result<JobId, ApiError> {
    JobId::try_from(text)
        .map_err(|problem| ApiError::new(ErrorCode::Usage, problem, "see gridbay job list --all"))
}
