//! The form of an update: a signed header of lines, then the three parts of a system.
//!
//! ```text
//! gridbay-update 1
//! flavour base
//! version 0.1.0
//! built 1790000000
//! root.sqfs 74936320 HASH
//! vmlinuz 11745216 HASH
//! initrd.img 11091450 HASH
//! signature SIGNATURE
//! ```
//!
//! 1. The first line is the form and its version. It is looked at before all else, so that an
//!    update for a later agent is told as such; and a signature can mean nothing else.
//! 2. A hash is BLAKE3 in hex; the signature is Ed25519 in hex over all lines before it.
//! 3. The header is read, at most [`HEADER_BYTES`] of it, and its signature checked. Only then is
//!    its text understood, by one spelling alone: what would be written another way is refused.
//! 4. The parts follow without a gap, in the order in which a system is written. A file ends with
//!    the last one. A disk that the update was copied to may be longer.

use super::keys;
use data_encoding::HEXLOWER;
use ed25519_dalek::{SigningKey, VerifyingKey};
use std::fmt::Write as _;

/// Largest header.
pub const HEADER_BYTES: usize = 2048;
/// Largest part: as much as no slot holds.
const PART_BYTES: u64 = 1 << 32;
/// Longest name of a flavour or version.
const WORD: usize = 64;
const FORM: &str = "gridbay-update";
const FIRST: &str = "gridbay-update 1\n";
const SIGNATURE: &str = "\nsignature ";

/// A part of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its root.
    Root,
    /// Its kernel.
    Kernel,
    /// Its initial RAM disk.
    Initrd,
}

/// All parts, in their order.
pub const PARTS: [Part; 3] = [Part::Root, Part::Kernel, Part::Initrd];

impl Part {
    /// Its file's name.
    pub fn name(self) -> &'static str {
        match self {
            Part::Root => "root.sqfs",
            Part::Kernel => "vmlinuz",
            Part::Initrd => "initrd.img",
        }
    }
}

/// Size and hash of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// Bytes.
    pub bytes: u64,
    /// BLAKE3.
    pub hash: [u8; 32],
}

/// What an update says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Its flavour.
    pub flavour: String,
    /// Its version.
    pub version: String,
    /// When it was built, in seconds since 1970.
    pub built: u64,
    /// Its parts, in the order of [`PARTS`].
    pub parts: [Sum; 3],
}

/// Tells an update from others: the hash of its header, of this length, or of all these bytes where
/// there is none. The header holds the hashes of all that follows.
pub fn id(head: &[u8], length: Option<usize>) -> String {
    let header = length.and_then(|length| head.get(..length));
    blake3::hash(header.unwrap_or(head)).to_hex().to_string()
}

/// Whether these bytes begin as an update does, of this form or another.
pub fn is_begun(head: &[u8]) -> bool {
    head.starts_with(FORM.as_bytes())
}

/// Why a header is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// It is no update.
    #[error("it is no update of an appliance")]
    Form,
    /// It is of another form.
    #[error("it is an update of another form than this system knows")]
    Version,
    /// There is no end.
    #[error("its header does not end within {HEADER_BYTES} bytes")]
    Long,
    /// The image trusts nobody.
    #[error("this image was built without an update key, so it takes no update")]
    NoKeys,
    /// It is not signed by a trusted key.
    #[error("no key that this image trusts has signed it")]
    Signature,
    /// A line is not as it should be.
    #[error("its header is signed, and its line {name} is not understood")]
    Line {
        /// What the line begins with.
        name: &'static str,
    },
    /// It can be written another way.
    #[error("its header is signed, and not written as headers are")]
    Spelling,
}

impl Manifest {
    /// A part's size and hash.
    pub fn sum(&self, part: Part) -> Sum {
        let [root, kernel, initrd] = self.parts;
        match part {
            Part::Root => root,
            Part::Kernel => kernel,
            Part::Initrd => initrd,
        }
    }
    /// Bytes of all parts.
    pub fn bytes(&self) -> u64 {
        self.parts
            .iter()
            .fold(0, |sum, part| sum.saturating_add(part.bytes))
    }
    /// The signed header.
    pub fn header(&self, key: &SigningKey) -> String {
        let text = self.text();
        let signature = keys::sign(key, text.as_bytes());
        format!("{text}signature {signature}\n")
    }
    /// The lines that are signed.
    fn text(&self) -> String {
        let mut text = format!(
            "{FIRST}flavour {}\nversion {}\nbuilt {}\n",
            self.flavour, self.version, self.built
        );
        for part in PARTS {
            let Sum { bytes, hash } = self.sum(part);
            let hash = HEXLOWER.encode(&hash);
            // A text takes all that is written to it.
            let _ = writeln!(text, "{} {bytes} {hash}", part.name());
        }
        text
    }
    /// Reads the header at the beginning of these bytes; answers its length as well.
    pub fn read(bytes: &[u8], trusted: &[VerifyingKey]) -> Result<(Manifest, usize), HeaderError> {
        if !bytes.starts_with(FIRST.as_bytes()) {
            return Err(match bytes.starts_with(FORM.as_bytes()) {
                true => HeaderError::Version,
                false => HeaderError::Form,
            });
        }
        let head = &bytes[..bytes.len().min(HEADER_BYTES)];
        let (text, signature) = halves(head).ok_or(HeaderError::Long)?;
        if trusted.is_empty() {
            return Err(HeaderError::NoKeys);
        }
        if !keys::is_signed(trusted, text.as_bytes(), signature) {
            return Err(HeaderError::Signature);
        }
        let manifest = parse(text)?;
        if manifest.text() != text {
            return Err(HeaderError::Spelling);
        }
        let length = text.len() + SIGNATURE.len() - 1 + signature.len() + 1;
        Ok((manifest, length))
    }
    /// Whether its words can stand in a header.
    pub fn is_sound(&self) -> bool {
        parse(&self.text()).as_ref() == Ok(self)
    }
}

/// The signed lines, and the signature.
fn halves(head: &[u8]) -> Option<(&str, &str)> {
    let mark = SIGNATURE.as_bytes();
    let at = head.windows(mark.len()).position(|part| part == mark)?;
    // The break before the signature's line ends the last signed line.
    let (text, rest) = head.split_at_checked(at + 1)?;
    let rest = rest.get(mark.len() - 1..)?;
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let signature = rest.get(..end)?;
    Some((
        std::str::from_utf8(text).ok()?,
        std::str::from_utf8(signature).ok()?,
    ))
}

fn parse(text: &str) -> Result<Manifest, HeaderError> {
    let mut lines = text.lines().skip(1);
    let mut value = |name: &'static str| {
        let line = lines.next().unwrap_or_default();
        let value = line.strip_prefix(name).and_then(|l| l.strip_prefix(' '));
        value.ok_or(HeaderError::Line { name })
    };
    let flavour = word("flavour", value("flavour")?)?;
    let version = word("version", value("version")?)?;
    let wrong = |name| HeaderError::Line { name };
    let built = value("built")?.parse().map_err(|_| wrong("built"))?;
    let mut part = |part: Part| {
        let name = part.name();
        sum(value(name)?).ok_or(HeaderError::Line { name })
    };
    let parts = [part(Part::Root)?, part(Part::Kernel)?, part(Part::Initrd)?];
    Ok(Manifest {
        flavour,
        version,
        built,
        parts,
    })
}

fn word(name: &'static str, value: &str) -> Result<String, HeaderError> {
    let known = |c: char| c.is_ascii_alphanumeric() || ".+~-".contains(c);
    let good = (1..=WORD).contains(&value.len()) && value.chars().all(known);
    good.then(|| value.to_owned())
        .ok_or(HeaderError::Line { name })
}

fn sum(value: &str) -> Option<Sum> {
    let (bytes, hash) = value.split_once(' ')?;
    let bytes = bytes.parse().ok()?;
    let hash = HEXLOWER.decode(hash.as_bytes()).ok()?.try_into().ok()?;
    (1..=PART_BYTES)
        .contains(&bytes)
        .then_some(Sum { bytes, hash })
}
