//! The journal: everything of the running height that a crash must not take away.
//!
//! One file of records holds the bodies of candidates, the statements this validator signed and the
//! stimuli that consensus went through, so that one sync makes all of them safe together:
//!
//! 1. bodies come before the verdicts on them, statements before the votes made of them;
//! 2. [`Journal::sync`] runs before anything signed leaves the node;
//! 3. a new height begins with a mark, and only after its parent is safe in the block file;
//! 4. a file larger than [`limits::JOURNAL_BYTES`] is replaced by a new one at a mark; and within a
//!    height, each time that it has grown by so much, by one without the bodies that the node has
//!    let go ([`Journal::cut`]). Statements and stimuli stay: they are two votes of each validator
//!    and two proposals a round;
//! 5. every record names its height, and marks ascend: a record of another height than the last
//!    mark's cannot have been written by this program, and the journal is refused.
//!
//! Beside these, entries that this validator has acknowledged ([`Promise`]) outlive the height:
//! those still in no block move along, in the mark, when the file is replaced.
//!
//! The statements double as the memory of the sign-guard.

use crate::consensus::Stimulus;
use crate::disk::Disk;
use crate::fault::Fault;
use crate::guard::Statement;
use crate::limits;
use crate::record::{RecordFile, scan};
use gridbay_protocol::block::Block;
use gridbay_protocol::codec;
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::ids::BlockId;
use serde::{Deserialize, Serialize};

/// Name of the file.
pub(crate) const FILE: &str = "journal";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Record {
    /// A height begins. The first mark of a new file holds the promises still open.
    Begin { promises: Vec<Promise> },
    /// An entry that this node acknowledged.
    Promise(Box<Promise>),
    /// The body of a candidate.
    Body(Box<Block>),
    /// The block that this node made for a round.
    Own { round: u32, block: BlockId },
    /// A statement that this node signed.
    Statement(Statement),
    /// Something that moved consensus.
    Stimulus(Stimulus),
}

/// A record with the height that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    height: u64,
    record: Record,
}

impl Line {
    fn encode(height: u64, record: Record) -> Vec<u8> {
        codec::encode(&Line { height, record })
    }
}

/// An entry that a validator has acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Promise {
    /// The entry.
    pub(crate) entry: SignedEntry,
    /// Height of the tip since which it counts as acknowledged.
    pub(crate) height: u64,
}

/// The contents of a journal when it was opened.
#[derive(Debug, Default)]
pub(crate) struct Recovered {
    /// Height of the last mark; 0 if there is none.
    pub(crate) height: u64,
    /// Bodies of that height, which stay on disk until one is asked for: block, place.
    pub(crate) bodies: Vec<(BlockId, u64)>,
    /// Own blocks of that height by round.
    pub(crate) own: Vec<(u32, BlockId)>,
    /// Own statements of that height.
    pub(crate) statements: Vec<Statement>,
    /// The inputs of consensus at that height.
    pub(crate) stimuli: Vec<Stimulus>,
    /// Entries acknowledged at any height, also such that blocks have taken since.
    pub(crate) promises: Vec<Promise>,
}

/// The open journal.
#[derive(Debug)]
pub(crate) struct Journal {
    file: RecordFile,
    height: u64,
    /// Bytes in the file when it was begun afresh.
    kept: u64,
}

impl Journal {
    /// Opens the journal and reads what the last height left in it.
    pub(crate) fn open(disk: &mut dyn Disk) -> Result<(Journal, Recovered), Fault> {
        let mut found = Recovered::default();
        let file = RecordFile::open(disk, FILE, |offset, payload| {
            let foreign = |what| Fault::Foreign {
                file: FILE.into(),
                offset,
                what,
            };
            let line = codec::decode(payload, limits::RECORD_BYTES);
            let Line { height, record } = line.map_err(|_| foreign("no record of the journal"))?;
            let fits = match record {
                Record::Begin { .. } => height > found.height,
                _ => height == found.height,
            };
            if !fits {
                return Err(foreign("a record of another height"));
            }
            match record {
                Record::Begin { promises } => {
                    let mut kept = std::mem::take(&mut found.promises);
                    kept.extend(promises);
                    found = Recovered {
                        height,
                        promises: kept,
                        ..Recovered::default()
                    }
                }
                Record::Promise(promise) => found.promises.push(*promise),
                Record::Body(block) => found.bodies.push((block.id(), offset)),
                Record::Own { round, block } => found.own.push((round, block)),
                Record::Statement(statement) => found.statements.push(statement),
                Record::Stimulus(stimulus) => found.stimuli.push(stimulus),
            }
            Ok(())
        })?;
        let journal = Journal {
            file,
            height: found.height,
            kept: 0,
        };
        Ok((journal, found))
    }
    /// The body at a place that [`Journal::open`] gave, as long as the file has not been begun
    /// afresh.
    pub(crate) fn read_body(&self, disk: &dyn Disk, place: u64) -> Result<Block, Fault> {
        let payload = self.file.read(disk, place)?;
        match codec::decode(&payload, limits::RECORD_BYTES) {
            Ok(Line {
                record: Record::Body(block),
                ..
            }) => Ok(*block),
            _ => Err(Fault::Foreign {
                file: FILE.into(),
                offset: place,
                what: "no body where one was",
            }),
        }
    }
    /// Whether so much was added since the file was begun that it should be cut.
    pub(crate) fn is_long(&self) -> bool {
        self.file.bytes() > self.kept.saturating_add(limits::JOURNAL_BYTES)
    }
    /// Begins the file afresh within a height: all but what earlier heights left and the bodies
    /// that `keeps` does not name. Safe on return; a crash before leaves the old file.
    pub(crate) fn cut(
        &mut self,
        disk: &mut dyn Disk,
        open: Vec<Promise>,
        keeps: impl Fn(&BlockId) -> bool,
    ) -> Result<(), Fault> {
        let mut places = Vec::new();
        scan(disk, FILE, |offset, payload| {
            let line = codec::decode(payload, limits::RECORD_BYTES);
            let Line { height, record } = line.map_err(|_| Fault::Corrupt {
                file: FILE.into(),
                offset,
            })?;
            let stays = match &record {
                Record::Begin { .. } | Record::Promise(_) => false,
                Record::Body(block) => keeps(&block.id()),
                Record::Own { .. } | Record::Statement(_) | Record::Stimulus(_) => true,
            };
            if stays && height == self.height {
                places.push(offset);
            }
            Ok(())
        })?;
        let mut fresh = RecordFile::create(disk, &format!("{FILE}.new"))?;
        let promises = Record::Begin { promises: open };
        fresh.append(disk, &Line::encode(self.height, promises))?;
        for place in places {
            let payload = self.file.read(disk, place)?;
            fresh.append(disk, &payload)?;
        }
        fresh.rename(disk, FILE)?;
        self.kept = fresh.bytes();
        self.file = fresh;
        Ok(())
    }
    /// Begins a height, unless it is the one the journal is at. `open` gives the promises still
    /// open.
    pub(crate) fn begin(
        &mut self,
        disk: &mut dyn Disk,
        height: u64,
        open: impl FnOnce() -> Vec<Promise>,
    ) -> Result<(), Fault> {
        if height <= self.height {
            return Ok(());
        }
        let mark = |promises| Line::encode(height, Record::Begin { promises });
        if self.file.bytes() > limits::JOURNAL_BYTES {
            self.file.restart(disk, &mark(open()))?;
            self.kept = 0;
        } else {
            self.file.append(disk, &mark(Vec::new()))?;
        }
        self.height = height;
        Ok(())
    }
    fn append(&mut self, disk: &mut dyn Disk, record: Record) -> Result<(), Fault> {
        let line = Line::encode(self.height, record);
        self.file.append(disk, &line).map(|_| ())
    }
    /// Keeps the body of a candidate.
    pub(crate) fn body(&mut self, disk: &mut dyn Disk, block: &Block) -> Result<(), Fault> {
        self.append(disk, Record::Body(Box::new(block.clone())))
    }
    /// Keeps which block this node made for a round.
    pub(crate) fn own(
        &mut self,
        disk: &mut dyn Disk,
        round: u32,
        block: BlockId,
    ) -> Result<(), Fault> {
        self.append(disk, Record::Own { round, block })
    }
    /// Keeps a statement.
    pub(crate) fn statement(&mut self, disk: &mut dyn Disk, said: Statement) -> Result<(), Fault> {
        self.append(disk, Record::Statement(said))
    }
    /// Keeps a stimulus.
    pub(crate) fn stimulus(
        &mut self,
        disk: &mut dyn Disk,
        stimulus: Stimulus,
    ) -> Result<(), Fault> {
        self.append(disk, Record::Stimulus(stimulus))
    }
    /// Keeps a promise.
    pub(crate) fn promise(&mut self, disk: &mut dyn Disk, promise: Promise) -> Result<(), Fault> {
        self.append(disk, Record::Promise(Box::new(promise)))
    }
    /// Makes everything safe.
    pub(crate) fn sync(&mut self, disk: &mut dyn Disk) -> Result<(), Fault> {
        self.file.sync(disk)
    }
}

#[cfg(test)]
mod tests;
