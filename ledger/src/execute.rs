//! Execution of a block on the state, in this order:
//!
//! 1. the header, certificate and evidence are checked against the state; the reveal moves the
//!    beacon and the proposer's chain on;
//! 2. entries apply in the order of turns (see `turn`), each admitted on the state that the ones
//!    before it left;
//! 3. the steps after the entries run, above all the close of a round (see `close`); they must take
//!    all hints of the block;
//! 4. the bank publishes its figures, registered beacon chains begin to count (see `beacons`), and
//!    entries and tokens whose last height has come are forgotten;
//! 5. invariants are audited, then the roots compared with the header's.

use crate::admit::Admitted;
use crate::bank::figures;
use crate::checked::CheckedBlock;
use crate::delta::Delta;
use crate::record::{CHAIN, Chain, RecordChanges};
use crate::refusal::{BlockRefusal, Breach};
use crate::sell::reservation::Hints;
use crate::sell::sealed::unopened;
use crate::state::State;
use crate::tree::TreeDelta;
use crate::turn::Turns;
use crate::work::Work;
use crate::{audit, beacons, close, entry, log, roots};
use gridbay_protocol::beacon;
use gridbay_protocol::block::Header;
use gridbay_protocol::calendar;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{BlockId, Hash32, ValidatorId};
use gridbay_protocol::record::reservation::hint::Hint;

/// A finished execution, before the block has its id.
pub(crate) struct Outcome {
    pub(crate) chain: Chain,
    changes: RecordChanges,
    tree: TreeDelta,
    effects: Vec<Effect>,
    hints: Hints,
    /// Whether the ledger's own invariants hold.
    pub(crate) sound: Result<(), Breach>,
}

impl Outcome {
    /// The hints that were taken.
    pub(crate) fn hints(&self) -> &[Hint] {
        self.hints.taken()
    }
    pub(crate) fn state_root(&self) -> Hash32 {
        Hash32(self.tree.root())
    }
    pub(crate) fn effects_root(&self) -> Hash32 {
        let leaves: Vec<[u8; 32]> = self.effects.iter().map(Effect::leaf).collect();
        Hash32(log::merkle_root(&leaves))
    }
    pub(crate) fn into_delta(self, parent: BlockId, block: BlockId) -> Delta {
        Delta {
            parent,
            block,
            chain: self.chain,
            changes: self.changes,
            tree: self.tree,
            effects: self.effects.into(),
        }
    }
}

impl State {
    /// Executes a candidate for the next height. The state stays as it is.
    ///
    /// # Errors
    /// The first rule that the block breaks; one inadmissible entry is enough.
    pub fn execute(&self, block: &CheckedBlock) -> Result<Delta, BlockRefusal> {
        check_header(self, block)?;
        let header = block.header();
        let reveal = &header.beacon_reveal.0;
        let mut work = begin(self, header.proposer, header.time_ms, reveal);
        work.hints = Hints::of(&block.block().hints);
        let disorder = Turns::of(&work, block.entries()).disorder;
        if let Some(index) = disorder {
            return Err(BlockRefusal::Order(block.entries()[index].id()));
        }
        for entry in block.entries() {
            let admitted = Admitted::check(&work, entry);
            let admitted = admitted.map_err(|refusal| BlockRefusal::Entry {
                id: entry.id(),
                refusal,
            })?;
            entry::apply(&mut work, &admitted);
        }
        let outcome = finish(self, work);
        outcome.sound.clone()?;
        outcome.hints.all_taken()?;
        if header.effects_root != outcome.effects_root() {
            return Err(BlockRefusal::Root("effects_root"));
        }
        if header.state_root != outcome.state_root() {
            return Err(BlockRefusal::Root("state_root"));
        }
        Ok(outcome.into_delta(self.tip(), block.id()))
    }
}

/// The working set of the next block before its first entry.
pub(crate) fn begin<'a>(
    state: &'a State,
    proposer: ValidatorId,
    time_ms: u64,
    reveal: &[u8; 32],
) -> Work<'a> {
    let mut work = Work::begin(state, time_ms, reveal);
    work.tables.beacons.insert(proposer, Hash32(*reveal));
    unopened::note_auctioneer(&mut work.seals(), proposer);
    work
}

/// The steps after the entries, and the roots.
pub(crate) fn finish(state: &State, mut work: Work<'_>) -> Outcome {
    close::after_entries(&mut work);
    figures::close(&mut work.bank());
    beacons::turn(&mut work.beacons());
    forget(&mut work);
    let sound = audit::check(state, &work);
    let changes = work.tables.into_changes();
    let mut leaves = changes.leaves();
    let value = roots::record_value(&work.chain);
    leaves.insert(roots::record_key(CHAIN, &()), Some(value));
    let (_, tree) = state.tree.preview(&leaves);
    Outcome {
        chain: work.chain,
        changes,
        tree,
        effects: work.effects,
        hints: work.hints,
        sound,
    }
}

/// Forgets entries that can take effect no more, and once an epoch such tokens.
fn forget(work: &mut Work<'_>) {
    let height = work.height();
    let below = (height.saturating_add(1), Default::default());
    let gone: Vec<_> = work.tables.seen.range(..below).map(|(k, ())| *k).collect();
    for key in gone {
        work.tables.seen.remove(&key);
    }
    if calendar::epoch(height + 1) != calendar::epoch(height) {
        let tokens = work.tables.tokens.iter();
        let gone: Vec<_> = tokens
            .filter(|(_, until)| **until <= height)
            .map(|(k, _)| *k)
            .collect();
        for key in gone {
            work.tables.tokens.remove(&key);
        }
    }
}

fn check_header(state: &State, block: &CheckedBlock) -> Result<(), BlockRefusal> {
    let header = block.header();
    let network = state.network();
    if header.network != network {
        return Err(BlockRefusal::Foreign {
            height: header.height,
        });
    }
    let expected = state.height() + 1;
    if header.height != expected {
        return Err(BlockRefusal::Height {
            expected,
            found: header.height,
        });
    }
    if header.parent != state.tip() {
        return Err(BlockRefusal::Parent {
            expected: state.tip(),
            found: header.parent,
        });
    }
    if header.time_ms <= state.time_ms() {
        return Err(BlockRefusal::Time {
            parent: state.time_ms(),
            found: header.time_ms,
        });
    }
    let proposer = header.proposer;
    if state.validators().get(&proposer).is_none() {
        return Err(BlockRefusal::Proposer(proposer));
    }
    let reveals = state.beacon_tip(&proposer) == Some(beacon::step(&header.beacon_reveal.0));
    if !reveals {
        return Err(BlockRefusal::Reveal(proposer));
    }
    check_certificate(state, block)?;
    check_roots(state, header)?;
    check_evidence(state, block)
}

fn check_certificate(state: &State, block: &CheckedBlock) -> Result<(), BlockRefusal> {
    match &block.block().last_commit {
        None if state.height() == 0 => Ok(()),
        Some(certificate)
            if state.height() > 0
                && (certificate.height, certificate.block) == (state.height(), state.tip()) =>
        {
            certificate.verify(&state.network(), state.parent_validators())?;
            Ok(())
        }
        _ => Err(BlockRefusal::NotOfParent),
    }
}

fn check_roots(state: &State, header: &Header) -> Result<(), BlockRefusal> {
    let validators = state.validators().hash();
    if header.validators != validators {
        return Err(BlockRefusal::Root("validators"));
    }
    if header.next_validators != validators {
        return Err(BlockRefusal::Root("next_validators"));
    }
    if header.log_root != state.log_root() {
        return Err(BlockRefusal::Root("log_root"));
    }
    Ok(())
}

fn check_evidence(state: &State, block: &CheckedBlock) -> Result<(), BlockRefusal> {
    let evidence = &block.block().evidence;
    for (index, item) in evidence.iter().enumerate() {
        let past = item.first.height <= state.height();
        let new = !evidence[..index].contains(item);
        if !past || !new || !item.convicts(&state.network(), state.validators()) {
            return Err(BlockRefusal::Evidence(index));
        }
    }
    Ok(())
}
