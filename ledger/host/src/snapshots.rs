//! Snapshots: the state after some blocks, so that a restart need not execute them again.
//!
//! A snapshot is a file of records named after its height: a head (format, network, height, block,
//! roots, size), then the bytes of the state in pieces. It is derived from the block file and never
//! trusted beyond it:
//!
//! 1. It is written under another name, synced, renamed, the directory synced; then all but the two
//!    newest are removed. A snapshot that has its name is therefore whole, unless it was damaged
//!    later.
//! 2. A start uses the newest good snapshot. Its checksums, format and network must be right, the
//!    block file must reach its height and hold its block, and its records must give the state root
//!    in that block's header. Any other is passed over with a warning; without a good one, blocks
//!    are executed from the genesis on.
//! 3. The next is due [`limits::SNAPSHOT_BLOCKS`] blocks or [`limits::SNAPSHOT_AFTER_BYTES`] of
//!    blocks later, whichever comes first. Blocks of at least a quarter of its own size must have
//!    come, so that large states do not spend the disk's time on snapshots.
//!
//! A state holds the right edge of the log of blocks only (62 hashes), not all its leaves:
//! execution needs no more, and a proof that reaches back is made from the block file on request.
//! So the size of a snapshot follows the live records, not the length of the chain.

use crate::blocks::BlockFile;
use crate::disk::Disk;
use crate::fault::Fault;
use crate::limits;
use crate::record::{self, RecordFile, Scanned};
use gridbay_ledger::State;
use gridbay_protocol::block::Header;
use gridbay_protocol::codec;
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::ids::{BlockId, Hash32, NetworkId};
use serde::{Deserialize, Serialize};

/// Version of the form of these files.
const FORMAT: u32 = 1;
/// Prefix of a snapshot's name; its height follows in 20 digits.
const PREFIX: &str = "snapshot-";
/// The name while it is being written.
const UNFINISHED: &str = "snapshot.new";
/// Snapshots kept: should the newest be damaged, the one before it serves.
const KEPT: usize = 2;
/// Bytes of the state in one record.
const PIECE: usize = 1 << 20;

/// The first record of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    format: u32,
    network: NetworkId,
    height: u64,
    block: BlockId,
    state_root: Hash32,
    log_root: Hash32,
    bytes: u64,
}

impl Head {
    fn of(state: &State, bytes: u64) -> Head {
        Head {
            format: FORMAT,
            network: state.network(),
            height: state.height(),
            block: state.tip(),
            state_root: state.root(),
            log_root: state.log_root(),
            bytes,
        }
    }
}

/// When the next snapshot is due.
#[derive(Debug)]
pub(crate) struct Snapshots {
    /// Blocks between two.
    every: u64,
    /// Height of the last one; 0 if there is none.
    height: u64,
    /// End of its block in the block file.
    position: u64,
    /// Bytes of its state.
    bytes: u64,
}

fn name_of(height: u64) -> String {
    format!("{PREFIX}{height:020}")
}

/// Heights of the snapshots on a disk, newest first.
fn heights(disk: &dyn Disk) -> Result<Vec<u64>, Fault> {
    let names = disk.list()?;
    let heights = names.iter().filter_map(|name| {
        let height = name.strip_prefix(PREFIX)?.parse().ok()?;
        (name_of(height) == *name).then_some(height)
    });
    let mut heights: Vec<u64> = heights.collect();
    heights.sort_unstable();
    heights.reverse();
    Ok(heights)
}

/// Head and bytes of a snapshot, or why there are none.
fn read(disk: &dyn Disk, height: u64) -> Result<(Head, Vec<u8>), String> {
    let (mut head, mut bytes) = (None, Vec::new());
    let scanned = record::scan(disk, &name_of(height), |_, payload| {
        if head.is_none() {
            let decoded: Result<Head, _> = codec::decode(payload, limits::RECORD_BYTES);
            head = Some(decoded);
        } else {
            bytes.extend_from_slice(payload);
        }
        Ok(())
    });
    let Scanned { good, end, .. } = scanned.map_err(|fault| fault.to_string())?;
    if good < end {
        return Err(format!("it is damaged at byte {good}"));
    }
    match head {
        Some(Ok(head)) if head.bytes == bytes.len() as u64 => Ok((head, bytes)),
        Some(Ok(_)) => Err("it is not whole".into()),
        Some(Err(error)) => Err(format!("its head is unreadable: {error}")),
        None => Err("it is empty".into()),
    }
}

/// The state of a snapshot and its bytes, if it belongs to the block file; otherwise why not.
fn load(
    disk: &dyn Disk,
    genesis: &Genesis,
    height: u64,
    header: &Header,
) -> Result<(State, u64), String> {
    let (head, bytes) = read(disk, height)?;
    if head.format != FORMAT {
        return Err(format!("it has format {}", head.format));
    }
    if head.network != genesis.network() {
        return Err(format!("it is of network {}", head.network));
    }
    if (head.height, head.block) != (height, header.id()) {
        return Err(format!("it is of another block, {}", head.block));
    }
    let state = State::restore(genesis, &bytes, limits::SNAPSHOT_BYTES);
    let state = state.map_err(|error| error.to_string())?;
    let right = Head::of(&state, head.bytes) == head && state.root() == header.state_root;
    if !right {
        return Err("its state is not the block's".into());
    }
    Ok((state, head.bytes))
}

impl Snapshots {
    /// Brings `state`, the genesis', to the newest good snapshot not above height `limit`.
    pub(crate) fn open(
        disk: &mut dyn Disk,
        genesis: &Genesis,
        blocks: &BlockFile,
        limit: u64,
        state: &mut State,
    ) -> Result<Snapshots, Fault> {
        disk.remove(UNFINISHED)?;
        let mut snapshots = Snapshots {
            every: limits::SNAPSHOT_BLOCKS,
            height: 0,
            position: 0,
            bytes: 0,
        };
        for height in heights(disk)? {
            if height > limit && height <= blocks.tip() {
                continue;
            }
            let loaded = match blocks.read(disk, height)? {
                Some(decided) => load(disk, genesis, height, &decided.block.header),
                None => Err("the block file does not reach it".into()),
            };
            match loaded {
                Ok((restored, bytes)) => {
                    tracing::info!(height, bytes, "restored a snapshot");
                    *state = restored;
                    snapshots.note(blocks, height, bytes);
                    break;
                }
                Err(reason) => tracing::warn!(height, reason, "passed over a snapshot"),
            }
        }
        Ok(snapshots)
    }
    fn note(&mut self, blocks: &BlockFile, height: u64, bytes: u64) {
        self.height = height;
        self.position = blocks.end(height);
        self.bytes = bytes;
    }
    /// Changes how many blocks at most lie between two snapshots.
    pub(crate) fn set_every(&mut self, blocks: u64) {
        self.every = blocks.max(1);
    }
    /// Whether a snapshot of the block file's tip should be written.
    pub(crate) fn is_due(&self, blocks: &BlockFile) -> bool {
        let new = blocks.tip().saturating_sub(self.height);
        let grown = blocks.len().saturating_sub(self.position);
        let enough = limits::SNAPSHOT_AFTER_BYTES.max(self.bytes / 4);
        new > 0 && (grown >= enough || (new >= self.every && grown >= self.bytes / 4))
    }
    /// Writes a snapshot of a state whose block is safe.
    pub(crate) fn write(
        &mut self,
        disk: &mut dyn Disk,
        blocks: &BlockFile,
        state: &State,
    ) -> Result<(), Fault> {
        let (bytes, height) = (state.snapshot(), state.height());
        let size = bytes.len() as u64;
        if bytes.len() > limits::SNAPSHOT_BYTES {
            tracing::warn!(height, size, "the state is too large for a snapshot");
        } else {
            let mut file = RecordFile::create(disk, UNFINISHED)?;
            file.append(disk, &codec::encode(&Head::of(state, size)))?;
            for piece in bytes.chunks(PIECE) {
                file.append(disk, piece)?;
            }
            file.rename(disk, &name_of(height))?;
            prune(disk, height)?;
        }
        self.note(blocks, height, size);
        Ok(())
    }
}

/// Removes all snapshots but the newest ones up to a height. Snapshots above it are of another
/// block file.
fn prune(disk: &mut dyn Disk, newest: u64) -> Result<(), Fault> {
    let mut kept = 0;
    for height in heights(disk)? {
        if height <= newest && kept < KEPT {
            kept += 1;
        } else {
            disk.remove(&name_of(height))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::MemDisk;
    use gridbay_protocol::genesis::Member;
    use gridbay_protocol::keys::SecretKey;
    use gridbay_protocol::units::Credits;
    use gridbay_sample as sample;

    /// Writes a snapshot of which only the head and the size are right.
    fn written(disk: &mut MemDisk, head: &Head, pieces: &[&[u8]]) {
        let mut file = RecordFile::create(disk, &name_of(head.height)).unwrap();
        file.append(disk, &codec::encode(head)).unwrap();
        for piece in pieces {
            file.append(disk, piece).unwrap();
        }
        file.sync(disk).unwrap();
    }

    fn head() -> Head {
        Head {
            format: FORMAT,
            network: NetworkId([1; 32]),
            height: 7,
            block: BlockId([2; 32]),
            state_root: Hash32([3; 32]),
            log_root: Hash32([4; 32]),
            bytes: 5,
        }
    }

    #[test]
    fn only_a_whole_file_is_read() {
        let mut disk = MemDisk::new();
        written(&mut disk, &head(), &[b"abc", b"de"]);
        assert_eq!(read(&disk, 7).unwrap(), (head(), b"abcde".to_vec()));
        written(&mut disk, &head(), &[b"abc"]);
        assert_eq!(read(&disk, 7).unwrap_err(), "it is not whole");
        disk.remove(&name_of(7)).unwrap();
        disk.append(&name_of(7), b"").unwrap();
        assert_eq!(read(&disk, 7).unwrap_err(), "it is empty");
    }

    fn genesis() -> Genesis {
        let key = |n| SecretKey::from_seed(&[n; 32]).public();
        let member = Member {
            validator: Some(sample::validator(key(2), key(3), [4; 32])),
            ..sample::member("member", key(1), Credits::ZERO)
        };
        sample::genesis("one", vec![sample::class("small", 1, 1, 1)], vec![member])
    }

    /// All of it is right but the records, as a build with a fault may have left it behind.
    #[test]
    fn a_snapshot_whose_records_are_not_the_blocks_is_refused() {
        let genesis = genesis();
        let state = State::genesis(&genesis).unwrap();
        let bytes = state.snapshot();
        let header = |state_root| Header {
            format: 1,
            rules: 1,
            network: state.network(),
            height: 7,
            time_ms: 1,
            parent: BlockId::default(),
            proposer: Default::default(),
            entries_root: Hash32::default(),
            effects_root: Hash32::default(),
            state_root,
            validators: Hash32::default(),
            next_validators: Hash32::default(),
            log_root: Hash32::default(),
            last_commit: Hash32::default(),
            beacon_reveal: Hash32::default(),
            evidence_root: Hash32::default(),
            hints_root: Hash32::default(),
        };
        let other = header(Hash32([9; 32]));
        let head = Head {
            height: 7,
            block: other.id(),
            ..Head::of(&state, bytes.len() as u64)
        };
        let mut disk = MemDisk::new();
        written(&mut disk, &head, &[&bytes]);
        let refused = load(&disk, &genesis, 7, &other).unwrap_err();
        assert_eq!(refused, "its state is not the block's");
    }

    #[test]
    fn names_are_exact_and_sorted_by_height() {
        let mut disk = MemDisk::new();
        for name in ["snapshot-7", "snapshot-x", "snapshot.new", "blocks"] {
            disk.append(name, b"x").unwrap();
        }
        for height in [9, 10, 11] {
            disk.append(&name_of(height), b"x").unwrap();
        }
        assert_eq!(heights(&disk).unwrap(), [11, 10, 9]);
        prune(&mut disk, 10).unwrap();
        assert_eq!(
            heights(&disk).unwrap(),
            [10, 9],
            "what is ahead goes, two stay"
        );
    }
}
