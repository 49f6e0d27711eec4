//! Opening a host:
//!
//! 1. the block file is read once from end to end, for its checksums (`blocks`, `record`);
//! 2. the index is thrown away unless it is of this block file (`index`);
//! 3. the state of the newest good snapshot is restored, or the genesis' (`snapshots`);
//! 4. the blocks after it are checked and executed, and the index takes those that it lacks;
//! 5. the journal is read; its statements bind the sign-guard.

use super::promises::restore;
use super::{Host, Now};
use crate::blocks::BlockFile;
use crate::candidates::Candidates;
use crate::catchup::Catchup;
use crate::checks::Checks;
use crate::disk::Disk;
use crate::early::Early;
use crate::fault::Fault;
use crate::guard::Guard;
use crate::heralds::Heralds;
use crate::index::Index;
use crate::journal::{Journal, Recovered};
use crate::message::DecidedBlock;
use crate::pacing::Pace;
use crate::receipts::Receipts;
use crate::reveals::Reveals;
use crate::serving::Serving;
use crate::signatures::Signatures;
use crate::snapshots::Snapshots;
use crate::spread::Spread;
use crate::stages::Stages;
use crate::suggested::Suggested;
use crate::trouble::ClockWatch;
use gridbay_ledger::{CheckedBlock, State};
use gridbay_protocol::beacon::Chain;
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::keys::SecretKey;
use gridbay_protocol::vote::Certificate;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::PathBuf;

/// The configuration of a host, besides its disk.
#[derive(Debug)]
pub struct HostConfig {
    /// The network.
    pub genesis: Genesis,
    /// Consensus key of this node's validator; `None` for a node that only follows.
    pub key: Option<SecretKey>,
    /// First beacon chain of this node's validator; later generations follow from it. Without it,
    /// the validator votes but never proposes.
    pub chain: Option<Chain>,
    /// Directory of the index; `None` keeps it in memory, from the snapshot on that the host starts
    /// from.
    pub index: Option<PathBuf>,
}

/// An error with all its causes, for messages about this node's own blocks.
pub(super) fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

/// Checks and applies a block of this node's block file.
fn repeat(state: &mut State, index: &mut Index, decided: DecidedBlock) -> Result<(), Fault> {
    let refused = |error: &dyn Error| Fault::Refused {
        height: decided.certificate.height,
        block: decided.certificate.block,
        reason: causes(error),
    };
    let block = CheckedBlock::check(&state.network(), decided.block.clone(), |_, _| None)
        .map_err(|e| refused(&e))?;
    let delta = state.execute(&block).map_err(|e| refused(&e))?;
    index.add(&block, delta.effects())?;
    state.commit(delta);
    Ok(())
}

/// Applies the blocks after a state; returns the certificate of the last block.
fn catch_up(
    state: &mut State,
    index: &mut Index,
    blocks: &BlockFile,
    disk: &dyn Disk,
) -> Result<Option<Certificate>, Fault> {
    let height = state.height();
    let mut certificate = blocks.read(disk, height)?.map(|tip| tip.certificate);
    for height in height + 1..=blocks.tip() {
        let decided = blocks.read(disk, height)?;
        let decided = decided.ok_or(Fault::Invariant("all heights up to the tip can be read"))?;
        certificate = Some(decided.certificate.clone());
        repeat(state, index, decided)?;
    }
    Ok(certificate)
}

/// Holds a guard to what the journal says was signed. A journal ahead of the block file still
/// binds: blocks were lost, signatures were not.
fn bind(mut guard: Guard, recovered: &Recovered) -> Guard {
    guard.advance(recovered.height);
    for statement in &recovered.statements {
        guard.recall(statement);
    }
    guard
}

impl Host {
    /// Opens the host on a disk and brings its state to the last block in the block file.
    ///
    /// # Errors
    /// The disk fails, one of the files is damaged, or the genesis is refused.
    pub fn open(config: HostConfig, mut disk: Box<dyn Disk>) -> Result<Host, Fault> {
        let mut state = State::genesis(&config.genesis)?;
        let blocks = BlockFile::open(&mut *disk)?;
        let mut index = Index::open(config.index.as_deref());
        let last = blocks.read(&*disk, index.applied())?;
        index.reconcile(last.map(|decided| decided.block.id()));
        let reach = index.reach();
        let snapshots = Snapshots::open(&mut *disk, &config.genesis, &blocks, reach, &mut state)?;
        if state.height() > 0 {
            index.begin_after(state.height(), state.tip());
        }
        let executed_from = state.height() + 1;
        let tip_certificate = catch_up(&mut state, &mut index, &blocks, &*disk)?;
        let (journal, mut recovered) = Journal::open(&mut *disk)?;
        let (network, next) = (state.network(), state.height() + 1);
        let guard = config.key.map(|key| Guard::new(network, key, next));
        let guard = guard.map(|guard| bind(guard, &recovered));
        let promises = std::mem::take(&mut recovered.promises);
        let mempool = guard.as_ref().map(|_| restore(&state, promises));
        let mut reveals = config.chain.map(Reveals::new);
        let validator = guard.as_ref().map(Guard::validator);
        let tip = validator.and_then(|id| state.beacon_tip(&id));
        if let (Some(reveals), Some(tip)) = (&mut reveals, tip) {
            // Searches all generations if need be: rather now than on our turn.
            reveals.turn_to(&tip);
        }
        tracing::info!(tip = state.height(), executed_from, "opened the ledger");
        // Over before the next snapshot is written, which may remove the only one that an index
        // of before reaches.
        index.begin_flush();
        Ok(Host {
            disk,
            blocks,
            journal,
            index,
            tip_certificate,
            guard,
            reveals,
            recovered: (recovered.height > state.height()).then_some(recovered),
            engine: None,
            candidates: Candidates::default(),
            timers: BTreeMap::new(),
            early: Early::default(),
            mempool: mempool.unwrap_or_default(),
            checks: Checks::default(),
            evidence: BTreeMap::new(),
            connected: BTreeSet::new(),
            heralds: Heralds::default(),
            catchup: Catchup::default(),
            serving: Serving::default(),
            pace: Pace::new(state.policy()),
            snapshots,
            stages: Stages::default(),
            signatures: Signatures::default(),
            spread: Spread::default(),
            clock: ClockWatch::default(),
            now: Now::default(),
            status_at: 0,
            effects: Vec::new(),
            relay: Vec::new(),
            given: Vec::new(),
            receipts: Receipts::default(),
            hints: Suggested::default(),
            signed: false,
            missing_told: BTreeSet::new(),
            sender: None,
            stopped: false,
            state,
        })
    }
}
