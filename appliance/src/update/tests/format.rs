//! Headers: good ones, and what a stranger may make of them.

use super::*;
use crate::update::manifest::{HEADER_BYTES, HeaderError};

fn read(bytes: &[u8]) -> Result<Manifest, HeaderError> {
    Manifest::read(bytes, &trusted(1)).map(|(manifest, _)| manifest)
}

/// A header of these lines, signed by the trusted key.
fn signed(text: &str) -> Vec<u8> {
    let signature = keys::sign(&key(1), text.as_bytes());
    format!("{text}signature {signature}\n").into_bytes()
}

#[test]
fn a_header_is_read_as_it_was_written_and_its_end_is_found() {
    let manifest = manifest(&parts(5));
    let header = manifest.header(&key(1));
    assert!(header.len() < HEADER_BYTES && manifest.is_sound());
    let mut file = header.clone().into_bytes();
    file.extend([0xff; 4_000]);
    let (found, length) = Manifest::read(&file, &trusted(1)).unwrap();
    assert_eq!((found, length), (manifest.clone(), header.len()));
    assert_eq!(manifest.bytes(), 1_200_000 + 3_000 + 1_100_000);
}

#[test]
fn every_changed_byte_and_every_shorter_header_is_refused() {
    let header = manifest(&parts(5)).header(&key(1)).into_bytes();
    for at in 0..header.len() {
        let mut changed = header.clone();
        changed[at] ^= 1;
        assert!(read(&changed).is_err(), "byte {at}");
        assert!(read(&header[..at]).is_err(), "{at} bytes");
    }
}

#[test]
fn a_header_that_is_not_one_says_why() {
    let good = manifest(&parts(5));
    let text = good.header(&key(1));
    assert_eq!(read(b""), Err(HeaderError::Form));
    assert_eq!(read(b"\x7fELF"), Err(HeaderError::Form));
    assert_eq!(read(b"gridbay-update 2\n"), Err(HeaderError::Version));
    let other = good.header(&key(2));
    assert_eq!(read(other.as_bytes()), Err(HeaderError::Signature));
    let none = Manifest::read(text.as_bytes(), &[]);
    assert_eq!(none.unwrap_err(), HeaderError::NoKeys);
    let endless = format!("gridbay-update 1\n{}", "x".repeat(1 << 20));
    assert_eq!(read(endless.as_bytes()), Err(HeaderError::Long));
    let late = format!(
        "gridbay-update 1\n{}\nsignature 00\n",
        "x".repeat(HEADER_BYTES)
    );
    assert_eq!(read(late.as_bytes()), Err(HeaderError::Long));
}

#[test]
fn what_is_signed_and_means_nothing_is_refused_as_well() {
    let good = manifest(&parts(5)).header(&key(1));
    let text = &good[..good.find("signature").unwrap()];
    assert_eq!(read(&signed(text)), Ok(manifest(&parts(5))));
    let line = |name| Err(HeaderError::Line { name });
    for (from, to, error) in [
        ("flavour base", "flavour ", line("flavour")),
        ("flavour base", "flavour ba se", line("flavour")),
        ("version 0", "version \u{1b}0", line("version")),
        ("built 1", "built -1", line("built")),
        ("built 1", "built +1", Err(HeaderError::Spelling)),
        ("built 1", "built 01", Err(HeaderError::Spelling)),
        ("vmlinuz 3000 ", "vmlinuz 0 ", line("vmlinuz")),
        ("vmlinuz 3000 ", "vmlinuz 99999999999 ", line("vmlinuz")),
        ("vmlinuz 3000 ", "vmlinuz 3000 A", line("vmlinuz")),
        ("root.sqfs", "root", line("root.sqfs")),
        ("initrd.img", "extra 1\ninitrd.img", line("initrd.img")),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "{from}");
        assert_eq!(read(&signed(&changed)), error, "{to}");
    }
    let more = format!("{text}more 1\n");
    assert_eq!(read(&signed(&more)), Err(HeaderError::Spelling));
    let mut wordy = manifest(&parts(5));
    wordy.version = "0 1".to_owned();
    assert!(!wordy.is_sound());
}
