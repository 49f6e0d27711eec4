//! The bytes of a disk, and those that a power cut leaves.
//!
//! The file always holds what the machine has written. Each write since the last flush is kept
//! with the bytes that it replaced. A cut takes all of them back, last one first, and then writes
//! again those that are kept, first one first.

use crate::kill::rng::Rng;
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// What a disk writes whole or not at all, in bytes.
const SECTOR: usize = 512;
/// Bytes of the cache: what is above is written without being asked, oldest first.
const CACHE: usize = 64 << 20;

/// A file as a disk with a cache.
pub(super) struct Disk {
    file: File,
    size: u64,
    since: VecDeque<Write>,
    bytes: usize,
    cache: usize,
}

/// A write that no flush followed.
struct Write {
    at: u64,
    before: Vec<u8>,
    after: Vec<u8>,
}

/// What power cuts did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    /// Writes that were not flushed.
    pub(crate) open: usize,
    /// Those of them that were lost, as a whole or some sectors.
    pub(crate) lost: usize,
}

impl std::ops::AddAssign for Lost {
    fn add_assign(&mut self, more: Lost) {
        self.open += more.open;
        self.lost += more.lost;
    }
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} writes not flushed", self.lost, self.open)
    }
}

impl Disk {
    /// A disk of a file's size.
    pub(super) fn open(path: &Path) -> io::Result<Disk> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Disk {
            size: file.metadata()?.len(),
            file,
            since: VecDeque::new(),
            bytes: 0,
            cache: CACHE,
        })
    }

    /// Bytes.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(bytes, at)
    }

    pub(super) fn write(&mut self, at: u64, bytes: Vec<u8>) -> io::Result<()> {
        let mut before = vec![0; bytes.len()];
        self.file.read_exact_at(&mut before, at)?;
        self.file.write_all_at(&bytes, at)?;
        self.bytes += bytes.len();
        let after = bytes;
        self.since.push_back(Write { at, before, after });
        while self.bytes > self.cache {
            let oldest = self.since.pop_front();
            self.bytes -= oldest.map_or(self.bytes, |oldest| oldest.after.len());
        }
        Ok(())
    }

    /// What was written until now survives each cut.
    pub(super) fn flush(&mut self) {
        self.since.clear();
        self.bytes = 0;
    }

    /// Whether a cut could lose something.
    pub(super) fn is_open(&self) -> bool {
        !self.since.is_empty()
    }

    /// The power goes.
    pub(super) fn cut(&mut self, rng: &mut Rng) -> io::Result<Lost> {
        for write in self.since.iter().rev() {
            self.file.write_all_at(&write.before, write.at)?;
        }
        let mut lost = Lost::default();
        self.bytes = 0;
        for Write { at, after, .. } in self.since.drain(..) {
            let parts = fate(rng, after.len().div_ceil(SECTOR));
            lost.open += 1;
            lost.lost += usize::from(parts.contains(&false));
            let sectors = after.chunks(SECTOR).zip((at..).step_by(SECTOR));
            for ((sector, at), _) in sectors.zip(parts).filter(|(_, kept)| *kept) {
                self.file.write_all_at(sector, at)?;
            }
        }
        Ok(lost)
    }
}

/// Which sectors of a write are kept: of three writes one is kept, one is lost, and one is torn.
fn fate(rng: &mut Rng, sectors: usize) -> Vec<bool> {
    match rng.below(3) {
        0 => vec![true; sectors],
        1 => vec![false; sectors],
        _ => (0..sectors).map(|_| rng.below(2) == 0).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use tempfile::TempDir;

    const SECTORS: usize = 16;

    fn disk(dir: &TempDir) -> Disk {
        let path = dir.path().join("disk");
        std::fs::write(&path, [0; SECTORS * SECTOR]).unwrap();
        Disk::open(&path).unwrap()
    }

    /// The first byte of each sector, whose bytes must be one.
    fn sectors(disk: &Disk) -> Vec<u8> {
        let mut bytes = [0; SECTORS * SECTOR];
        disk.read(0, &mut bytes).unwrap();
        let sectors = bytes.chunks(SECTOR);
        let one = |sector: &[u8]| {
            assert!(sector.iter().all(|byte| *byte == sector[0]), "torn inside");
            sector[0]
        };
        sectors.map(one).collect()
    }

    fn put(disk: &mut Disk, sector: usize, many: usize, byte: u8) {
        let at = (sector * SECTOR) as u64;
        disk.write(at, vec![byte; many * SECTOR]).unwrap();
    }

    #[test]
    fn a_cut_keeps_what_was_flushed_and_any_part_of_the_rest() {
        let dir = TempDir::new().unwrap();
        let (mut first, mut second, mut torn) = (BTreeSet::new(), BTreeSet::new(), 0);
        for seed in 0..200 {
            let mut disk = disk(&dir);
            put(&mut disk, 0, 8, 1);
            disk.flush();
            // One write over some that is safe, and one beside it.
            put(&mut disk, 4, 2, 2);
            put(&mut disk, 8, 4, 3);
            assert_eq!(
                sectors(&disk)[3..9],
                [1, 2, 2, 1, 1, 3],
                "what was written is read"
            );
            let lost = disk.cut(&mut Rng::new(seed)).unwrap();
            let left = sectors(&disk);
            assert_eq!(left[..4], [1; 4]);
            assert_eq!(left[6..8], [1; 2]);
            assert_eq!(left[12..], [0; 4]);
            assert!(
                left[4..6].iter().all(|byte| [1, 2].contains(byte)),
                "{left:?}"
            );
            assert!(
                left[8..12].iter().all(|byte| [0, 3].contains(byte)),
                "{left:?}"
            );
            let whole = [left[4..6] == [2, 2], left[8..12] == [3; 4]];
            let gone = whole.iter().filter(|whole| !**whole).count();
            assert_eq!(
                lost,
                Lost {
                    open: 2,
                    lost: gone
                }
            );
            first.insert(left[4] == 2);
            second.insert(left[8] == 3);
            torn += usize::from(left[8..12].contains(&0) && left[8..12].contains(&3));
            // Nothing is left for another cut.
            assert_eq!(disk.cut(&mut Rng::new(seed)).unwrap(), Lost::default());
            assert_eq!(sectors(&disk), left);
        }
        assert_eq!((first.len(), second.len()), (2, 2));
        assert!((20..150).contains(&torn), "{torn} of 200 torn");
    }

    #[test]
    fn a_later_write_can_survive_an_earlier_one_of_the_same_place() {
        let dir = TempDir::new().unwrap();
        let mut left = BTreeSet::new();
        for seed in 0..100 {
            let mut disk = disk(&dir);
            put(&mut disk, 5, 1, 1);
            put(&mut disk, 5, 1, 2);
            disk.cut(&mut Rng::new(seed)).unwrap();
            left.insert(sectors(&disk)[5]);
        }
        assert_eq!(left, BTreeSet::from([0, 1, 2]));
    }

    #[test]
    fn one_seed_leaves_one_disk() {
        let dir = TempDir::new().unwrap();
        let left = |seed| {
            let mut disk = disk(&dir);
            (0..SECTORS).for_each(|sector| put(&mut disk, sector, 1, 9));
            disk.cut(&mut Rng::new(seed)).unwrap();
            sectors(&disk)
        };
        assert_eq!(left(7), left(7));
        assert_ne!(left(7), left(8));
    }

    #[test]
    fn a_full_cache_lets_the_oldest_go_to_the_disk() {
        let dir = TempDir::new().unwrap();
        for seed in 0..50 {
            let mut disk = disk(&dir);
            disk.cache = 4 * SECTOR;
            (0..SECTORS).for_each(|sector| put(&mut disk, sector, 1, 9));
            let lost = disk.cut(&mut Rng::new(seed)).unwrap();
            assert_eq!(lost.open, 4);
            assert_eq!(sectors(&disk)[..12], [9; 12]);
        }
    }
}
