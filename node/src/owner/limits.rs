//! Bounds on what owners, and strangers who would be owners, may send and ask for.

use std::time::Duration;

/// How long a challenge is good.
pub(super) const FRESH: Duration = Duration::from_secs(60);
/// Orders of one owner in that time.
pub(super) const USED: usize = 256;
/// Questions of one peer at once, and then the time until its next one.
pub(super) const BURST: u32 = 20;
/// See [`BURST`].
pub(super) const EACH: Duration = Duration::from_secs(1);
/// How often a question is asked of a node that was asked too often.
pub(super) const AGAIN: u32 = 5;
/// Peers whose questions are counted.
pub(super) const PEERS: usize = 1_024;
/// Questions that wait.
pub(super) const WAITING: usize = 64;
/// Time for one answer of another node.
pub(super) const ANSWER: Duration = Duration::from_secs(15);
/// Movements of money in one answer.
pub(super) const MOVEMENTS: u32 = 200;
/// Lines of the log that are kept, and told in one answer.
pub(crate) const LINES: usize = 500;
/// Lines of the agent's that are told with them.
pub(super) const AGENT_LINES: usize = 64;
/// Characters of such a line.
pub(crate) const LINE_CHARS: usize = 512;
/// Bytes of an update at the most: as many as the owner's node takes as one file.
pub(crate) const UPDATE_BYTES: u64 = crate::store::content::CONTENT_BYTES;
/// How an update begins, whatever its form.
pub(crate) const MAGIC: &[u8] = b"gridbay-update ";
/// How long an appliance may have an update: as long as one of the largest size takes on the
/// slowest line that is not given up, and some cuts.
pub(super) const GRANT: Duration = Duration::from_secs(8 * 3_600);
/// How long the pieces of an update are kept that was never whole.
pub(super) const KEPT: Duration = Duration::from_secs(24 * 3_600);
/// Nodes that one node knows as its owner's.
pub(super) const APPLIANCES: usize = 1_024;
/// Bytes of a file of the owner's: names of nodes, and what a node is told.
pub(super) const FILE_BYTES: u64 = 256 * 1024;
/// Bytes of the status that an agent tells.
pub(super) const STATUS_BYTES: u64 = 512 * 1024;
/// Characters of one text in it.
pub(super) const TEXT_CHARS: usize = 600;
/// Notes in it.
pub(super) const NOTES: usize = 8;

const _: () = assert!((LINES + AGENT_LINES) * LINE_CHARS < gridbay_core::steer::ANSWER_BYTES);
