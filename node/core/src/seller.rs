//! The seller's agent: acknowledges leases on its own offers and runs the buyers' jobs on them.
//!
//! After every block:
//!
//! 1. each lease that holds units of this node's offers and is not acknowledged yet is acknowledged
//!    (unless the node drains or its disk is short of room: then it is failed at once, so the buyer
//!    waits for nothing);
//! 2. once a slot, while it serves acknowledged leases, the node gives a sign of life for all of
//!    them together: an acknowledgement of that slot is one already;
//! 3. each job whose lease is gone, or holds fewer units here than jobs, is stopped with grace;
//! 4. networks of leases lose the members that left the lease;
//! 5. what is carried for others ends with what pays for it.
//!
//! `start` decides which jobs a buyer may start.

mod cluster;
mod copies;
mod relay;
mod start;

use crate::agent::{Phase, PollJob, RunId};
use crate::cluster::Cluster;
use crate::effect::Effect;
use crate::input::AnswerToken;
use crate::keeper::KEEP_HEIGHTS;
use gridbay_ledger::{Lease, State};
use gridbay_protocol::checkpoint::Checkpoint;
use gridbay_protocol::codec::{self, CodecError};
use gridbay_protocol::entry::EntryBody;
use gridbay_protocol::ids::{AccountId, LeaseId, OfferId};
use gridbay_protocol::job::{JOB_BYTES, JobExit, JobSpec};
use gridbay_protocol::keys::PublicKey;
use gridbay_protocol::lease::Share;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Heights after which an acknowledgement that has not shown up is sent again.
const REPEAT_HEIGHTS: u64 = 8;
/// Heights after which a sign of life that has not shown up is sent again.
const BEAT_HEIGHTS: u64 = 3;
/// Jobs that one node runs or remembers at the most. Beyond, those that ended first are forgotten.
pub const JOBS: usize = 8_192;
/// Jobs that ended and are remembered for one buyer's node at the most, so that the trivial runs of
/// one do not make a seller forget those of the others.
pub const BUYER_JOBS: usize = JOBS / 8;

/// A seller's memory of a job across a restart; it lies in the job's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobMemo {
    /// The run.
    pub job: RunId,
    /// The offer whose unit it uses.
    pub offer: OfferId,
    /// The buyer's node, which alone may ask for its output.
    pub buyer: PublicKey,
    /// The job, its environment completed.
    pub spec: JobSpec,
}

impl JobMemo {
    /// Parses what [`Effect::Stage`] had kept.
    pub fn decode(bytes: &[u8]) -> Result<JobMemo, CodecError> {
        codec::decode(bytes, JOB_BYTES + 4 * 1024)
    }
}

#[derive(Clone, Debug)]
struct Job {
    memo: JobMemo,
    phase: Phase,
    stopping: bool,
    /// Height at which its lease was first seen to be gone.
    orphan_since: Option<u64>,
    copying: copies::Copying,
}

impl Job {
    fn new(memo: JobMemo, phase: Phase) -> Job {
        Job {
            memo,
            phase,
            stopping: false,
            orphan_since: None,
            copying: copies::Copying::default(),
        }
    }
    fn uses_a_unit(&self) -> bool {
        !matches!(self.phase, Phase::Ended { .. } | Phase::Unknown)
    }
    /// Whether it runs and is not to stop.
    fn serves(&self) -> bool {
        matches!(self.phase, Phase::Running { .. }) && !self.stopping
    }
    /// Whether it is part of its lease's network.
    fn is_networked(&self) -> bool {
        self.memo.spec.network && self.uses_a_unit()
    }
    /// When it ended, in milliseconds since 1970; 0 if it never began.
    fn ended_ms(&self) -> u64 {
        match self.phase {
            Phase::Ended { ended_ms, .. } => ended_ms,
            _ => 0,
        }
    }
}

/// The agent.
#[derive(Debug)]
pub struct Seller {
    account: Option<AccountId>,
    node: PublicKey,
    jobs: BTreeMap<RunId, Job>,
    /// Leases whose acknowledgement has been sent, with the height it was sent at.
    acknowledged: BTreeMap<LeaseId, u64>,
    draining: bool,
    /// Whether the disk is short of room.
    short: bool,
    /// Leases that this machine does not serve, with the height at which they were failed.
    given_up: BTreeMap<LeaseId, Option<u64>>,
    /// Slot of the last sign of life, and the height it was sent at.
    beaten: Option<(u64, u64)>,
    /// The networks of leases, as their buyers told them last.
    clusters: BTreeMap<LeaseId, Cluster>,
    /// Whether this machine can put jobs into the networks of their leases.
    lacks: BTreeSet<&'static str>,
    /// What it carries for others.
    relays: relay::Relays,
}

impl Seller {
    /// The agent of the node with this transport key, with the jobs that were found running.
    pub fn new(node: PublicKey, recovered: Vec<(JobMemo, Phase)>) -> Seller {
        let job = |(memo, phase): (JobMemo, Phase)| (memo.job, Job::new(memo, phase));
        Seller {
            account: None,
            node,
            jobs: recovered.into_iter().map(job).collect(),
            acknowledged: BTreeMap::new(),
            draining: false,
            short: false,
            given_up: BTreeMap::new(),
            beaten: None,
            clusters: BTreeMap::new(),
            lacks: BTreeSet::new(),
            relays: relay::Relays::default(),
        }
    }
    /// Names the account in whose name the node sells.
    pub fn set_account(&mut self, account: AccountId) {
        self.account = Some(account);
    }
    /// From now on leases are failed instead of acknowledged.
    pub(crate) fn drain(&mut self) {
        self.draining = true;
    }
    /// From now on leases are acknowledged again, unless the disk is short of room.
    pub(crate) fn resume(&mut self) {
        self.draining = false;
    }
    /// Whether the disk is short of room: leases are failed meanwhile, and nothing is started.
    pub fn set_short(&mut self, short: bool) {
        self.short = short;
    }
    /// This machine lacks what some jobs need ([`crate::needs`]).
    pub(crate) fn lacks(&mut self, need: &'static str) {
        self.lacks.insert(need);
    }
    /// Whether the disk is short of room.
    pub fn is_short(&self) -> bool {
        self.short
    }
    /// Whether new leases are acknowledged, so that offers may stand.
    pub(crate) fn takes_leases(&self) -> bool {
        !self.draining && !self.short
    }
    /// Whether the node was told to drain.
    pub fn is_draining(&self) -> bool {
        self.draining
    }
    /// Runs that use a unit now.
    pub fn running(&self) -> usize {
        self.jobs.values().filter(|j| j.uses_a_unit()).count()
    }
    /// Runs that are under way.
    pub fn live_jobs(&self) -> Vec<RunId> {
        self.jobs
            .iter()
            .filter(|(_, j)| j.uses_a_unit())
            .map(|(id, _)| *id)
            .collect()
    }
    /// The account in whose name the node sells, if the ledger has it.
    pub fn account(&self) -> Option<AccountId> {
        self.account
    }

    fn is_mine(&self, state: &State, offer: &OfferId) -> bool {
        state
            .offer(offer)
            .is_some_and(|o| Some(o.seller) == self.account && o.terms.node == self.node)
    }
    fn units_here(&self, state: &State, lease: &LeaseId, offer: &OfferId) -> u32 {
        state.lease(lease).map_or(0, |l| l.units_of(offer))
    }

    /// Looks at the state after a block; returns what to ask of the ledger.
    /// `attended` are the leases whose networks this node is in as their buyer's, or as a guest's.
    pub fn after_block(
        &mut self,
        state: &State,
        attended: &BTreeSet<LeaseId>,
        effects: &mut Vec<Effect>,
    ) -> Vec<EntryBody> {
        let mut entries = self.acknowledge(state);
        entries.extend(self.heartbeat(state));
        entries.extend(self.give_up(state));
        self.stop_what_has_no_unit(state, effects);
        self.keep_clusters(state, attended, effects);
        self.keep_relays(state, effects);
        entries
    }

    fn acknowledge(&mut self, state: &State) -> Vec<EntryBody> {
        let height = state.height();
        self.acknowledged
            .retain(|lease, _| state.lease(lease).is_some());
        let is_owed = |lease: &Lease| {
            let mine = |s: &&Share| self.is_mine(state, &s.offer);
            lease
                .shares
                .iter()
                .filter(mine)
                .any(|s| !lease.delivered.contains(&s.offer))
        };
        let again = |id: &LeaseId| {
            self.acknowledged
                .get(id)
                .is_none_or(|at| height >= at + REPEAT_HEIGHTS)
        };
        let waiting: Vec<LeaseId> = state
            .leases_at(&self.node)
            .filter(|(id, lease)| is_owed(lease) && again(id))
            .map(|(id, _)| *id)
            .collect();
        let answer = |lease| match self.takes_leases() {
            true => EntryBody::Deliver { lease },
            false => EntryBody::Fail { lease },
        };
        let entries = waiting.iter().copied().map(answer).collect();
        self.acknowledged
            .extend(waiting.into_iter().map(|lease| (lease, height)));
        entries
    }

    /// Fails the leases that this machine did not serve.
    fn give_up(&mut self, state: &State) -> Vec<EntryBody> {
        let height = state.height();
        self.given_up
            .retain(|lease, _| state.lease(lease).is_some());
        let due = |at: &Option<u64>| at.is_none_or(|at| height >= at + REPEAT_HEIGHTS);
        let mut entries = Vec::new();
        for (lease, at) in self.given_up.iter_mut().filter(|(_, at)| due(at)) {
            *at = Some(height);
            entries.push(EntryBody::Fail { lease: *lease });
        }
        entries
    }

    /// The sign of life for the slot of the next block, if it is due.
    fn heartbeat(&mut self, state: &State) -> Option<EntryBody> {
        let account = self.account?;
        let (height, policy) = (state.height(), state.policy());
        let slot = policy.calendar.slot(height + 1);
        let sent = |(of, at)| of == slot && height < at + BEAT_HEIGHTS;
        let said = state.has_beaten(&account, &self.node) || self.beaten.is_some_and(sent);
        if policy.dispute_slots == 0 || said {
            return None;
        }
        let serves = |lease: &Lease| {
            let mut shares = lease.shares.iter();
            let share =
                shares.find(|s| self.is_mine(state, &s.offer) && lease.has_delivered(&s.offer))?;
            state.offer(&share.offer)
        };
        let offer = state
            .leases_at(&self.node)
            .find_map(|(_, lease)| serves(lease))?;
        let label = offer.terms.label;
        self.beaten = Some((slot, height));
        Some(EntryBody::Heartbeat { label })
    }

    fn stop_what_has_no_unit(&mut self, state: &State, effects: &mut Vec<Effect>) {
        let mut used: BTreeMap<(LeaseId, OfferId), u32> = BTreeMap::new();
        let mut stop = Vec::new();
        for (id, job) in self.jobs.iter().filter(|(_, j)| j.uses_a_unit()) {
            let key = (id.lease, job.memo.offer);
            let taken = used.entry(key).or_default();
            *taken += 1;
            let over = *taken > self.units_here(state, &key.0, &key.1);
            if over {
                stop.push(*id);
            }
        }
        for id in stop {
            self.stop(&id, effects);
        }
        self.forget_the_old(state, effects);
    }

    /// A run that ended is remembered while its lease lives and [`KEEP_HEIGHTS`] beyond, so that
    /// the buyer can read its output.
    fn forget_the_old(&mut self, state: &State, effects: &mut Vec<Effect>) {
        let height = state.height();
        let mut gone = Vec::new();
        for (id, job) in self.jobs.iter_mut().filter(|(_, j)| !j.uses_a_unit()) {
            match (state.lease(&id.lease), job.orphan_since) {
                (Some(_), _) => job.orphan_since = None,
                (None, None) => job.orphan_since = Some(height),
                (None, Some(since)) if height >= since + KEEP_HEIGHTS => gone.push(*id),
                (None, Some(_)) => {}
            }
        }
        for id in gone {
            self.jobs.remove(&id);
            effects.push(Effect::RemoveJob(id));
        }
    }

    fn stop(&mut self, id: &RunId, effects: &mut Vec<Effect>) {
        if let Some(job) = self.jobs.get_mut(id)
            && !job.stopping
        {
            job.stopping = true;
            effects.push(Effect::StopJob(*id));
        }
    }

    /// Milliseconds for which a run may go on from now, by the pace of the network's policy: to the
    /// end of the slot that its lease is paid for. `None` if it has no unit any more.
    pub fn time_left(&self, state: &State, id: &RunId) -> Option<u64> {
        let lease = state.lease(&id.lease)?;
        let last = state.calendar().last_of_slot(lease.slot);
        let heights = last.saturating_sub(state.height());
        Some(heights.saturating_mul(state.policy().block_interval_ms))
    }

    /// The inputs of a run are in place, or cannot be had.
    pub fn staged(&mut self, id: &RunId, ok: bool, effects: &mut Vec<Effect>) {
        let Some(job) = self.jobs.get_mut(id) else {
            return;
        };
        if !ok || job.stopping {
            job.phase = Phase::Ended {
                exit: JobExit::Lost,
                started_ms: 0,
                ended_ms: 0,
                cpu_ms: 0,
                rss_kib: 0,
            };
            return;
        }
        let (offer, spec) = (job.memo.offer, job.memo.spec.clone());
        effects.push(Effect::StartJob {
            job: *id,
            offer,
            spec,
        });
    }

    /// A local job changed its phase. A stop that came before there was anything to stop is sent
    /// again.
    pub fn phase(&mut self, id: &RunId, phase: Phase, effects: &mut Vec<Effect>) {
        let Some(job) = self.jobs.get_mut(id) else {
            return;
        };
        job.phase = phase;
        if job.stopping && matches!(phase, Phase::Running { .. }) {
            effects.push(Effect::StopJob(*id));
        }
    }

    /// Answers a poll: only the buyer's node may know.
    pub fn poll(
        &self,
        token: AnswerToken,
        from: &PublicKey,
        jobs: Vec<PollJob>,
        effects: &mut Vec<Effect>,
    ) {
        let known = |p: PollJob| {
            let job = self.jobs.get(&p.job).filter(|j| j.memo.buyer == *from);
            (p, job.map(|j| j.phase))
        };
        effects.push(Effect::Report {
            token,
            jobs: jobs.into_iter().map(known).collect(),
        });
    }

    /// Whether `from` may read `path` of a run's output.
    pub fn may_read(&self, from: &PublicKey, job: &RunId, path: &str) -> bool {
        self.jobs
            .get(job)
            .is_some_and(|j| j.memo.buyer == *from && j.memo.spec.outputs.iter().any(|p| p == path))
    }

    /// How a run keeps its progress, if it does.
    pub fn checkpoint_of(&self, job: &RunId) -> Option<&Checkpoint> {
        self.jobs.get(job)?.memo.spec.checkpoint.as_ref()
    }

    /// The same if `from` may have it.
    pub fn shows_checkpoint(&self, from: &PublicKey, job: &RunId) -> Option<&Checkpoint> {
        let known = self.jobs.get(job)?;
        let began = matches!(known.phase, Phase::Running { .. } | Phase::Ended { .. });
        let keeps = known.memo.spec.checkpoint.as_ref();
        keeps.filter(|_| began && known.memo.buyer == *from)
    }

    /// The buyer has no more use for a run.
    pub fn buyer_stops(&mut self, from: &PublicKey, id: &RunId, effects: &mut Vec<Effect>) {
        if self
            .jobs
            .get(id)
            .is_some_and(|j| j.memo.buyer == *from && j.uses_a_unit())
        {
            self.stop(id, effects);
        }
    }
}
