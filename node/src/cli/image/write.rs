//! Writing an image.

use super::{ENTRY, FILE_BYTES, IMAGE_BYTES, IS_LABEL, IS_LONG, LABEL, NAME, PLACES, SECTOR};

/// Sectors of one table, and of the root folder.
const TABLE: usize = 9;
const ROOT: usize = 14;
/// Where things begin, in sectors.
const ROOT_AT: usize = 1 + 2 * TABLE;
const DATA_AT: usize = ROOT_AT + ROOT;
/// Clusters 0 and 1 do not exist.
const FIRST: usize = 2;
/// Ends a chain.
const LAST: u16 = 0xfff;
/// The kind of disk, twice in an image.
const MEDIA: u8 = 0xf0;
/// The short name of [`NAME`].
const SHORT: &[u8; 11] = b"INVITE~1TOM";
/// The first of January 1980.
const DATE: u16 = 0x21;

/// An image with one file, or `None` if the file is too large.
pub(in crate::cli) fn write(file: &[u8]) -> Option<Vec<u8>> {
    if file.len() > FILE_BYTES {
        return None;
    }
    let mut image = vec![0; IMAGE_BYTES];
    put(&mut image, 0, &boot_sector());
    let table = table(file.len().div_ceil(SECTOR));
    put(&mut image, SECTOR, &table);
    put(&mut image, SECTOR * (1 + TABLE), &table);
    let entries = [label(), long_name(), short_name(file.len())];
    put(&mut image, SECTOR * ROOT_AT, &entries.concat());
    put(&mut image, SECTOR * DATA_AT, file);
    Some(image)
}

fn put(image: &mut [u8], at: usize, bytes: &[u8]) {
    image[at..at + bytes.len()].copy_from_slice(bytes);
}

fn boot_sector() -> [u8; SECTOR] {
    let mut sector = [0; SECTOR];
    // Nothing boots from it: jump to a halt.
    put(&mut sector, 0, &[0xeb, 0x3c, 0x90]);
    put(&mut sector, 3, b"GRIDBAY ");
    let numbers: [(usize, usize); 8] = [
        (11, SECTOR),
        (14, 1),
        (17, ROOT * SECTOR / ENTRY),
        (19, IMAGE_BYTES / SECTOR),
        (22, TABLE),
        (24, 18),
        (26, 2),
        (510, 0xaa55),
    ];
    for (at, number) in numbers {
        let number = u16::try_from(number).expect("each fits");
        put(&mut sector, at, &number.to_le_bytes());
    }
    // One sector to a cluster, two tables.
    sector[13] = 1;
    sector[16] = 2;
    sector[21] = MEDIA;
    // What follows is there; a number of the volume, its label, the kind of file system.
    sector[38] = 0x29;
    put(&mut sector, 39, b"grid");
    put(&mut sector, 43, &padded_label());
    put(&mut sector, 54, b"FAT12   ");
    put(&mut sector, 62, &[0xf4, 0xeb, 0xfd]);
    sector
}

fn padded_label() -> [u8; 11] {
    let mut label = [b' '; 11];
    put(&mut label, 0, LABEL.as_bytes());
    label
}

/// A table whose only chain takes the first clusters: 12 bits each, two in three bytes.
fn table(clusters: usize) -> Vec<u8> {
    let mut entries = vec![0xf00 | u16::from(MEDIA), LAST];
    for i in 1..=clusters {
        let next = u16::try_from(FIRST + i).expect("an image has 2,847 clusters");
        entries.push(if i == clusters { LAST } else { next });
    }
    if entries.len() % 2 == 1 {
        entries.push(0);
    }
    let pair = |pair: &[u16]| {
        let (a, b) = (pair[0], pair[1]);
        let middle = (a >> 8) | ((b & 0xf) << 4);
        [a as u8, middle as u8, (b >> 4) as u8]
    };
    entries.chunks_exact(2).flat_map(pair).collect()
}

fn label() -> [u8; ENTRY] {
    let mut entry = [0; ENTRY];
    put(&mut entry, 0, &padded_label());
    entry[11] = IS_LABEL;
    put(&mut entry, 24, &DATE.to_le_bytes());
    entry
}

fn long_name() -> [u8; ENTRY] {
    let mut entry = [0xff; ENTRY];
    entry[0] = 0x41;
    entry[11] = IS_LONG;
    entry[12] = 0;
    entry[13] = SHORT
        .iter()
        .fold(0u8, |sum, b| sum.rotate_right(1).wrapping_add(*b));
    put(&mut entry, 26, &[0, 0]);
    for (place, char) in PLACES.iter().zip(NAME.encode_utf16().chain([0])) {
        put(&mut entry, *place, &char.to_le_bytes());
    }
    entry
}

fn short_name(size: usize) -> [u8; ENTRY] {
    let mut entry = [0; ENTRY];
    put(&mut entry, 0, SHORT);
    entry[11] = 0x20;
    for at in [16, 18, 24] {
        put(&mut entry, at, &DATE.to_le_bytes());
    }
    let first = if size == 0 { 0 } else { FIRST as u16 };
    put(&mut entry, 26, &first.to_le_bytes());
    let size = u32::try_from(size).expect("at most 64 KiB");
    put(&mut entry, 28, &size.to_le_bytes());
    entry
}
