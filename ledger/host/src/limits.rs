//! Bounds of the host's own resources, with unit and reason. Bounds that all nodes share are in
//! [`gridbay_protocol::limits`].

use gridbay_protocol::limits::{
    BLOCK_BYTES, BLOCK_ENTRIES, ENTRY_BYTES, EPOCH_HEIGHTS, VALIDATORS,
};

/// Bytes of a vote, a request, a status or a certificate message: 128 votes of about 230 bytes
/// (two of every validator in the proof of a round) fit.
pub const SMALL_MESSAGE_BYTES: usize = 32 * 1024;
/// Bytes of a message that carries a body beside a proposal or a certificate.
pub const BODY_MESSAGE_BYTES: usize = BLOCK_BYTES + SMALL_MESSAGE_BYTES;
/// Bytes of a proposal with its body, which may name all entries by ids of 34 bytes beside those
/// that go along.
pub const PROPOSAL_MESSAGE_BYTES: usize = BODY_MESSAGE_BYTES + BLOCK_ENTRIES * 34 + 64;
/// Bytes of blocks that one sync response aims at; a single larger block is sent alone.
pub const SYNC_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of a sync response.
pub const SYNC_MESSAGE_BYTES: usize = SYNC_BYTES + BODY_MESSAGE_BYTES;
/// Blocks in one sync response.
pub const SYNC_BLOCKS: usize = 128;
/// Entries in one batch.
pub const BATCH_ENTRIES: usize = 128;
/// Bytes of a batch of entries.
pub const BATCH_BYTES: usize = BATCH_ENTRIES * (ENTRY_BYTES + 512);
/// Bytes of the entries in a message of a node that does not vote, where one entry is not longer:
/// a frame of so many needs no place of those that the overlay keeps for large ones, and which
/// anybody can take for a while.
pub const MEMBERS_BATCH_BYTES: usize = 15 * 1024;
/// Messages for one of the next two heights that one validator signed and that wait until it
/// starts: its two votes and a proposal in each of some twenty rounds.
pub const EARLY_PER_SIGNER: usize = 64;
/// Certificates for one of these heights that one validator's node brought: the latest round needs
/// no more.
pub const EARLY_PROOFS: usize = 4;
/// All messages that wait for the next two heights.
pub const EARLY_MESSAGES: usize = 2 * (EARLY_PER_SIGNER + EARLY_PROOFS) * VALIDATORS;
/// Bodies held for one height: two proposals in each of the rounds that consensus looks ahead.
pub const BODIES: usize = 24;
/// Bytes of the bodies held for one height.
pub const BODIES_BYTES: usize = 8 * BLOCK_BYTES;
/// Distinct proposals followed in one round: two prove equivocation, more prove nothing further.
pub const PROPOSALS_PER_ROUND: usize = 2;
/// Rounds ahead of the current one from which proposals are taken; the consensus core's own bound.
pub const ROUNDS_AHEAD: u32 = 10;
/// Rounds ahead of the running one whose blocks are taken and executed: others may have begun the
/// next one a moment before.
pub const BODIES_AHEAD: u32 = 1;
/// Peers whose tips are remembered.
pub const PEERS: usize = 1_024;
/// Entries in the mempool.
pub const MEMPOOL_ENTRIES: usize = 20_000;
/// Bytes of the entries in the mempool.
pub const MEMPOOL_BYTES: usize = 32 * 1024 * 1024;
/// Entries of one account in the mempool.
pub const MEMPOOL_PER_ACCOUNT: usize = 512;
/// Entries in the mempool that open accounts by one and the same invitation: one of them can take
/// effect.
pub const MEMPOOL_PER_TOKEN: usize = 4;
/// Heights by which the last height of an entry may lie beyond the ledger's window: a peer's book
/// may be ahead of ours.
pub const MEMPOOL_AHEAD: u64 = 8;
/// Entries of one account in the mempool that are not ready: a user sends some ahead of a block.
pub const MEMPOOL_WAITING_PER_ACCOUNT: usize = 32;
/// Entries that only a validator sent, and that a validator sends to all after a block left them
/// out, at each height. All validators do it, though it helps only where one of them kept an entry
/// from others: as many as one account can have. An entry that is not told yet is not insisted on.
pub const TOLD_AGAIN_ENTRIES: usize = MEMPOOL_PER_ACCOUNT;
/// Missing entries that a validator sends along with its votes against blocks without them, at each
/// height: as many as one account can have.
pub const MISSING_TOLD: usize = MEMPOOL_PER_ACCOUNT;
/// Entries of senders that the ledger does not know, beside the mempool: a few blocks' worth of
/// newcomers.
pub const MEMPOOL_STRANGERS: usize = 256;
/// Checks of entries that a peer, no validator's node, may cause at once without bringing any ready
/// entry into the mempool: twice what an account may have there, all of which a node may send again
/// that was away.
pub const IDLE_CHECKS: u64 = 2 * MEMPOOL_PER_ACCOUNT as u64;
/// Such checks that it may cause in a second from then on: 192 strangers cost a sixth of a core.
pub const IDLE_CHECKS_PER_SECOND: u64 = 16;
/// Entries that a validator has promised to include and that are in no block yet: two full blocks.
pub const PROMISES: usize = 2 * BLOCK_ENTRIES;
/// Bytes of these entries, which move along when the journal is started afresh: they fit one
/// record.
pub const PROMISES_BYTES: usize = 2 * 1024 * 1024;
/// The part of these promises, of their number and of their bytes, that the accounts of one member
/// may have: one in so many.
pub const PROMISES_PARTS: usize = 4;
/// Promises that one account may have, besides those of its openings and appeals: one user is not
/// to take all of its house.
pub const PROMISES_PER_ACCOUNT: usize = 64;
/// Receipts in one message.
pub const BATCH_RECEIPTS: usize = 128;
/// Peers whom a validator sends its receipt of one entry: so many validators, and so many others.
pub const RECEIPT_PEERS: usize = 4;
/// Own entries whose receipts are kept.
pub const RECEIPTS: usize = 2_048;
/// Heights for which receipts are kept after the last height of their entry: the longest round, and
/// the time for an appeal after it.
pub const RECEIPT_HEIGHTS: u64 = 256;
/// Evidence waiting for a block of ours.
pub const EVIDENCE: usize = 64;
/// Bytes after which the journal is started afresh at the next height, and by which it grows within
/// a height before the bodies are cut that the node has let go. So it stays below the bodies held,
/// twice this, and the votes and proposals of the height.
pub const JOURNAL_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes of one record on disk.
pub const RECORD_BYTES: usize = BLOCK_BYTES + SMALL_MESSAGE_BYTES;
/// Blocks after which a state is written down at the latest: with few entries they are executed
/// again in well under a second, even where each carries a certificate of 64 validators.
pub const SNAPSHOT_BLOCKS: u64 = 512;
/// Bytes of blocks after which a state is written down: about 6,500 transfers, which are checked
/// and executed again in about half a second.
pub const SNAPSHOT_AFTER_BYTES: u64 = 2 * 1024 * 1024;
/// Bytes of a state that is written down; a larger one means starts from the genesis.
pub const SNAPSHOT_BYTES: usize = 1024 * 1024 * 1024;
/// Rows that one query of an account's history returns.
pub const HISTORY_ROWS: usize = 1_000;

/// Reveals left in a beacon chain at which its successor is registered (or three quarters of a
/// short chain): even if every block is ours, that leaves a registration two thousand blocks to be
/// included in, and the two epochs until it counts.
pub const BEACON_RESERVE: u32 = 2_000 + 2 * EPOCH_HEIGHTS as u32;
/// Generations of beacon chains among which a host that opens looks for its tip: with a turn a
/// second two years, with a block a second and four validators eight; a search through all takes
/// half a minute.
pub const BEACON_GENERATIONS: u32 = 64;

/// Entries from which on a proposer leaves those out of a body that others have. A shorter body is
/// sent in a few packets, and no other message has to come for it to be whole.
pub const SHORT_ENTRIES: usize = 16;

/// Milliseconds to wait for a body that its proposer pushes before asking others for it.
pub const BODY_WAIT_MS: u64 = 60;
/// Milliseconds between two requests for one body.
pub const BODY_RETRY_MS: u64 = 250;
/// Milliseconds without progress after which a validator one height behind fetches that height.
pub const ONE_BEHIND_MS: u64 = 300;
/// Least milliseconds between two answers with blocks to one peer.
pub const SERVE_REST_MS: u64 = 5;
/// Bytes of blocks per millisecond that one peer is sent: a full answer in about 100 ms.
pub const SERVE_PEER_BYTES_PER_MS: u64 = 20 * 1024;
/// Bytes of blocks per millisecond that all peers that are no validators' nodes are sent together;
/// the bytes that they do not confirm within 30 s stay below 1 GiB.
pub const SERVE_STRANGERS_BYTES_PER_MS: u64 = 32 * 1024;
/// Milliseconds between two answers with one body to one validator, so that asking twice is of no
/// use.
pub const BODY_REST_MS: u64 = BODY_RETRY_MS / 2;
/// Milliseconds to wait for a sync response before another peer is asked.
pub const SYNC_RETRY_MS: u64 = 1_000;
/// Peers told of a new block besides validators' nodes: each hears of it from six on average, and
/// about one in four hundred from nobody, which the next block or statement mends. With four, in a
/// network of a hundred at rest, some hear of a block with the next one, and an advert that needs
/// it waits for them.
pub const TOLD: usize = 6;
/// While nothing is decided, every so many statements somebody is told besides validators' nodes.
pub const TOLD_AGAIN: u64 = 3;
/// Milliseconds between two statements of our tip while nothing is decided.
pub const STATUS_MS: u64 = 2_000;
/// Milliseconds between two repetitions of our votes while a round lasts.
pub const REBROADCAST_MS: u64 = 1_000;
/// Milliseconds that consensus waits in the two voting steps, and their growth per round.
pub const VOTE_TIMEOUT_MS: u64 = 250;
/// Longest timeout of a step.
pub const LONGEST_TIMEOUT_MS: u64 = 30_000;
/// Milliseconds by which the time of a live block may lie before our clock: one that waited for a
/// proposer's turns and a few rounds is not older.
pub const CLOCK_BLOCK_OLD_MS: u64 = 30_000;
/// Live blocks in a row that the clock has to miss before it counts as wrong: a block that waited
/// for the end of a partition, or the lie of one proposer, is one.
pub const CLOCK_BLOCKS: u32 = 3;

// With two bytes of framing for each, and the mark around them.
const _: () = assert!(PROMISES_BYTES + PROMISES * 64 + 1024 <= RECORD_BYTES);
const _: () = assert!((PROMISES_BYTES as u64) < JOURNAL_BYTES / 2);
const _: () = assert!(BATCH_BYTES <= SYNC_MESSAGE_BYTES);
const _: () = assert!(BODIES_BYTES >= 2 * BLOCK_BYTES);
const _: () = assert!(SYNC_BYTES as u64 / SERVE_PEER_BYTES_PER_MS < SYNC_RETRY_MS / 2);
