//! Opening a host: the block file is executed from the genesis on, then the journal is read.

use super::promises::restore;
use super::{Host, Now};
use crate::blocks::BlockFile;
use crate::candidates::Candidates;
use crate::catchup::Catchup;
use crate::disk::Disk;
use crate::early::Early;
use crate::fault::Fault;
use crate::guard::Guard;
use crate::index::Index;
use crate::journal::Journal;
use crate::message::DecidedBlock;
use crate::pacing::Pace;
use crate::receipts::Receipts;
use crate::reveals::Reveals;
use crate::serving::Serving;
use gridbay_ledger::{CheckedBlock, State};
use gridbay_protocol::beacon::Chain;
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::keys::SecretKey;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::PathBuf;

/// What a host needs besides a disk.
#[derive(Debug)]
pub struct HostConfig {
    /// The network.
    pub genesis: Genesis,
    /// Consensus key of this node's validator; `None` for a node that only follows.
    pub key: Option<SecretKey>,
    /// First beacon chain of this node's validator; later generations follow from it. Without it, the
    /// validator votes but never proposes.
    pub chain: Option<Chain>,
    /// Directory of the index; `None` keeps it in memory.
    pub index: Option<PathBuf>,
}

/// An error with all its causes, for messages about our own blocks.
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

/// Checks and applies a block of our own block file.
fn repeat(state: &mut State, index: &mut Index, decided: DecidedBlock) -> Result<(), Fault> {
    let refused = |error: &dyn Error| Fault::Refused {
        height: decided.certificate.height,
        block: decided.certificate.block,
        reason: causes(error),
    };
    let block = CheckedBlock::check(&state.network(), decided.block.clone(), |_, _| None)
        .map_err(|e| refused(&e))?;
    let delta = state.execute(&block).map_err(|e| refused(&e))?;
    index.add(&block, delta.effects());
    state.commit(delta);
    Ok(())
}

/// Judges the index by the block file, before any block is applied to it.
fn reconcile(index: &mut Index, disk: &mut dyn Disk) -> Result<(), Fault> {
    let height = index.applied();
    if height == 0 {
        return Ok(());
    }
    let mut found = None;
    BlockFile::open(disk, |decided| {
        if decided.block.header.height == height {
            found = Some(decided.block.id());
        }
        Ok(())
    })?;
    index.reconcile(found);
    Ok(())
}

impl Host {
    /// Opens the host on a disk and brings its state to the last block in the block file.
    ///
    /// # Errors
    /// The disk fails, one of the files is damaged, or the genesis is refused.
    pub fn open(config: HostConfig, mut disk: Box<dyn Disk>) -> Result<Host, Fault> {
        let mut state = State::genesis(&config.genesis)?;
        let mut index = Index::open(config.index.as_deref());
        reconcile(&mut index, &mut *disk)?;
        let mut tip_certificate = None;
        let blocks = BlockFile::open(&mut *disk, |decided| {
            tip_certificate = Some(decided.certificate.clone());
            repeat(&mut state, &mut index, decided)
        })?;
        let (journal, mut recovered) = Journal::open(&mut *disk)?;
        let mut guard = config
            .key
            .map(|key| Guard::new(state.network(), key, state.height() + 1));
        if let Some(guard) = &mut guard {
            // A journal ahead of the block file still binds: blocks were lost, signatures were not.
            guard.advance(recovered.height);
            for statement in &recovered.statements {
                guard.recall(statement);
            }
        }
        let promises = std::mem::take(&mut recovered.promises);
        let pool = guard
            .as_ref()
            .map(|guard| restore(&state, &index, guard, promises));
        let mut reveals = config.chain.map(Reveals::new);
        let validator = guard.as_ref().map(Guard::validator);
        let tip = validator.and_then(|id| state.beacon_tip(&id));
        if let (Some(reveals), Some(tip)) = (&mut reveals, tip) {
            // Searches all generations if need be: rather now than on our turn.
            reveals.turn_to(&tip);
        }
        let pace = Pace::new(state.policy());
        tracing::info!(tip = state.height(), "opened the ledger");
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
            pool: pool.unwrap_or_default(),
            evidence: BTreeMap::new(),
            connected: BTreeSet::new(),
            catchup: Catchup::default(),
            serving: Serving::default(),
            pace,
            now: Now::default(),
            status_at: 0,
            effects: Vec::new(),
            relay: Vec::new(),
            given: Vec::new(),
            receipts: Receipts::default(),
            signed: false,
            sender: None,
            stopped: false,
            state,
        })
    }
}
