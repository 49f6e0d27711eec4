//! The file of kept transfers: lines that are appended, many with one sync, and written anew when
//! most of them are forgotten.
//!
//! ```text
//! transfers/entries   records (see gridbay_host::record): the 32 bytes of a key, then its signed
//!                     entry, canonical bytes; or nothing, where the key is forgotten. The last
//!                     line of a key counts
//! ```

use super::TransferKey;
use gridbay_host::Fault;
use gridbay_host::disk::Disk;
use gridbay_host::record::RecordFile;
use gridbay_protocol::codec;
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::limits::ENTRY_BYTES;

const FILE: &str = "entries";
const FRESH: &str = "entries.new";
/// Bytes of a line of a transfer, about.
const LINE: u64 = 400;
/// Bytes up to which the file is never written anew.
const SHORT: u64 = 1 << 20;

/// The file.
pub(super) struct Book {
    disk: Box<dyn Disk>,
    /// `None` after a failure: what the file holds is then looked at anew before anything is added.
    file: Option<RecordFile>,
}

impl Book {
    /// Opens the file and hands its lines to `visit`, in order.
    pub(super) fn open(
        mut disk: Box<dyn Disk>,
        mut visit: impl FnMut(TransferKey, Option<SignedEntry>),
    ) -> Result<Book, Fault> {
        // The rest of a rewriting that was broken off.
        disk.remove(FRESH)?;
        let file = RecordFile::open(&mut *disk, FILE, |offset, payload| {
            let (key, entry) = parse(payload).ok_or_else(|| Fault::Foreign {
                file: FILE.to_owned(),
                offset,
                what: "no kept transfer",
            })?;
            visit(key, entry);
            Ok(())
        })?;
        let file = Some(file);
        Ok(Book { disk, file })
    }

    /// Adds lines, all of them safe on return.
    pub(super) fn add<'a>(
        &mut self,
        lines: impl Iterator<Item = (TransferKey, Option<&'a SignedEntry>)>,
    ) -> Result<(), Fault> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => RecordFile::open(&mut *self.disk, FILE, |_, _| Ok(()))?,
        };
        append(&mut file, &mut *self.disk, lines)?;
        file.sync(&mut *self.disk)?;
        self.file = Some(file);
        Ok(())
    }

    /// Whether half of the file is of transfers that are forgotten, if so many are kept.
    pub(super) fn is_long(&self, kept: usize) -> bool {
        let bytes = self.file.as_ref().map_or(0, RecordFile::bytes);
        bytes > SHORT.max(2 * LINE * kept as u64)
    }

    /// Writes the file anew with these lines alone.
    pub(super) fn rewrite<'a>(
        &mut self,
        lines: impl Iterator<Item = (TransferKey, Option<&'a SignedEntry>)>,
    ) -> Result<(), Fault> {
        let mut fresh = RecordFile::create(&mut *self.disk, FRESH)?;
        append(&mut fresh, &mut *self.disk, lines)?;
        self.file = None;
        fresh.rename(&mut *self.disk, FILE)?;
        self.file = Some(fresh);
        Ok(())
    }
}

fn parse(line: &[u8]) -> Option<(TransferKey, Option<SignedEntry>)> {
    let (key, rest) = line.split_first_chunk()?;
    let entry = match rest {
        [] => None,
        _ => Some(codec::decode(rest, ENTRY_BYTES).ok()?),
    };
    Some((TransferKey(Hash32(*key)), entry))
}

fn append<'a>(
    file: &mut RecordFile,
    disk: &mut dyn Disk,
    lines: impl Iterator<Item = (TransferKey, Option<&'a SignedEntry>)>,
) -> Result<(), Fault> {
    for (key, entry) in lines {
        let mut line = key.0.0.to_vec();
        line.extend(entry.map(codec::encode).unwrap_or_default());
        file.append(disk, &line)?;
    }
    Ok(())
}
