//! Bounds of the API, each with its unit and reason.

use std::time::Duration;

/// Time for a request's head, from the connection's or the last answer's end on: so it is also how
/// long a connection may be idle. Programs on this machine send a head at once.
pub(super) const HEAD_TIME: Duration = Duration::from_secs(10);
/// Bytes of a request's head, and of what is read ahead.
pub(super) const HEAD_BYTES: usize = 64 * 1024;
/// Time between two pieces of a body. A sender on this machine waits for its own disk at the most.
pub(super) const PIECE_TIME: Duration = Duration::from_secs(10);
/// Time for a whole body, to which one second is added for each [`BODY_PACE`] bytes: nobody drips
/// without end.
pub(super) const BODY_TIME: Duration = Duration::from_secs(30);
/// Bytes of a body that a sender manages in a second.
pub(super) const BODY_PACE: u64 = 64 * 1024;
/// Bytes of a body that is no upload: a job with its lists at their limits, as JSON.
pub(crate) const BODY_BYTES: usize = 1024 * 1024;
/// Bytes of a file that the form of an order brings: what a browser sends in a few minutes over a
/// tunnel. Larger ones come by the command, which tells how far it is.
pub(crate) const FORM_FILE_BYTES: u64 = 64 * 1024 * 1024;
/// Time in which a reader takes at least a byte of an answer: a pager or a slow disk may stop for a
/// while.
pub(super) const READER_TIME: Duration = Duration::from_secs(30);
/// Time that a request waits for its turn: below the patience of clients, so that they hear why.
pub(super) const TURN_TIME: Duration = Duration::from_secs(30);
/// Longest wait for an entry's block; the ledger refuses the entry before that unless it stands
/// still.
pub(crate) const BLOCK_WAIT: Duration = Duration::from_secs(60);
/// Requests of one token in a second, in the long run. A program that follows a hundred jobs by
/// asking for each once a second stays below it.
pub(super) const RATE: u32 = 100;
/// Requests of one token at once, after a pause: a list of some hundred things, each looked at.
pub(super) const BURST: u32 = 400;
/// Streams of changes to web pages at a time, each a page that is open in a browser, and likewise
/// streams of events for programs. They hold connections of their own, and no turns.
pub(crate) const STREAMS: usize = 32;
/// Connections beside those that requests at work and waiting ones can hold: for health checks, and
/// for saying that there is no room.
pub(super) const SPARE: usize = 16;
