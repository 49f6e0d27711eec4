//! Checkpoints: what a job keeps of its progress, so that its next attempt need not begin at zero.
//!
//! A job names one folder of its work directory. What lies there is its checkpoint: a [`Manifest`]
//! lists the files with their sizes and hashes, and has a hash of its own. Files whose name, or
//! one of whose folders' names, begins with a dot or ends in `.tmp` are not part of it: a program
//! writes a file under such a name and renames it when it is whole.
//!
//! A manifest comes from a seller's node. Nothing of it is used before [`Manifest::decode`] has
//! found it in order.

use crate::codec;
use crate::ids::ContentId;
use crate::job::{INPUT_BYTES, InputFile, content_id, path_is_inside};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Seconds that a job may want between the notice and its end.
pub const GRACE_SECONDS: RangeInclusive<u32> = 1..=600;
/// Seconds between two checkpoints that a job may want.
pub const EVERY_SECONDS: RangeInclusive<u32> = 1..=86_400;
/// Seconds of grace of a job that names none.
pub const GRACE_DEFAULT: u32 = 20;
/// Seconds between two checkpoints of a job that names none.
pub const EVERY_DEFAULT: u32 = 300;

/// Files of one checkpoint at the most.
pub const CHECKPOINT_FILES: usize = 1_024;
/// Bytes of all files of one checkpoint at the most. The class's disk may allow less.
pub const CHECKPOINT_BYTES: u64 = 4 << 30;
/// Bytes of a manifest at the most.
pub const MANIFEST_BYTES: usize = 256 * 1024;
/// Bytes of a path in a manifest at the most, so that it can be made below any folder.
pub const MANIFEST_PATH: usize = 1_024;
/// Bytes of one name in a path at the most, as file systems have it.
pub const MANIFEST_NAME: usize = 255;
/// Folders that a file of a checkpoint may lie in at the most, one in another.
pub const MANIFEST_DEPTH: usize = 16;

/// Copies of checkpoints that one node keeps for others at the most, one of each unit that their
/// sellers hold beside it.
pub const COPIES: usize = 256;
/// Of one lease.
pub const COPIES_OF_LEASE: usize = COPIES / 4;
/// Bytes of all of them at the most, as much as of the checkpoints of an order.
pub const COPIES_BYTES: u64 = 64 << 30;
/// Nodes that a buyer's node asks for a copy of one run at the most.
pub const KEEPERS_ASKED: usize = 8;

/// How a job keeps its progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Folder of its checkpoint: a path below the work directory.
    #[cfg_attr(feature = "schema", schema(min_length = 1, max_length = 1024))]
    pub folder: String,
    /// Seconds that it wants between the notice of its end and the end. The owner of the machine
    /// may allow less.
    #[cfg_attr(feature = "schema", schema(minimum = 1, maximum = 600))]
    pub grace_seconds: u32,
    /// Seconds between two checkpoints while it runs.
    #[cfg_attr(feature = "schema", schema(minimum = 1, maximum = 86_400))]
    pub every_seconds: u32,
}

impl Checkpoint {
    /// Milliseconds between two fetches.
    pub fn every_ms(&self) -> u64 {
        u64::from(self.every_seconds) * 1_000
    }

    /// Whether the folder stays inside, lies apart from the inputs, and the times are in range.
    pub fn is_valid(&self, inputs: &[InputFile]) -> bool {
        let apart = |input: &InputFile| {
            let (one, other) = (input.path.as_str(), self.folder.as_str());
            one != other && !is_below(one, other) && !is_below(other, one)
        };
        path_fits(&self.folder)
            && inputs.iter().all(apart)
            && GRACE_SECONDS.contains(&self.grace_seconds)
            && EVERY_SECONDS.contains(&self.every_seconds)
    }
}

/// Whether a file or folder of this name is part of a checkpoint.
pub fn name_counts(name: &str) -> bool {
    !name.starts_with('.') && !name.ends_with(".tmp")
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a path can be made below any folder.
fn path_fits(path: &str) -> bool {
    path_is_inside(path)
        && path.len() <= MANIFEST_PATH
        && path.split('/').count() <= MANIFEST_DEPTH
        && path.split('/').all(|name| name.len() <= MANIFEST_NAME)
}

/// The files of one checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The files, sorted by path; paths are relative to the checkpoint's folder.
    pub files: Vec<InputFile>,
}

impl Manifest {
    /// Whether there is a file, all are in range and sorted, every path can be made, and no file is
    /// another one's folder.
    pub fn is_valid(&self) -> bool {
        let paths: BTreeSet<&str> = self.files.iter().map(|f| f.path.as_str()).collect();
        let counts = |path: &str| path_fits(path) && path.split('/').all(name_counts);
        let below_a_file = |path: &str| {
            let mut ends = path.match_indices('/').map(|(end, _)| end);
            ends.any(|end| paths.contains(&path[..end]))
        };
        (1..=CHECKPOINT_FILES).contains(&self.files.len())
            && self.files.windows(2).all(|w| w[0].path < w[1].path)
            && paths.iter().all(|p| counts(p) && !below_a_file(p))
            && self.files.iter().all(|f| f.bytes <= INPUT_BYTES)
            && self.bytes() <= CHECKPOINT_BYTES
            && codec::encode(self).len() <= MANIFEST_BYTES
    }
    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        let bytes = self.files.iter().map(|f| f.bytes);
        bytes.fold(0, u64::saturating_add)
    }
    /// Parses and checks what a node sent; `None` if anything about it is not in order.
    pub fn decode(bytes: &[u8]) -> Option<Manifest> {
        let manifest: Manifest = codec::decode(bytes, MANIFEST_BYTES).ok()?;
        manifest.is_valid().then_some(manifest)
    }
    /// What stands for the checkpoint in records and orders.
    pub fn snapshot(&self) -> Snapshot {
        let encoded = codec::encode(self);
        Snapshot {
            manifest: content_id(&encoded),
            manifest_bytes: u32::try_from(encoded.len()).unwrap_or(u32::MAX),
            files: u32::try_from(self.files.len()).unwrap_or(u32::MAX),
            bytes: self.bytes(),
        }
    }
}

/// One checkpoint, by the hash of its manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// Hash of the encoded manifest.
    pub manifest: ContentId,
    /// Bytes of the encoded manifest.
    pub manifest_bytes: u32,
    /// Files.
    pub files: u32,
    /// Bytes of all files.
    pub bytes: u64,
}

impl Snapshot {
    /// Whether the numbers are in range.
    pub fn is_valid(&self) -> bool {
        (1..=CHECKPOINT_FILES).contains(&(self.files as usize))
            && self.bytes <= CHECKPOINT_BYTES
            && self.manifest_bytes as usize <= MANIFEST_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, bytes: u64) -> InputFile {
        InputFile {
            path: path.into(),
            content: content_id(path.as_bytes()),
            bytes,
            executable: false,
        }
    }
    fn manifest(paths: &[&str]) -> Manifest {
        Manifest {
            files: paths.iter().map(|p| file(p, 1)).collect(),
        }
    }

    #[test]
    fn a_checkpoint_names_a_folder_apart_from_the_inputs_and_times_in_range() {
        let deep = vec!["d"; MANIFEST_DEPTH + 1].join("/");
        let inputs = [file("data/in", 1), file("seed", 1)];
        for (folder, grace_seconds, every_seconds, valid) in [
            ("ckpt", 20, 300, true),
            ("a/b", 1, 1, true),
            ("data/out", 600, 86_400, true),
            ("", 20, 300, false),
            ("/ckpt", 20, 300, false),
            ("../ckpt", 20, 300, false),
            ("a/../b", 20, 300, false),
            (&deep, 20, 300, false),
            ("data", 20, 300, false),
            ("seed", 20, 300, false),
            ("seed/more", 20, 300, false),
            ("ckpt", 0, 300, false),
            ("ckpt", 601, 300, false),
            ("ckpt", 20, 0, false),
            ("ckpt", 20, 86_401, false),
        ] {
            let checkpoint = Checkpoint {
                folder: folder.into(),
                grace_seconds,
                every_seconds,
            };
            assert_eq!(checkpoint.is_valid(&inputs), valid, "{checkpoint:?}");
        }
    }

    #[test]
    fn a_manifest_of_a_stranger_is_in_order_or_nothing() {
        let long = "n".repeat(MANIFEST_NAME + 1);
        let far = vec!["name"; MANIFEST_PATH].join("/");
        for (paths, valid) in [
            (&["a"][..], true),
            (&["a", "b/c", "b/d", "b.c"], false),
            (&["a", "b.c", "b/c", "b/d"], true),
            (&[], false),
            (&["b", "a"], false),
            (&["a", "a"], false),
            (&["../a"], false),
            (&["/a"], false),
            (&["a//b"], false),
            (&["a\0b"], false),
            (&["."], false),
            (&[".hidden"], false),
            (&["d/.hidden/f"], false),
            (&["half.tmp"], false),
            (&["half.tmp/f"], false),
            (&["a", "a/b"], false),
            (&["a", "a-b", "a/b"], false),
            (&[&long], false),
            (&[&far], false),
        ] {
            let manifest = manifest(paths);
            assert_eq!(manifest.is_valid(), valid, "{paths:?}");
            let bytes = codec::encode(&manifest);
            assert_eq!(Manifest::decode(&bytes), valid.then_some(manifest));
        }
        assert_eq!(Manifest::decode(b"junk"), None);
    }

    #[test]
    fn a_checkpoint_is_bounded_in_files_and_bytes() {
        let names: Vec<String> = (0..=CHECKPOINT_FILES).map(|n| format!("{n:04}")).collect();
        let mut many = manifest(&names.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(!many.is_valid());
        many.files.pop();
        assert!(many.is_valid() && many.snapshot().is_valid());
        let mut large = Manifest {
            files: vec![file("a", INPUT_BYTES + 1)],
        };
        assert!(!large.is_valid(), "one file");
        large.files = ["a", "b", "c", "d"].map(|p| file(p, INPUT_BYTES)).into();
        assert!(large.is_valid());
        large.files.push(file("e", 1));
        assert!(!large.is_valid(), "all files");
        let name = "x".repeat(MANIFEST_NAME - 4);
        let names: Vec<String> = (0..1_000).map(|n| format!("{name}{n:04}")).collect();
        let wide = manifest(&names.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(!wide.is_valid(), "the manifest itself");
    }
}
