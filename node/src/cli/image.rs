//! Small FAT12 disk images: an appliance finds its invitation on one, and `join` reads one.
//!
//! 1. [`write`] makes a disk of 1.44 MB with the label [`LABEL`] and one file, [`NAME`]: 512
//!    bytes to a sector, one sector to a cluster, two tables, 224 entries in the root folder. The
//!    same bytes give the same image.
//! 2. The file's name is longer than 8+3, so it has a long and a short entry.
//! 3. [`read`] takes any FAT12 image of such size with that file in its root folder, as mkfs.vfat
//!    and mcopy make them. The image is a stranger's: every place is looked up within its bytes,
//!    and a chain of clusters ends after as many as there are.

mod read;
mod write;

pub(super) use read::{ImageError, looks_like_one, read};
pub(super) use write::write;

/// Volume label: by it the appliance finds the disk.
pub(super) const LABEL: &str = "GRIDBAY";
/// Name of the file.
pub(super) const NAME: &str = "invite.toml";
/// Largest file taken, bytes.
pub(super) const FILE_BYTES: usize = 64 * 1024;
/// Size of an image, bytes.
pub(super) const IMAGE_BYTES: usize = SECTOR * 2_880;

const SECTOR: usize = 512;
/// Bytes of an entry in a folder.
const ENTRY: usize = 32;
/// Attributes: a label, a piece of a long name.
const IS_LABEL: u8 = 0x08;
const IS_LONG: u8 = 0x0f;
/// Where the characters of a long name lie in its entry.
const PLACES: [usize; 13] = [1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_whatever_its_size() {
        for size in [0, 1, 511, 512, 513, 1_300, 9_999, FILE_BYTES] {
            let bytes: Vec<u8> = (0..size).map(|i| (i % 251) as u8).collect();
            let image = write(&bytes).unwrap();
            assert_eq!(image.len(), IMAGE_BYTES);
            assert!(looks_like_one(&image));
            assert_eq!(read(&image), Ok(bytes), "{size}");
        }
        assert!(write(&vec![0; FILE_BYTES + 1]).is_none());
    }

    #[test]
    fn a_damaged_image_is_refused_or_read_but_never_run_away_with() {
        let image = write(&[7; 2_000]).unwrap();
        for at in (0..0x40)
            .chain(SECTOR..SECTOR + 16)
            .chain(19 * SECTOR..19 * SECTOR + 96)
        {
            for value in [0, 1, 0x7f, 0xff] {
                let mut damaged = image.clone();
                damaged[at] = value;
                if let Ok(bytes) = read(&damaged) {
                    assert!(bytes.len() <= FILE_BYTES);
                }
            }
        }
        for len in [0, 1, 511, 512, 513, 10_000] {
            assert!(read(&image[..len]).is_err(), "{len}");
        }
    }

    #[test]
    fn other_tools_take_the_image_and_make_one_that_is_taken() {
        use std::process::Command;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let have = |tool: &str| Command::new(tool).arg("--help").output().is_ok();
        std::fs::write(path("ours"), write(b"invitation = \"x\"\n").unwrap()).unwrap();
        if have("fsck.vfat") {
            let told = Command::new("fsck.vfat")
                .arg("-n")
                .arg(path("ours"))
                .output()
                .unwrap();
            assert!(told.status.success(), "{told:?}");
        }
        if have("mcopy") && have("mkfs.vfat") {
            let run = |tool: &str, words: &[&str]| {
                let done = Command::new(tool)
                    .args(words)
                    .current_dir(folder.path())
                    .output();
                let done = done.unwrap();
                assert!(done.status.success(), "{tool} {words:?}: {done:?}");
            };
            run("mcopy", &["-i", "ours", "::invite.toml", "copied"]);
            assert_eq!(
                std::fs::read(path("copied")).unwrap(),
                b"invitation = \"x\"\n"
            );
            run("mkfs.vfat", &["-C", "-n", "GRIDBAY", "theirs", "1440"]);
            std::fs::write(path("invite.toml"), b"theirs").unwrap();
            run("mcopy", &["-i", "theirs", "invite.toml", "::invite.toml"]);
            let theirs = std::fs::read(path("theirs")).unwrap();
            assert_eq!(read(&theirs), Ok(b"theirs".to_vec()));
        }
    }
}
