//! The host: one machine around the ledger that turns inputs into effects.
//!
//! A step
//! 1. applies its input,
//! 2. handles everything that has become due: timers, missing bodies, catch-up, the next height,
//! 3. syncs the block file if a block was decided, and the journal if something was signed for a
//!    height still open: one sync each, before any effect of the step reaches the caller,
//! 4. writes a snapshot of the state if one is due,
//! 5. says when it wants to be woken.
//!
//! That makes three syncs per height: prevote, precommit, block. A block that is safe makes
//! everything signed for its height superfluous, so its step needs no sync of the journal.
//!
//! A validator votes through an [`Engine`]; everybody, also a validator that fell behind, follows
//! by certificates (`sync`). An error of [`Host::step`] is a [`Fault`] of this node: no effect of
//! that step leaves it, no later step is taken, and the node stops. Opened again on a disk that
//! works, it goes on.

mod bodies;
mod commit;
mod entries;
mod height;
mod inbox;
mod io;
mod open;
mod promises;
mod query;
mod short;
mod sizes;
mod sync;

pub use io::{Equivocation, HostEffect, HostInput, Now, Offence, Received};
pub use open::HostConfig;
pub use sizes::Sizes;

use crate::blocks::BlockFile;
use crate::candidates::Candidates;
use crate::catchup::{Catchup, Peer};
use crate::checks::Checks;
use crate::consensus::{Engine, Timer};
use crate::disk::Disk;
use crate::early::Early;
use crate::fault::Fault;
use crate::guard::Guard;
use crate::heralds::Heralds;
use crate::index::Index;
use crate::journal::{Journal, Recovered};
use crate::limits;
use crate::mempool::{Given, Mempool};
use crate::message::{HostMessage, Status};
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
use gridbay_ledger::State;
use gridbay_protocol::entry::SignedEntry;
use gridbay_protocol::evidence::Evidence;
use gridbay_protocol::ids::{EntryId, ValidatorId};
use gridbay_protocol::record::reservation::hint::Hint;
use gridbay_protocol::vote::{Certificate, VoteKind};
use std::collections::{BTreeMap, BTreeSet};

/// Whom evidence convicts, and of what: one item per statement is enough.
type Crime = (u64, u32, VoteKind, ValidatorId);

/// The ledger host of one node.
pub struct Host {
    disk: Box<dyn Disk>,
    state: State,
    blocks: BlockFile,
    journal: Journal,
    index: Index,
    /// Certificate of the tip; `None` at height 0.
    tip_certificate: Option<Certificate>,
    guard: Option<Guard>,
    reveals: Option<Reveals>,
    /// The journal's records for the height after the tip.
    recovered: Option<Recovered>,
    engine: Option<Engine>,
    candidates: Candidates,
    timers: BTreeMap<Timer, u64>,
    early: Early,
    mempool: Mempool,
    /// Checks of entries that peers caused for nothing.
    checks: Checks,
    evidence: BTreeMap<Crime, Evidence>,
    connected: BTreeSet<Peer>,
    heralds: Heralds,
    catchup: Catchup,
    serving: Serving,
    pace: Pace,
    snapshots: Snapshots,
    stages: Stages,
    signatures: Signatures,
    /// How long others lack an entry that we have.
    spread: Spread,
    clock: ClockWatch,
    now: Now,
    /// When to state our tip again.
    status_at: u64,
    effects: Vec<HostEffect>,
    /// Entries to send to all validators at the end of the step.
    relay: Vec<SignedEntry>,
    /// Promises of ours to tell at the end of the step.
    given: Vec<(Peer, Given)>,
    /// What validators promise for our own entries.
    receipts: Receipts,
    /// Better allocations for the next boundary.
    hints: Suggested,
    /// Whether something was signed that only the journal can make safe.
    signed: bool,
    /// Missing entries sent along with votes of this height.
    missing_told: BTreeSet<EntryId>,
    /// The sender of the message being handled.
    sender: Option<Peer>,
    stopped: bool,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host")
            .field("tip", &self.state.height())
            .field("engine", &self.engine)
            .field("mempool", &self.mempool.len())
            .finish_non_exhaustive()
    }
}

impl Host {
    /// Applies an input at a time and returns what to do, in order.
    ///
    /// # Errors
    /// A fault of this node. The host refuses all further steps.
    pub fn step(&mut self, now: Now, input: HostInput) -> Result<Vec<HostEffect>, Fault> {
        if self.stopped {
            return Err(Fault::Invariant(
                "a host that had a fault takes no further step",
            ));
        }
        self.now.mono_ms = self.now.mono_ms.max(now.mono_ms);
        self.now.wall_ms = now.wall_ms;
        self.mempool.set_time(self.now.mono_ms);
        let done = self.apply(input).and_then(|()| self.advance());
        let done = done.and_then(|()| self.make_safe());
        if let Err(fault) = done {
            self.stopped = true;
            return Err(fault);
        }
        let evicted = self.mempool.take_evicted().into_iter();
        self.effects
            .extend(evicted.map(|(entry, refusal)| HostEffect::EntryRefused { entry, refusal }));
        self.flush_relay();
        self.flush_promises();
        let wake = self.wake_at();
        self.effects.push(HostEffect::WakeAt(wake));
        Ok(std::mem::take(&mut self.effects))
    }

    fn apply(&mut self, input: HostInput) -> Result<(), Fault> {
        match input {
            HostInput::Start => {
                self.gather();
                Ok(())
            }
            HostInput::Tick => Ok(()),
            HostInput::Message { from, message } => self.receive(from, message),
            HostInput::Submit(entries) => {
                entries.into_iter().for_each(|entry| self.submit(entry));
                self.complete()
            }
            HostInput::PeerUp(peer) => {
                if self.connected.len() < limits::PEERS {
                    self.connected.insert(peer);
                }
                self.gather();
                self.greet(peer);
                self.repeat_own(peer);
                Ok(())
            }
            HostInput::PeerDown(peer) => {
                self.connected.remove(&peer);
                self.catchup.gone(&peer);
                self.serving.gone(&peer);
                Ok(())
            }
        }
    }

    /// Does everything that is due, until nothing is.
    fn advance(&mut self) -> Result<(), Fault> {
        let now = self.now.mono_ms;
        loop {
            let due = self.timers.iter().find(|(_, at)| **at <= now);
            if let Some(timer) = due.map(|(timer, _)| *timer) {
                self.timers.remove(&timer);
                self.drive(crate::consensus::Stimulus::Timeout(timer))?;
            } else if self.height_due().is_some_and(|at| at <= now) {
                self.begin_height()?;
            } else {
                break;
            }
        }
        self.ask_for_bodies();
        self.ask_for_blocks();
        self.serve()?;
        if self.status_at <= now {
            self.state_tip();
        }
        Ok(())
    }

    /// Makes safe what the effects of this step rely on.
    fn make_safe(&mut self) -> Result<(), Fault> {
        self.blocks.sync(&mut *self.disk)?;
        if self.journal.is_long() && self.engine.is_some() {
            let open = self.mempool.open_promises();
            let keeps = |id: &_| self.candidates.get(id).is_some();
            self.journal.cut(&mut *self.disk, open, keeps)?;
        }
        if std::mem::take(&mut self.signed) {
            let written = self.write_promises()?;
            self.journal.sync(&mut *self.disk)?;
            self.give_promises(written);
        }
        if self.snapshots.is_due(&self.blocks) {
            // After a kill the index reaches at least as far as the snapshot before this one,
            // which is kept.
            self.index.begin_flush();
            self.snapshots
                .write(&mut *self.disk, &self.blocks, &self.state)?;
        }
        Ok(())
    }
    /// Offers an allocation for a decision on reservations at the next boundary. If a block of this
    /// node's decides on them and it is right and better than what the rule finds there, the block
    /// carries it.
    pub fn suggest(&mut self, hint: Hint) {
        self.hints.keep(&self.state, hint);
    }
    /// Sets how many blocks at most lie between two snapshots, [`limits::SNAPSHOT_BLOCKS`] by
    /// default: for simulators and tests that want many.
    pub fn snapshot_every(&mut self, blocks: u64) {
        self.snapshots.set_every(blocks);
    }

    /// From now on checks the signatures of entries that come together on so many cores, if that
    /// is more than the one that a host has by itself.
    pub fn use_cores(&mut self, cores: usize) {
        self.signatures.cores = cores;
    }
    /// Times its stages from now on, all but the disk's.
    pub fn measure(&mut self, stages: Stages) {
        self.stages = stages;
    }
    /// What times the stages.
    pub fn stages(&self) -> &Stages {
        &self.stages
    }

    fn wake_at(&self) -> u64 {
        let timers = self.timers.values().copied().min();
        let catchup = self.catchup.due(self.state.height(), self.engine.is_some());
        [
            timers,
            self.height_due(),
            self.candidates.due(),
            catchup,
            self.serving.due(),
            Some(self.status_at),
        ]
        .into_iter()
        .flatten()
        .min()
        .unwrap_or(self.status_at)
        .max(self.now.mono_ms)
    }

    /// Checks whether more than two thirds of the power are connected.
    fn gather(&mut self) {
        let set = self.state.validators();
        let own = self.guard.as_ref().map(Guard::validator);
        let here = set.members().iter().filter(|member| {
            own == Some(member.id) || self.connected.contains(member.node.as_bytes())
        });
        if set.is_quorum(here.map(|member| member.power).sum()) {
            self.pace.gather();
        }
    }
    /// Tells how far our book reaches.
    fn state_tip(&mut self) {
        let tip = self.state.height();
        self.status_at = self.now.mono_ms.saturating_add(limits::STATUS_MS);
        let nodes: BTreeSet<Peer> = match self.guard {
            Some(_) => self.validators_nodes().collect(),
            None => BTreeSet::new(),
        };
        let fellow = |peer: &Peer| nodes.contains(peer);
        let knows = |peer: &Peer| self.catchup.has(peer, tip);
        for peer in self.heralds.choose(tip, &self.connected, fellow, knows) {
            self.send(peer, HostMessage::Status(Status { tip }));
        }
    }
    fn broadcast(&mut self, message: HostMessage) {
        self.effects.push(HostEffect::Broadcast(message));
    }
    fn send(&mut self, to: Peer, message: HostMessage) {
        self.effects.push(HostEffect::Send { to, message });
    }
    fn penalise(&mut self, peer: Peer, offence: Offence) {
        self.effects.push(HostEffect::Penalise { peer, offence });
    }
}
