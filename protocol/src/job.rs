//! Jobs: the programs that run on leases. Only the buyer and its sellers see the text of a job; the
//! ledger sees its hash.

use crate::checkpoint::Checkpoint;
use crate::codec;
use crate::hash::{Domain, PartHasher, hash};
use crate::ids::{ContentId, Hash32};
use serde::{Deserialize, Serialize};

/// One input file, staged by its content hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct InputFile {
    /// Path below the job's work directory; relative, no `..`.
    #[cfg_attr(feature = "schema", schema(min_length = 1, max_length = 4096))]
    pub path: String,
    /// Hash of the content.
    pub content: ContentId,
    /// Size in bytes.
    #[cfg_attr(feature = "schema", schema(maximum = 1_073_741_824))]
    pub bytes: u64,
    /// Whether it may be executed.
    pub executable: bool,
}

/// A job: the same program on every leased unit, told apart by `GRIDBAY_RANK`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// Program and arguments; the program is looked up in the work directory, then in PATH.
    pub argv: Vec<String>,
    /// Environment, sorted by name.
    pub env: Vec<(String, String)>,
    /// Input files, sorted by path.
    pub inputs: Vec<InputFile>,
    /// Files to bring back, relative paths, sorted.
    pub outputs: Vec<String>,
    /// Hard limit on the running time in seconds.
    pub wall_seconds: u32,
    /// Whether its tasks reach one another: each has an address in the private network of the
    /// lease.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// Whether it may reach the web: its seller's node carries its connections to ports 80 and 443.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub internet: bool,
    /// How it keeps its progress, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
}

/// Arguments, variables or files of one job at the most.
pub const JOB_ITEMS: usize = 1_024;
/// Characters of one argument, variable or path at the most.
pub const JOB_TEXT: usize = 4_096;
/// Bytes of a job spec at the most.
pub const JOB_BYTES: usize = 256 * 1024;

/// Bytes of one input file at the most.
pub const INPUT_BYTES: u64 = 1 << 30;
/// Bytes of all input files of a job at the most.
pub const INPUTS_BYTES: u64 = 4 << 30;

impl JobSpec {
    /// Whether all lists and texts are in range, sorted where they must be, and paths stay inside.
    pub fn is_valid(&self) -> bool {
        let text = |s: &String| s.len() <= JOB_TEXT && !s.contains('\0');
        let lists = [
            self.argv.len(),
            self.env.len(),
            self.inputs.len(),
            self.outputs.len(),
        ];
        lists.iter().all(|n| *n <= JOB_ITEMS)
            && self.argv.first().is_some_and(|program| !program.is_empty())
            && self.argv.iter().all(text)
            && self
                .env
                .iter()
                .all(|(k, v)| text(k) && text(v) && !k.is_empty() && !k.contains('='))
            && self.env.windows(2).all(|w| w[0].0 < w[1].0)
            && self.inputs.iter().all(|f| path_is_inside(&f.path))
            && self.inputs.windows(2).all(|w| w[0].path < w[1].path)
            && self.outputs.iter().all(|p| path_is_inside(p))
            && self.outputs.windows(2).all(|w| w[0] < w[1])
            && self.wall_seconds > 0
            && self.inputs.iter().all(|f| f.bytes <= INPUT_BYTES)
            && self.input_bytes() <= INPUTS_BYTES
            && self
                .checkpoint
                .as_ref()
                .is_none_or(|c| c.is_valid(&self.inputs))
            && codec::encode(self).len() <= JOB_BYTES
    }
    /// Bytes of all input files.
    pub fn input_bytes(&self) -> u64 {
        let bytes = self.inputs.iter().map(|input| input.bytes);
        bytes.fold(0, u64::saturating_add)
    }
    /// The hash that an order carries; it binds buyer and sellers to this text. The salt keeps
    /// others from guessing the text.
    pub fn work(&self, salt: &[u8; 32]) -> Hash32 {
        Hash32(hash(Domain::Work, &[salt, &codec::encode(self)]))
    }
}

/// Whether a path is relative and stays below its directory.
pub fn path_is_inside(path: &str) -> bool {
    !path.is_empty()
        && path.len() <= JOB_TEXT
        && !path.contains('\0')
        && path
            .split('/')
            .all(|part| !part.is_empty() && part != "." && part != "..")
}

/// Hash of a file's content.
pub fn content_id(bytes: &[u8]) -> ContentId {
    ContentId(hash(Domain::Content, &[bytes]))
}

/// [`content_id`] of a file that arrives piece by piece.
#[derive(Debug)]
pub struct ContentHasher {
    hasher: PartHasher,
    left: u64,
}

impl ContentHasher {
    /// A hasher for a file of `bytes` bytes.
    pub fn new(bytes: u64) -> ContentHasher {
        ContentHasher {
            hasher: PartHasher::new(Domain::Content, bytes),
            left: bytes,
        }
    }
    /// Takes the next piece; false, and the piece is ignored, if it exceeds the announced size.
    #[must_use]
    pub fn update(&mut self, piece: &[u8]) -> bool {
        match self.left.checked_sub(piece.len() as u64) {
            Some(left) => {
                self.left = left;
                self.hasher.update(piece);
                true
            }
            None => false,
        }
    }
    /// The id, if as many bytes arrived as were announced.
    pub fn finish(self) -> Option<ContentId> {
        (self.left == 0).then(|| ContentId(self.hasher.finish()))
    }
}

/// How a job's process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobExit {
    /// Ended by itself with this code.
    Code(i32),
    /// Killed by this signal.
    Signal(i32),
    /// Reached its time limit.
    TimeLimit,
    /// Stopped because the lease ended or was preempted.
    Stopped,
    /// Could not be started, or was lost with its host.
    Lost,
    /// Held more on the disk than its unit has; its files were removed.
    DiskLimit,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_has_one_id_however_it_comes() {
        let mut hasher = ContentHasher::new(5);
        assert!(hasher.update(b"he") && hasher.update(b"llo"));
        assert!(!hasher.update(b"!"), "more than announced");
        assert_eq!(hasher.finish(), Some(content_id(b"hello")));
        assert_eq!(ContentHasher::new(1).finish(), None, "less than announced");
    }

    #[test]
    fn a_job_that_could_not_travel_is_not_valid() {
        let mut spec = JobSpec {
            argv: vec!["a".into()],
            env: vec![],
            inputs: vec![],
            outputs: vec![],
            wall_seconds: 1,
            network: false,
            internet: false,
            checkpoint: None,
        };
        assert!(spec.is_valid());
        let plain = codec::encode(&spec);
        assert!(!plain.windows(10).any(|w| w == b"checkpoint"));
        spec.checkpoint = Some(Checkpoint {
            folder: "ckpt".into(),
            grace_seconds: 20,
            every_seconds: 300,
        });
        assert!(spec.is_valid() && codec::encode(&spec) != plain);
        let back: Result<JobSpec, _> = codec::decode(&codec::encode(&spec), JOB_BYTES);
        assert_eq!(back.as_ref(), Ok(&spec));
        spec.checkpoint = Some(Checkpoint {
            folder: "../ckpt".into(),
            grace_seconds: 20,
            every_seconds: 300,
        });
        assert!(!spec.is_valid(), "a folder outside");
        spec.checkpoint = None;
        assert!(!plain.windows(8).any(|w| w == b"internet"));
        spec.internet = true;
        assert!(spec.is_valid() && codec::encode(&spec) != plain);
        assert_eq!(
            codec::decode(&codec::encode(&spec), JOB_BYTES),
            Ok(spec.clone())
        );
        spec.argv = vec!["x".repeat(JOB_TEXT); JOB_BYTES / JOB_TEXT];
        assert!(!spec.is_valid(), "too many bytes in all");
        spec.argv.truncate(1);
        let bytes = INPUT_BYTES + 1;
        let content = content_id(b"");
        spec.inputs = vec![InputFile {
            path: "big".into(),
            content,
            bytes,
            executable: false,
        }];
        assert!(!spec.is_valid(), "a file without end");
    }

    #[test]
    fn paths_stay_inside() {
        for good in ["a", "a/b", ".hidden", "a..b/c"] {
            assert!(path_is_inside(good), "{good}");
        }
        for bad in ["", "/a", "a/../b", "..", ".", "a//b", "a/", "a\0b"] {
            assert!(!path_is_inside(bad), "{bad:?}");
        }
    }
}
