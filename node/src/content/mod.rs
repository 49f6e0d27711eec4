//! Files that are uploaded before a job.

pub(crate) mod routes;
pub(crate) mod types;
pub(crate) mod uploads;
