//! Jobs.

mod files;
pub(crate) mod reason;
pub(crate) mod routes;
pub(crate) mod types;

use crate::api::{ApiError, ErrorCode};
use types::JobId;

/// Parses the id in a path.
pub(crate) fn job_id(text: String) -> Result<JobId, ApiError> {
    JobId::try_from(text)
        .map_err(|problem| ApiError::new(ErrorCode::Usage, problem, "see gridbay job list --all"))
}
