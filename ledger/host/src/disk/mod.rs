//! The disk as the host sees it: a few append-only files in one flat directory.
//!
//! All file names are relative and made by this crate. Bytes are safe from a crash only after
//! [`Disk::sync`]; creations, renames and removals only after [`Disk::sync`] of the file concerned
//! (creations) or when the call returns (renames, removals).
//!
//! A failed [`Disk::sync`] may have lost bytes that reading still shows, and a later one that
//! succeeds need not bring them back: the system has given the pages up. So after a failure,
//! opening a file again writes the bytes that may never have been synced once more, with
//! [`Disk::rewrite`], and syncs them.

mod faulty;
mod mem;
mod pages;
mod real;

pub use faulty::{FaultPlan, Operation};
pub use mem::MemDisk;
pub use real::RealDisk;

/// A failed operation on a file.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} {file}")]
pub struct DiskError {
    /// The operation that was tried.
    pub operation: &'static str,
    /// Name of the file.
    pub file: String,
    /// Why it failed.
    #[source]
    pub source: std::io::Error,
}

/// Synchronous access to the node's files.
pub trait Disk: Send {
    /// Names of all files, ascending.
    fn list(&self) -> Result<Vec<String>, DiskError>;
    /// Bytes in a file; 0 if there is none.
    fn len(&self, file: &str) -> Result<u64, DiskError>;
    /// Up to `len` bytes from `offset`; fewer only at the end of the file.
    fn read(&self, file: &str, offset: u64, len: usize) -> Result<Vec<u8>, DiskError>;
    /// Appends bytes, creating the file (readable by its owner alone) if there is none.
    fn append(&mut self, file: &str, bytes: &[u8]) -> Result<(), DiskError>;
    /// Writes bytes of a file in place once more, within its length, so that the next sync covers
    /// them.
    fn rewrite(&mut self, file: &str, offset: u64, bytes: &[u8]) -> Result<(), DiskError>;
    /// Makes all bytes of a file written since the last sync, and its name, safe from a crash.
    fn sync(&mut self, file: &str) -> Result<(), DiskError>;
    /// Gives a file another name, replacing any file of that name; safe from a crash on return.
    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError>;
    /// Cuts a file to `len` bytes.
    fn truncate(&mut self, file: &str, len: u64) -> Result<(), DiskError>;
    /// Removes a file, if there is one.
    fn remove(&mut self, file: &str) -> Result<(), DiskError>;
}
