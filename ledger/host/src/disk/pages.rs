//! One file of a disk in memory: the bytes that readers see, those that are safe, and the ranges
//! still to be written.

use std::ops::Range;

/// Bytes that reach a disk, or do not, as one.
const SECTOR: usize = 512;

/// The bytes of one file, twice.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages {
    /// The bytes that a running node sees.
    live: Vec<u8>,
    /// The bytes on the disk; `None` while the file's name is not safe.
    safe: Option<Vec<u8>>,
    /// Written since the last sync, in order of writing.
    dirty: Vec<Range<usize>>,
}

fn copy(from: &[u8], to: &mut Vec<u8>, range: Range<usize>) {
    let range = range.start..range.end.min(from.len());
    if range.is_empty() {
        return;
    }
    if to.len() < range.end {
        to.resize(range.end, 0);
    }
    to[range.clone()].copy_from_slice(&from[range]);
}

/// The sectors that a range touches, as a range of bytes.
fn sectors(range: &Range<usize>) -> Range<usize> {
    range.start / SECTOR * SECTOR..range.end.next_multiple_of(SECTOR)
}

impl Pages {
    pub(super) fn live(&self) -> &[u8] {
        &self.live
    }
    pub(super) fn append(&mut self, bytes: &[u8]) {
        let start = self.live.len();
        self.live.extend_from_slice(bytes);
        self.touch(start..self.live.len());
    }
    pub(super) fn rewrite(&mut self, offset: usize, bytes: &[u8]) {
        let end = offset.saturating_add(bytes.len()).min(self.live.len());
        if offset < end {
            self.live[offset..end].copy_from_slice(&bytes[..end - offset]);
            self.touch(offset..end);
        }
    }
    fn touch(&mut self, range: Range<usize>) {
        match self.dirty.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.dirty.push(range),
        }
    }
    pub(super) fn truncate(&mut self, len: usize) {
        self.live.truncate(len);
    }
    /// Writes the pending ranges. Bytes that an earlier sync forgot are left out, except in shared
    /// sectors.
    pub(super) fn sync(&mut self) {
        let Pages { live, safe, dirty } = self;
        let safe = safe.get_or_insert_default();
        for range in dirty.drain(..) {
            copy(live, safe, sectors(&range));
        }
        safe.resize(live.len(), 0);
    }
    /// Forgets the pending ranges, as a failed sync does.
    pub(super) fn forget(&mut self) {
        self.dirty.clear();
    }
    /// Makes the name safe, whatever the bytes are.
    pub(super) fn name(&mut self) {
        self.safe.get_or_insert_default();
    }
    /// The file after a loss of power in which only the first bytes written since the last sync
    /// survive, as many as `kept` says. `None` if the name is lost.
    pub(super) fn cut(&self, mut kept: impl FnMut(u64) -> u64) -> Option<Pages> {
        let mut image = self.safe.clone()?;
        let lens = self.dirty.iter().map(ExactSizeIterator::len);
        let at_stake: usize = lens.sum();
        let mut left = kept(at_stake as u64).min(at_stake as u64) as usize;
        for range in &self.dirty {
            let end = range.end.min(range.start + left);
            left -= end - range.start;
            copy(&self.live, &mut image, range.start..end);
        }
        Some(Pages::of(image))
    }
    /// The file after a loss of power in which any part of the bytes written since the last sync
    /// survives: sectors in any selection, the new length with zeros for the lost ones or not, a
    /// name or not. `below(n)` draws a number below `n`.
    pub(super) fn tear(&self, below: &mut dyn FnMut(u64) -> u64) -> Option<Pages> {
        let mut image = match &self.safe {
            Some(safe) => safe.clone(),
            None if below(2) == 0 => return None,
            None => Vec::new(),
        };
        for range in &self.dirty {
            let all = sectors(range);
            for start in all.step_by(SECTOR) {
                if below(2) == 0 {
                    copy(&self.live, &mut image, start..start + SECTOR);
                }
            }
        }
        let cut = self.live.len() < image.len();
        if (cut || !self.dirty.is_empty()) && below(2) == 0 {
            image.resize(self.live.len(), 0);
        }
        Some(Pages::of(image))
    }
    fn of(image: Vec<u8>) -> Pages {
        Pages {
            live: image.clone(),
            safe: Some(image),
            dirty: Vec::new(),
        }
    }
    /// Flips all bits of a byte.
    pub(super) fn damage(&mut self, offset: usize) {
        for side in [Some(&mut self.live), self.safe.as_mut()] {
            if let Some(byte) = side.and_then(|bytes| bytes.get_mut(offset)) {
                *byte = !*byte;
            }
        }
    }
}
