//! What comes back from a job.

/// What a rank left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Output {
    /// Standard output.
    pub(crate) stdout: String,
    /// The file named by [`Work::result_file`](super::Work::result_file).
    pub(crate) file: String,
}
