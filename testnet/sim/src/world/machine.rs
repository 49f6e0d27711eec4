//! One node's computer: its disk and clock, the things that outlive the node's process, and the
//! process itself.

use super::inbox::Reader;
use crate::clock::Clock;
use crate::found::{account_key, chain, node_key, provider, terms, validator_key};
use crate::liar::Lie;
use gridbay_core::agent::{Phase, RunId};
use gridbay_core::buyer::Record;
use gridbay_core::cluster::Cluster;
use gridbay_core::keeper::Held;
use gridbay_core::key::OrderKey;
use gridbay_core::relay::{Grant, Purse, Ticket};
use gridbay_core::reply::Reply;
use gridbay_core::seller::JobMemo;
use gridbay_core::withheld::Withheld;
use gridbay_core::{Core, Parts};
use gridbay_host::disk::MemDisk;
use gridbay_host::{Fault, Host, HostConfig};
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::ids::{ContentId, LeaseId};
use gridbay_protocol::job::JobSpec;
use std::collections::{BTreeMap, BTreeSet};

/// A job that the world plays.
#[derive(Clone, Debug)]
pub(crate) struct Played {
    pub(crate) spec: JobSpec,
    pub(crate) phase: Phase,
    /// Milliseconds that earlier attempts slept.
    pub(crate) slept_ms: u64,
}

/// The files on the machine besides the ledger's: durable when written.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    pub(crate) records: BTreeMap<OrderKey, Vec<u8>>,
    pub(crate) output: BTreeMap<(OrderKey, u32), Vec<u8>>,
    pub(crate) memos: BTreeMap<RunId, Vec<u8>>,
    pub(crate) jobs: BTreeMap<RunId, Played>,
    /// Checkpoints of own orders' tasks, by their manifests.
    pub(crate) checkpoints: BTreeMap<(OrderKey, u32), BTreeSet<ContentId>>,
    /// Copies of others' checkpoints.
    pub(crate) copies: Vec<Held>,
    /// The offers that the node holds back.
    pub(crate) withheld: Vec<u8>,
}

/// What a node's data plane holds.
#[derive(Debug, Default)]
pub(crate) struct Plane {
    pub(crate) clusters: BTreeMap<LeaseId, Cluster>,
    /// How many keys it gave up in each lease, since another member bore them.
    pub(crate) given_up: BTreeMap<LeaseId, u64>,
    pub(crate) grants: BTreeMap<(Purse, LeaseId), Grant>,
    /// When something last came by a relay, by ticket: stands for the bytes that came in all.
    pub(crate) came: BTreeMap<Ticket, u64>,
}

/// A machine.
pub struct Machine {
    /// The node's process; `None` while it is down.
    pub core: Option<Core>,
    /// Its disk.
    pub disk: MemDisk,
    /// Its clocks.
    pub clock: Clock,
    /// Counts the starts of its process.
    pub life: u64,
    /// Its lie, if it tells one.
    pub lie: Option<Box<dyn Lie>>,
    /// Replies to its user, of all lives.
    pub replies: Vec<Reply>,
    pub(crate) shelf: Shelf,
    pub(crate) plane: Plane,
    pub(crate) wake: Option<u64>,
    pub(crate) paused_until: u64,
    pub(crate) lag_ms: u64,
    /// How it reads, if slowly.
    pub(crate) reader: Option<Reader>,
    /// Effects after which the process ends, and what its disk keeps then.
    pub(crate) doomed: Option<(u64, crate::fault::Leaves)>,
    /// Whether its disk has been empty since its process ended, or has never had one.
    pub(crate) fresh: bool,
    /// Whether its disk refuses to write.
    pub(crate) disk_broken: bool,
}

impl Machine {
    pub(crate) fn new(lie: Option<Box<dyn Lie>>) -> Machine {
        Machine {
            core: None,
            disk: MemDisk::default(),
            clock: Clock::default(),
            life: 0,
            lie,
            replies: Vec::new(),
            shelf: Shelf::default(),
            plane: Plane::default(),
            wake: None,
            paused_until: 0,
            lag_ms: 0,
            reader: None,
            doomed: None,
            fresh: true,
            disk_broken: false,
        }
    }
    /// Starts the process of node `n` at world time `at`.
    pub(crate) fn start(
        &mut self,
        n: usize,
        genesis: &Genesis,
        validates: bool,
        at: u64,
    ) -> Result<(), Fault> {
        let config = HostConfig {
            genesis: genesis.clone(),
            key: validates.then(|| validator_key(n)),
            chain: validates.then(|| chain(n)),
            index: None,
        };
        let host = Host::open(config, Box::new(self.disk.clone()))?;
        let found = |(id, memo): (&RunId, &Vec<u8>)| {
            let phase = self.shelf.jobs.get(id).map_or(Phase::Unknown, |j| j.phase);
            (JobMemo::decode(memo).expect("own memo"), phase)
        };
        let parts = Parts {
            provider: provider(n, genesis),
            host,
            account_key: account_key(n),
            node: node_key(n),
            orders: self
                .shelf
                .records
                .values()
                .map(|record| Record::decode(record).expect("own record"))
                .collect(),
            jobs: self.shelf.memos.iter().map(found).collect(),
        };
        let mut core = Core::new(parts);
        core.seek_hints();
        core.relays(terms(n));
        core.keep_copies(self.shelf.copies.clone());
        self.plane = Plane::default();
        if !self.shelf.withheld.is_empty() {
            let offers = Withheld::decode(&self.shelf.withheld).expect("own offers");
            core.withhold(offers, false);
        }
        self.core = Some(core);
        self.life += 1;
        self.clock.booted = at;
        self.wake = None;
        self.doomed = None;
        self.paused_until = 0;
        Ok(())
    }
    /// Whether the process runs.
    pub fn is_up(&self) -> bool {
        self.core.is_some()
    }
    /// Whether it does what the rules say.
    pub fn is_honest(&self) -> bool {
        self.lie.is_none()
    }
}
