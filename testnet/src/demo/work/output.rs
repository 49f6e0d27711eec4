//! The output of a job.

/// The output of a rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Output {
    /// Standard output.
    pub(crate) stdout: String,
    /// The file named by [`Work::result_file`](super::Work::result_file).
    pub(crate) file: String,
}
