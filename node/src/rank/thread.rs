//! Threads of a rank.

use std::io;
use std::thread::{Builder, JoinHandle};

/// Stack of a thread: they are many, and a job's address space is bounded.
const STACK: usize = 256 * 1024;

/// Starts a thread, unless there may be no more of them.
pub(super) fn start<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().stack_size(STACK).spawn(work)
}
