//! The orders that a rank of a held cluster takes, and its answers.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use gridbay_protocol::ids::byte_array;
use gridbay_protocol::keys::PublicKey;
use serde::{Deserialize, Serialize};

use crate::terminal::Size;

/// Number of a program or a transfer, chosen by the one who asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Id(#[serde(with = "byte_array")] pub(crate) [u8; 16]);

/// How long a program or a transfer waits for its asker to come back.
pub(crate) const KEEP: Duration = Duration::from_secs(300);

/// The reason for which [`is_name`] refuses a name.
pub(crate) const NO_NAME: &str = "a name has 1 to 64 characters, and no control characters";

/// Whether ranks take a name for an admitted key.
pub(crate) fn is_name(name: &str) -> bool {
    let count = name.chars().count();
    (1..=64).contains(&count) && !name.chars().any(char::is_control)
}

/// What a rank is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Command {
    /// To run a program; [`Answer::Taken`].
    Start(Start),
    /// To go on with a program whose connection was cut; [`Answer::Taken`].
    Resume {
        /// The program.
        session: Id,
        /// Frames that came of it.
        received: u64,
    },
    /// To take files; [`Answer::Have`].
    Put(Put),
    /// To write all that comes into a file, as it comes: what the way itself carries, to measure
    /// transfers by. [`Answer::Done`].
    Plain {
        /// Where to.
        to: String,
    },
    /// To send files; [`Answer::Sending`].
    Get(Get),
    /// To tell what runs; [`Answer::Programs`].
    List,
    /// To end programs; [`Answer::Stopped`], once they are gone.
    Stop {
        /// A program's number; all of those that the asker may end if `None`.
        program: Option<u32>,
        /// Seconds between the polite word and the last one, at most [`GRACE`].
        grace: u32,
    },
    /// To let another key give orders; the owner's alone. [`Answer::Done`].
    Admit {
        /// The key.
        key: PublicKey,
        /// Name for people.
        name: String,
    },
    /// To let a key give orders no longer; the owner's alone. [`Answer::Done`].
    Dismiss {
        /// The key.
        key: PublicKey,
    },
}

/// Seconds for a polite end at the most.
pub(crate) const GRACE: u32 = 60;

/// A program to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Start {
    /// Its number.
    pub(crate) session: Id,
    /// Program and arguments; a shell if empty.
    pub(crate) argv: Vec<String>,
    /// Variables beside those of the job.
    pub(crate) env: BTreeMap<String, String>,
    /// The folder in which it runs, made if it is not there; the job's own if empty.
    #[serde(default)]
    pub(crate) folder: String,
    /// Whether it has a terminal, and of which size.
    pub(crate) terminal: Option<Size>,
}

/// Files for a rank. Their names and contents follow in frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Put {
    /// Number of the transfer; the same after a cut.
    pub(crate) transfer: Id,
    /// Where to; relative to the job's folder.
    pub(crate) to: String,
    /// Whether that is a folder to put them into, also where it is not there yet.
    pub(crate) into: bool,
}

/// Files of a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Get {
    /// Files and folders; relative to the job's folder.
    pub(crate) paths: Vec<String>,
    /// What is here already.
    pub(crate) after: Option<Mark>,
}

/// How far files came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// Whole items.
    pub(crate) items: u64,
    /// The item behind them, if it has begun.
    pub(crate) item: Option<Item>,
    /// Bytes of it.
    pub(crate) bytes: u64,
}

/// A file or folder on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Item {
    /// Path, relative, without `..`.
    pub(crate) path: String,
    /// Permission bits.
    pub(crate) mode: u32,
    /// Bytes; `None` for a folder.
    pub(crate) bytes: Option<u64>,
    /// When it was changed, nanoseconds since 1970: a file that changes meanwhile is sent anew.
    pub(crate) changed: u64,
    /// Bytes of it that are there already and do not follow.
    #[serde(default)]
    pub(crate) from: u64,
}

/// The answer to an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The program runs; frames of both sides follow.
    Taken {
        /// Frames that came for it.
        received: u64,
    },
    /// So far the transfer came: whole items, and bytes of the next.
    Have {
        /// Whole items.
        items: u64,
        /// Bytes.
        bytes: u64,
    },
    /// Items follow.
    Sending,
    /// What runs.
    Programs(Vec<Program>),
    /// So many programs ended.
    Stopped(u32),
    /// It is done.
    Done,
    /// It is not done.
    Refused(Refusal),
}

/// Why an order is not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    /// The kind.
    pub(crate) kind: Why,
    /// In words.
    pub(crate) why: String,
}

/// Kinds of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Why {
    /// The key may not.
    Forbidden,
    /// There is no such thing.
    NotFound,
    /// The order cannot be understood.
    Invalid,
    /// There is no room for more.
    Busy,
    /// It failed.
    Failed,
    /// The rank cannot be reached: said by a node on the way.
    Unreachable,
}

impl Refusal {
    /// A refusal.
    pub(crate) fn new(kind: Why, why: impl Into<String>) -> Refusal {
        let why = why.into();
        Refusal { kind, why }
    }

    /// Of what the system says.
    pub(crate) fn failed(error: &io::Error) -> Refusal {
        Refusal::new(Why::Failed, error.to_string())
    }
}

/// A program that runs on a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Program {
    /// Number on its rank.
    pub(crate) program: u32,
    /// Program and arguments.
    pub(crate) argv: Vec<String>,
    /// Name of whoever started it.
    pub(crate) by: String,
    /// Milliseconds since its start.
    pub(crate) age_ms: u64,
    /// Milliseconds of processors, of all its processes.
    pub(crate) cpu_ms: u64,
    /// Processes.
    pub(crate) processes: u32,
    /// Whether somebody is connected to it.
    pub(crate) connected: bool,
}
