//! Recovery of the host's own files from any bytes, and from damaged files that were good once.

use crate::network::{self, Alone, BLOCKS, Files, Node, alone};
use crate::reader::Reader;
use crate::{Target, Verdict, machine};
use gridbay_host::disk::{Disk, MemDisk};
use gridbay_host::{Fault, HostInput};

pub(crate) const BLOCK_FILE: Target = machine(
    "block_file",
    "bytes as the block file: opened or refused, cut to a prefix of themselves, opened alike the second time",
    |bytes| any_file(bytes, BLOCKS),
    || vec![good(BLOCKS), vec![]],
    100,
);
pub(crate) const BLOCK_FILE_DAMAGE: Target = machine(
    "block_file_damage",
    "a good block file damaged as the bytes say: repaired to the blocks before the damage, or refused at an \
     offset no later than it; damage before a safe record is always refused",
    block_file_damage,
    damages,
    200,
);
pub(crate) const JOURNAL: Target = machine(
    "journal",
    "bytes as the journal behind a good block file: opened or refused, and the block file stays as it is",
    |bytes| any_file(bytes, &journal_name()),
    || vec![good(&journal_name()), vec![]],
    100,
);
pub(crate) const SNAPSHOT_FILE: Target = machine(
    "snapshot_file",
    "bytes as a snapshot beside a good block file: used or passed over, and the state is that of the blocks",
    |bytes| any_file(bytes, SNAPSHOT),
    // The journal's records have good checksums, and none is a snapshot's head.
    || vec![good(&journal_name()), vec![]],
    100,
);
pub(crate) const JOURNAL_DAMAGE: Target = machine(
    "journal_damage",
    "a good journal damaged as the bytes say: no block is lost, and the host goes on or names the place",
    journal_damage,
    damages,
    100,
);

/// The snapshot of a height that the lone validator has.
const SNAPSHOT: &str = "snapshot-00000000000000000003";

/// The file beside the block file: the journal of the running height.
fn journal_name() -> String {
    let mut names = alone().files.iter().map(|(name, _)| name.clone());
    names.find(|name| name != BLOCKS).expect("a journal")
}

/// A file of the lone validator.
fn good(name: &str) -> Vec<u8> {
    let mut files = alone().files.iter();
    files
        .find(|(found, _)| found == name)
        .map(|(_, bytes)| bytes.clone())
        .expect("it is there")
}

/// The lone validator's files with one of them replaced, or one more.
fn with(name: &str, bytes: Vec<u8>) -> Files {
    let more = (name.to_owned(), bytes.clone());
    let replace = |(found, old): &(String, Vec<u8>)| {
        let new = if found == name {
            bytes.clone()
        } else {
            old.clone()
        };
        (found.clone(), new)
    };
    let mut files: Files = alone().files.iter().map(replace).collect();
    if files.iter().all(|(found, _)| found != name) {
        files.push(more);
    }
    files
}

fn content(disk: &MemDisk, name: &str) -> Vec<u8> {
    disk.read(name, 0, usize::MAX).expect("it is there")
}

fn any_file(bytes: &[u8], name: &str) -> Verdict {
    let Alone { genesis, roots, .. } = alone();
    let disk = network::disk(&with(name, bytes.to_vec()));
    let opened = network::open(genesis, 1, &disk);
    assert!(
        bytes.starts_with(&content(&disk, name)),
        "cut, never changed"
    );
    let host = match opened {
        Ok(host) => host,
        Err(Fault::Corrupt { offset, .. } | Fault::Foreign { offset, .. }) => {
            assert!(offset < bytes.len() as u64);
            assert_eq!(content(&disk, name), bytes, "a refused file stays as it is");
            return Verdict::Refused;
        }
        Err(Fault::Refused { .. }) if name == BLOCKS => return Verdict::Refused,
        Err(fault) => panic!("an unexpected fault: {fault:?}"),
    };
    let (height, root) = (host.state().height(), host.state().root());
    if name != BLOCKS {
        assert_eq!(Some(&root), roots.last(), "the block file decides");
        assert_eq!(content(&disk, BLOCKS), good(BLOCKS));
    }
    let again = network::open(genesis, 1, &disk).expect("what opened once opens again");
    assert_eq!(
        (again.state().height(), again.state().root()),
        (height, root)
    );
    Verdict::Accepted
}

/// Damage to a file of `len` bytes.
#[derive(Debug)]
struct Damage {
    bytes: Vec<u8>,
    /// The first place that differs.
    place: u64,
    /// Where it ends, if all that follows is still there.
    until: Option<u64>,
}

/// Damages bytes as choices say: a cut, a cut with a tail of anything, changed bytes, a zeroed
/// page.
fn damage(good: &[u8], reader: &mut Reader<'_>) -> Option<Damage> {
    let at = usize::from(reader.short()) << 8 | usize::from(reader.byte());
    let at = at % good.len();
    let mut bytes = good.to_vec();
    let mut until = None;
    match reader.below(4) {
        0 => bytes.truncate(at),
        1 => {
            bytes.truncate(at);
            bytes.extend_from_slice(reader.rest());
        }
        2 => {
            let end = (at + 1 + reader.below(4)).min(good.len());
            for byte in &mut bytes[at..end] {
                *byte ^= reader.byte() | 1;
            }
            until = Some(end as u64);
        }
        _ => {
            let end = (at + 512).min(good.len());
            bytes[at..end].fill(0);
            until = Some(end as u64);
        }
    }
    let same = bytes.iter().zip(good).take_while(|(a, b)| a == b).count();
    (bytes != good).then_some(Damage {
        place: same as u64,
        until,
        bytes,
    })
}

/// Choices of damage all over a file.
fn damages() -> Vec<Vec<u8>> {
    let place = |n: u32| {
        let [_, high, middle, low] = (n * 977).to_be_bytes();
        vec![high, middle, low, n as u8, n as u8, 0x55, 0xaa, 1, 2, 3, 4]
    };
    (0..24).map(place).collect()
}

fn block_file_damage(bytes: &[u8]) -> Verdict {
    let Alone {
        genesis,
        ends,
        roots,
        ..
    } = alone();
    let Some(damage) = damage(&good(BLOCKS), &mut Reader::new(bytes)) else {
        return Verdict::Accepted;
    };
    // The number of blocks that end before the damage, and the start of the record that it hits.
    let whole = ends
        .iter()
        .rposition(|end| *end <= damage.place)
        .unwrap_or(0);
    let changed_end = damage.bytes.len() as u64;
    let disk = network::disk(&with(BLOCKS, damage.bytes));
    match network::open(genesis, 1, &disk) {
        Ok(host) => {
            let height = host.state().height() as usize;
            assert_eq!(height, whole, "a prefix, and all of it");
            assert_eq!(host.state().root(), roots[height]);
            assert_eq!(content(&disk, BLOCKS).len() as u64, ends[height]);
            // Only the last record can pass for torn: later records show that the others were safe.
            let last = ends[ends.len() - 2];
            let proven = damage.place < last && damage.until.is_some_and(|until| until <= last);
            assert!(!proven, "safe blocks are thrown away at {}", damage.place);
        }
        Err(Fault::Corrupt { file, offset }) => {
            assert_eq!((file.as_str(), offset), (BLOCKS, ends[whole]));
            assert!(offset <= damage.place && offset < changed_end);
        }
        Err(fault) => panic!("an unexpected fault: {fault:?}"),
    }
    Verdict::Accepted
}

fn journal_damage(bytes: &[u8]) -> Verdict {
    let Alone {
        genesis,
        roots,
        now,
        ..
    } = alone();
    let name = journal_name();
    let Some(damage) = damage(&good(&name), &mut Reader::new(bytes)) else {
        return Verdict::Accepted;
    };
    let disk = network::disk(&with(&name, damage.bytes));
    match network::open(genesis, 1, &disk) {
        Ok(host) => {
            assert_eq!(Some(&host.state().root()), roots.last());
            let mut node = Node::new(host, now + 1);
            node.step(HostInput::Start);
            node.run_alone(roots.len() as u64);
        }
        Err(Fault::Corrupt { file, offset } | Fault::Foreign { file, offset, .. }) => {
            assert_eq!(file, name);
            assert!(offset <= damage.place, "{offset} behind {}", damage.place);
        }
        Err(fault) => panic!("an unexpected fault: {fault:?}"),
    }
    Verdict::Accepted
}
