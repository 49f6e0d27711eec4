//! What a job may take of its node by way of the proxy.

use std::time::Duration;

/// Connections of a job at a time: a browser's worth. Each takes two descriptors of the node.
pub(super) const PER_JOB: usize = 32;
/// Connections of all jobs at a time, within the 1024 descriptors that a process usually has.
pub(super) const PER_NODE: usize = 128;
/// Of these, those that only a job takes which has few: so some jobs alone take them from nobody.
pub(super) const RESERVED: usize = 32;
/// Connections that are few.
pub(super) const FEW: usize = 4;
/// Names of a job that are looked up at a time.
pub(super) const LOOKUPS_PER_JOB: usize = 2;
/// Names of all jobs that are looked up at a time: each takes a thread until the resolver gives up.
pub(super) const LOOKUPS: usize = 16;
/// How long a connection counts at the least: so a job makes no more than [`PER_JOB`] in this time,
/// which is too few to search the internet with.
pub(super) const COUNTS_FOR: Duration = Duration::from_secs(1);
/// Bytes of a request's head.
pub(super) const HEAD: usize = 8 * 1024;
/// Time for a request's head.
pub(super) const HEAD_TIME: Duration = Duration::from_secs(10);
/// Time to find the addresses of a name.
pub(super) const LOOKUP_TIME: Duration = Duration::from_secs(10);
/// Time to connect to an address.
pub(super) const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Addresses of a name that are tried.
pub(super) const TRIES: usize = 4;
/// Time after which a connection ends on which nothing moves.
pub(super) const IDLE: Duration = Duration::from_secs(120);
/// Time to take an answer that refuses.
pub(super) const ANSWER_TIME: Duration = Duration::from_secs(5);
/// Bytes that wait in the node, for each way of a connection.
pub(super) const PIECE: usize = 16 * 1024;
/// Pause after a connection could not be taken, as where the node has no descriptor left.
pub(super) const PAUSE: Duration = Duration::from_secs(1);
