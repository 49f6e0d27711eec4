//! Reading an image.

use super::{ENTRY, FILE_BYTES, IS_LABEL, IS_LONG, NAME, PLACES, SECTOR};

/// Short names under which the file is taken where there is no long one.
const SHORT: [&[u8]; 2] = [b"INVITE~1TOM", b"INVITE  TOM"];
/// Clusters of the largest FAT12 disk.
const CLUSTERS: usize = 4_084;

/// Why an image is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::cli) enum ImageError {
    /// Not FAT12, or damaged.
    #[error("no FAT12 disk image, or a damaged one")]
    Damaged,
    /// The file is not there.
    #[error("a disk image without {NAME}")]
    Missing,
    /// The file is too large.
    #[error("a disk image whose {NAME} is too large")]
    TooLarge,
}

/// Whether bytes end their first sector as a disk does.
pub(in crate::cli) fn looks_like_one(bytes: &[u8]) -> bool {
    bytes.get(510..SECTOR) == Some(&[0x55, 0xaa])
}

/// Where things lie, in bytes.
struct Layout {
    table: usize,
    root: usize,
    root_entries: usize,
    data: usize,
    cluster: usize,
}

/// The file of an image.
pub(in crate::cli) fn read(image: &[u8]) -> Result<Vec<u8>, ImageError> {
    let layout = layout(image).ok_or(ImageError::Damaged)?;
    let (first, size) = find(image, &layout).ok_or(ImageError::Missing)?;
    if size > FILE_BYTES {
        return Err(ImageError::TooLarge);
    }
    chain(image, &layout, first, size).ok_or(ImageError::Damaged)
}

fn layout(image: &[u8]) -> Option<Layout> {
    if !looks_like_one(image) {
        return None;
    }
    let (sector, per_cluster) = (word(image, 11)?, usize::from(*image.get(13)?));
    let (reserved, tables) = (word(image, 14)?, usize::from(*image.get(16)?));
    let (root_entries, sectors, per_table) = (word(image, 17)?, word(image, 19)?, word(image, 22)?);
    if sector != SECTOR || per_cluster == 0 || tables == 0 || per_table == 0 {
        return None;
    }
    let table = reserved * SECTOR;
    let root = table + tables * per_table * SECTOR;
    let data = root + (root_entries * ENTRY).next_multiple_of(SECTOR);
    let cluster = per_cluster * SECTOR;
    let clusters = (sectors * SECTOR).checked_sub(data)? / cluster;
    (clusters <= CLUSTERS).then_some(Layout {
        table,
        root,
        root_entries,
        data,
        cluster,
    })
}

fn word(image: &[u8], at: usize) -> Option<usize> {
    let bytes = image.get(at..at + 2)?;
    Some(usize::from(u16::from_le_bytes([bytes[0], bytes[1]])))
}

/// First cluster and size of the file.
fn find(image: &[u8], layout: &Layout) -> Option<(usize, usize)> {
    let mut long = false;
    for i in 0..layout.root_entries {
        let at = layout.root + i * ENTRY;
        let entry = image.get(at..at + ENTRY)?;
        match (entry[0], entry[11]) {
            (0, _) => return None,
            (0xe5, _) => long = false,
            (_, IS_LONG) => long = is_long_name(entry),
            (_, attributes) if attributes & IS_LABEL != 0 => long = false,
            _ if long || SHORT.contains(&&entry[..11]) => {
                let size = [entry[28], entry[29], entry[30], entry[31]];
                let size = usize::try_from(u32::from_le_bytes(size)).ok()?;
                return Some((word(entry, 26)?, size));
            }
            _ => long = false,
        }
    }
    None
}

/// Whether a piece of a long name is the whole of [`NAME`].
fn is_long_name(entry: &[u8]) -> bool {
    let chars = PLACES
        .iter()
        .map(|at| u16::from_le_bytes([entry[*at], entry[*at + 1]]));
    let name: Vec<u16> = chars.take_while(|c| *c != 0).collect();
    let only = entry[0] == 0x41;
    only && String::from_utf16(&name).is_ok_and(|name| name.eq_ignore_ascii_case(NAME))
}

/// The bytes of a chain of clusters.
fn chain(image: &[u8], layout: &Layout, first: usize, size: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size);
    let mut cluster = first;
    for _ in 0..size.div_ceil(layout.cluster) {
        let at = layout.data + cluster.checked_sub(2)? * layout.cluster;
        let left = (size - bytes.len()).min(layout.cluster);
        bytes.extend_from_slice(image.get(at..at + left)?);
        let pair = word(image, layout.table + cluster * 3 / 2)?;
        cluster = if cluster.is_multiple_of(2) {
            pair & 0xfff
        } else {
            pair >> 4
        };
    }
    Some(bytes)
}
