//! Fixture files: one per family, a line `name hex` for each pinned value.
//!
//! A test pins its values in a fixed order and then closes the file. Pinning compares with the
//! file; only under `GOLDEN=write` does closing write it instead. A line that nobody pins is an
//! error, so a fixture never outlives its sample.

use crate::rng::Rng;
use gridbay_protocol::codec;
use gridbay_protocol::ids::to_hex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::PathBuf;

/// No sample comes near; the bounds of single types are tested with their own checks.
const MAX: usize = 1 << 20;
const MUTATIONS: usize = 200;
const HEAD: &str = "# Pinned wire forms. A change here is a change of format: every network stops.\n\
                    # GOLDEN=write cargo test -p gridbay-protocol --test golden\n";

pub(crate) struct Fixture {
    path: PathBuf,
    write: bool,
    pinned: BTreeMap<String, String>,
    text: String,
}

impl Fixture {
    pub(crate) fn open(family: &str) -> Fixture {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        let path = folder.join(format!("{family}.txt"));
        let write = std::env::var("GOLDEN").is_ok_and(|v| v == "write");
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        let line = |line: &str| {
            let (name, hex) = line.split_once(' ').expect("a line is `name hex`");
            (name.to_owned(), hex.to_owned())
        };
        let lines = found.lines().filter(|l| !l.starts_with('#'));
        let pinned: BTreeMap<_, _> = lines.map(line).collect();
        Fixture {
            path,
            write,
            pinned,
            text: HEAD.to_owned(),
        }
    }

    /// Pins plain bytes: a hash, an id.
    pub(crate) fn pin(&mut self, name: &str, bytes: &[u8]) {
        let hex = to_hex(bytes);
        self.text.push_str(&format!("{name} {hex}\n"));
        if !self.write {
            let pinned = self.pinned.remove(name);
            assert_eq!(pinned.as_ref(), Some(&hex), "{name} changed its wire form");
        }
    }

    /// Pins a value: the sample encodes to the pinned bytes, the pinned bytes decode to the sample,
    /// and damaged bytes are refused or are another value's only encoding. `probe` calls what a
    /// node would call on a decoded value before it trusts it; it must never panic.
    pub(crate) fn sample<T>(&mut self, name: &str, value: &T, probe: impl Fn(&T))
    where
        T: Serialize + DeserializeOwned + PartialEq + Debug,
    {
        let bytes = codec::encode(value);
        self.pin(name, &bytes);
        assert_eq!(codec::decode::<T>(&bytes, MAX).as_ref(), Ok(value));
        probe(value);
        damage(name, &bytes, |bad| {
            let Ok(other) = codec::decode::<T>(bad, MAX) else {
                return false;
            };
            assert_eq!(codec::encode(&other), bad, "{name}: not canonical");
            assert_ne!(other, *value, "{name}: one value, two encodings");
            probe(&other);
            true
        });
    }

    pub(crate) fn close(self) {
        if self.write {
            std::fs::write(&self.path, self.text).expect("the fixture can be written");
        } else {
            assert_eq!(self.pinned.keys().next(), None, "pinned, but no sample");
        }
    }
}

/// Shows `accepts` every prefix, every text with one byte left out, and [`MUTATIONS`] texts with
/// one byte replaced. A definite-length encoding has no valid prefix.
pub(crate) fn damage(name: &str, bytes: &[u8], accepts: impl Fn(&[u8]) -> bool) {
    for cut in 0..bytes.len() {
        assert!(!accepts(&bytes[..cut]), "{name}: cut at {cut}");
        let mut shorter = bytes.to_vec();
        shorter.remove(cut);
        accepts(&shorter);
    }
    // The name seeds the generator, so every sample is damaged in other places.
    let hash = blake3::hash(name.as_bytes());
    let seed = hash.as_bytes().first_chunk().expect("a hash has 32 bytes");
    let mut rng = Rng(u64::from_be_bytes(*seed));
    for _ in 0..MUTATIONS {
        let mut bad = bytes.to_vec();
        bad[rng.below(bytes.len())] ^= 1 + rng.below(255) as u8;
        accepts(&bad);
    }
}
