//! Looking at the data partition without changing it, and the stamp of an unfinished format.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
/// So much at the start must be zero on a blank device.
const HEAD: u64 = 4 * MIB;
/// So much at its end.
const TAIL: u64 = MIB;
/// Blocks looked at in between.
const SAMPLES: u64 = 512;
const BLOCK: usize = 4096;
/// Where ext4 has its superblock, and what it says there.
const SUPERBLOCK: u64 = 1024;
const MAGIC_AT: usize = 0x38;
const MAGIC: [u8; 2] = [0x53, 0xef];
/// Groups of blocks that hold a copy of the superblock.
const COPIES: [u64; 8] = [1, 3, 5, 7, 9, 25, 27, 49];
/// And its id.
const ID_AT: usize = 0x68;
/// The stamp, which the id follows, and how far from the end it is. mkfs clears the last 64 KiB.
const STAMP: &[u8; 32] = b"gridbay: a format is under way.\n";
const STAMP_FROM_END: u64 = 512 * KIB;

/// What a look at the device finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Size in bytes.
    pub size: u64,
    /// All that was looked at is zero.
    pub blank: bool,
    /// The superblock, if there is one.
    pub superblock: Option<Superblock>,
    /// There is a copy of one, which the format that was begun did not write.
    pub copy: bool,
    /// A format was begun and not finished.
    pub stamp: bool,
}

/// The fields needed of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// Bytes of the file system.
    pub bytes: u64,
}

/// A file system's id.
pub type Id = [u8; 16];

/// Looks at a device, or at a file that stands for one.
pub fn look(device: &File, size: u64) -> io::Result<Facts> {
    let mut superblock = [0; 1024];
    let first = read(device, SUPERBLOCK, &mut superblock, size)?;
    let stamp = stamp(device, size)?;
    let mut copy = false;
    for place in copies(size) {
        let mut bytes = [0; 1024];
        let found = read(device, place, &mut bytes, size)? && parse(&bytes).is_some();
        let begun = stamp.is_some_and(|id| bytes[ID_AT..].starts_with(&id));
        copy |= found && !begun;
    }
    Ok(Facts {
        size,
        blank: size > 0 && is_blank(device, size)?,
        superblock: parse(&superblock).filter(|_| first),
        copy,
        stamp: stamp.is_some(),
    })
}

/// Says on the device that a format with this id is under way.
pub fn set_stamp(device: &File, size: u64, id: &Id) -> io::Result<()> {
    write_stamp(device, size, &[&STAMP[..], id].concat())
}

/// Says that it is over.
pub fn clear_stamp(device: &File, size: u64) -> io::Result<()> {
    write_stamp(device, size, &[0; STAMP.len() + size_of::<Id>()])
}

/// The id of the format that was begun and not finished.
fn stamp(device: &File, size: u64) -> io::Result<Option<Id>> {
    let mut bytes = [0; STAMP.len() + size_of::<Id>()];
    let there = match size.checked_sub(STAMP_FROM_END) {
        Some(at) => read(device, at, &mut bytes, size)?,
        None => false,
    };
    let id = bytes.strip_prefix(STAMP).and_then(|id| id.try_into().ok());
    Ok(id.filter(|_| there))
}

fn write_stamp(device: &File, size: u64, bytes: &[u8]) -> io::Result<()> {
    let Some(at) = size.checked_sub(STAMP_FROM_END) else {
        return Err(io::Error::other("the device is smaller than 1 MiB"));
    };
    device.write_all_at(bytes, at)?;
    device.sync_all()
}

/// Reads if the place lies within the device.
fn read(device: &File, at: u64, bytes: &mut [u8], size: u64) -> io::Result<bool> {
    let end = at.checked_add(bytes.len() as u64);
    if end.is_none_or(|end| end > size) {
        return Ok(false);
    }
    device.read_exact_at(bytes, at)?;
    Ok(true)
}

/// Places of copies, for blocks of 1 and of 4 KiB.
fn copies(size: u64) -> impl Iterator<Item = u64> {
    let small = COPIES.map(|group| group * 8 * MIB + KIB);
    let large = COPIES.map(|group| group * 128 * MIB);
    small
        .into_iter()
        .chain(large)
        .filter(move |place| *place < size)
}

fn is_blank(device: &File, size: u64) -> io::Result<bool> {
    let block = BLOCK as u64;
    let head = (0..HEAD.min(size)).step_by(BLOCK);
    let tail = (size.saturating_sub(TAIL) / block * block..size).step_by(BLOCK);
    let stride = (size / SAMPLES / block).max(1) * block;
    let samples = (0..size).step_by(usize::try_from(stride).unwrap_or(usize::MAX));
    for at in head.chain(tail).chain(samples).chain(copies(size)) {
        let mut bytes = [0; BLOCK];
        let length = size.saturating_sub(at).min(block) as usize;
        device.read_exact_at(&mut bytes[..length], at)?;
        if bytes.iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A superblock of ext2, 3 or 4; its numbers are a stranger's.
fn parse(bytes: &[u8; 1024]) -> Option<Superblock> {
    if bytes[MAGIC_AT..MAGIC_AT + 2] != MAGIC {
        return None;
    }
    let number = |at: usize| -> Option<u64> {
        let four = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(four).into())
    };
    let shift = u32::try_from(number(0x18)?).ok().filter(|s| *s <= 6)?;
    let is_64bit = number(0x60)? & 0x80 != 0;
    let high = if is_64bit { number(0x150)? } else { 0 };
    let blocks = number(0x4)? | high << 32;
    let bytes = blocks.checked_mul(KIB << shift)?;
    Some(Superblock { bytes })
}
