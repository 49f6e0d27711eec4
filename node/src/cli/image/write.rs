//! Writing an image.

use super::{FILE_BYTES, IMAGE_BYTES, LABEL, NAME, SECTOR};
use fatfs::{FatType, FileSystem, FormatVolumeOptions, FsOptions, format_volume};
use std::io::{self, Cursor, Write as _};

/// Entries of the root folder.
const ROOT_ENTRIES: u16 = 224;
/// The kind of disk: a floppy of 1.44 MB.
const MEDIA: u8 = 0xf0;

/// An image with one file, or `None` if the file is too large.
pub(in crate::cli) fn write(file: &[u8]) -> Option<Vec<u8>> {
    if file.len() > FILE_BYTES {
        return None;
    }
    let mut image = Cursor::new(vec![0; IMAGE_BYTES]);
    fill(&mut image, file).expect("memory takes what is written, and the file fits");
    Some(image.into_inner())
}

fn fill(image: &mut Cursor<Vec<u8>>, file: &[u8]) -> io::Result<()> {
    let mut label = [b' '; 11];
    label[..LABEL.len()].copy_from_slice(LABEL.as_bytes());
    let floppy = FormatVolumeOptions::new()
        .fat_type(FatType::Fat12)
        .bytes_per_cluster(SECTOR as u32)
        .max_root_dir_entries(ROOT_ENTRIES)
        .media(MEDIA)
        .sectors_per_track(18)
        .heads(2)
        .volume_label(label);
    format_volume(&mut *image, floppy)?;
    let disk = FileSystem::new(image, FsOptions::new())?;
    disk.root_dir().create_file(NAME)?.write_all(file)
}
