//! A buyer asks a seller to start a run.
//!
//! A start is checked against the ledger alone: the lease is live, the offer is this node's and in
//! the lease, the job is the one the order named, the signer may trade for the buyer. Where the
//! order serves a job of a contract, that job and its client count instead.
//!
//! On a disk that is short of room nothing is started, nor what needs something that the machine
//! lacks ([`crate::needs`]), nor a relay's job where nothing is carried for others: the lease is
//! failed, if nothing of it runs here, so that the buyer pays no more for it and its order can win
//! units elsewhere.

use super::{BUYER_JOBS, JOBS, Job, JobMemo, Seller};
use crate::agent::{Phase, RunId, SignedStart, Start, StartRefusal};
use crate::effect::Effect;
use crate::needs::{NETWORK, needs};
use crate::relay::is_relay;
use gridbay_ledger::State;
use gridbay_protocol::account::Roles;
use gridbay_protocol::codec;
use gridbay_protocol::ids::{LeaseId, OfferId};
use gridbay_protocol::job::JobSpec;
use gridbay_protocol::keys::PublicKey;
use std::collections::BTreeMap;

impl Seller {
    /// A buyer asks to start a run. Asking again for the same run is harmless.
    pub fn start(
        &mut self,
        state: &State,
        from: PublicKey,
        signed: SignedStart,
        effects: &mut Vec<Effect>,
    ) -> Result<(), StartRefusal> {
        let start = &signed.start;
        let resumes = start.resume.as_ref();
        let keeps = start.spec.checkpoint.is_some();
        let task = start.job.task < start.tasks;
        if !start.spec.is_valid() || !task || resumes.is_some_and(|r| !keeps || !r.is_valid()) {
            return Err(StartRefusal::Invalid);
        }
        self.check(state, &signed)?;
        if self.jobs.contains_key(&start.job) {
            return Ok(());
        }
        if self.short {
            return Err(self.give_up_for(&start.job.lease, StartRefusal::NoRoom));
        }
        if let Some(need) = needs(&start.spec).iter().find(|n| self.lacks.contains(*n)) {
            let why = match *need {
                NETWORK => StartRefusal::NoNetwork,
                _ => StartRefusal::NoRuntime,
            };
            return Err(self.give_up_for(&start.job.lease, why));
        }
        if is_relay(&start.spec) && !self.sells_relaying() {
            return Err(self.give_up_for(&start.job.lease, StartRefusal::NoRelay));
        }
        self.stop_earlier_attempts(&start.job, effects);
        let units = self.units_here(state, &start.job.lease, &start.offer);
        let same_unit = |(id, job): &(&RunId, &Job)| {
            id.lease == start.job.lease && job.memo.offer == start.offer && job.uses_a_unit()
        };
        let busy = self.jobs.iter().filter(same_unit).count();
        let full = busy >= units as usize;
        if full || !self.make_room(&from, effects) {
            return Err(StartRefusal::NoUnit);
        }
        let memo = JobMemo {
            job: start.job,
            offer: start.offer,
            buyer: from,
            spec: with_environment(start, channel(state, &start.job.lease)),
        };
        effects.push(Effect::Stage {
            job: memo.job,
            from,
            spec: memo.spec.clone(),
            resume: start.resume,
            memo: codec::encode(&memo),
        });
        self.jobs.insert(memo.job, Job::new(memo, Phase::Staging));
        Ok(())
    }

    /// A lease of which nothing runs here is given up with the next block.
    fn give_up_for(&mut self, lease: &LeaseId, why: StartRefusal) -> StartRefusal {
        let mut jobs = self.jobs.values();
        if !jobs.any(|j| j.memo.job.lease == *lease && j.uses_a_unit()) {
            self.given_up.entry(*lease).or_default();
        }
        why
    }

    /// Forgets runs that ended, so that one more of a buyer's node can be remembered: its own first
    /// one beyond its share, else the first one of the buyer that has most. False if nothing can be
    /// forgotten.
    fn make_room(&mut self, buyer: &PublicKey, effects: &mut Vec<Effect>) -> bool {
        let mut ended: BTreeMap<PublicKey, usize> = BTreeMap::new();
        for job in self.jobs.values().filter(|j| !j.uses_a_unit()) {
            *ended.entry(job.memo.buyer).or_default() += 1;
        }
        let own = ended.get(buyer).copied().unwrap_or_default();
        let whose = if own >= BUYER_JOBS {
            Some(*buyer)
        } else if self.jobs.len() >= JOBS {
            let most = ended.into_iter().max_by_key(|(_, count)| *count);
            most.map(|(buyer, _)| buyer)
        } else {
            return true;
        };
        let theirs = |(_, j): &(&RunId, &Job)| !j.uses_a_unit() && Some(j.memo.buyer) == whose;
        let of_them = self.jobs.iter().filter(theirs);
        let Some(first) = of_them.min_by_key(|(_, j)| j.ended_ms()).map(|(id, _)| *id) else {
            return false;
        };
        self.jobs.remove(&first);
        effects.push(Effect::RemoveJob(first));
        true
    }

    /// A buyer that starts a task anew has given its earlier runs up: those under way are stopped,
    /// those that ended are forgotten, so that one unit cannot fill this node with runs.
    fn stop_earlier_attempts(&mut self, job: &RunId, effects: &mut Vec<Effect>) {
        let earlier =
            |id: &&RunId| (id.lease, id.task) == (job.lease, job.task) && id.attempt < job.attempt;
        let stale: Vec<RunId> = self.jobs.keys().filter(earlier).copied().collect();
        for id in stale {
            if self.jobs.get(&id).is_some_and(Job::uses_a_unit) {
                self.stop(&id, effects);
            } else {
                self.jobs.remove(&id);
                effects.push(Effect::RemoveJob(id));
            }
        }
    }

    fn check(&self, state: &State, signed: &SignedStart) -> Result<(), StartRefusal> {
        let start = &signed.start;
        let lease = state.lease(&start.job.lease).ok_or(StartRefusal::NoLease)?;
        let user = state.user(&lease.order).ok_or(StartRefusal::NoLease)?;
        let units = self.units_here(state, &start.job.lease, &start.offer);
        if units == 0 || !self.is_mine(state, &start.offer) {
            return Err(StartRefusal::NotMine);
        }
        if start.tasks > user.tasks {
            return Err(StartRefusal::Invalid);
        }
        let ordered = start.spec.work(&start.salt) == user.work;
        if !ordered {
            return Err(StartRefusal::OtherWork);
        }
        let may_trade = state.account(&user.account).is_some_and(|a| {
            a.roles(&start.key)
                .is_some_and(|r| r.contains(Roles::TRADE))
        });
        let theirs = may_trade && signed.verify(&state.network()).is_ok();
        if !theirs {
            return Err(StartRefusal::NotBuyer);
        }
        let resumed = start.resume.map_or(0, |checkpoint| checkpoint.bytes);
        let staged = start.spec.input_bytes().saturating_add(resumed);
        if staged > disk_of(state, &start.offer) {
            return Err(StartRefusal::Invalid);
        }
        Ok(())
    }
}

/// Bytes of disk that a unit of an offer has.
fn disk_of(state: &State, offer: &OfferId) -> u64 {
    let offered = state.offer(offer);
    let class = offered.and_then(|o| state.class(&o.terms.class));
    class.map_or(0, |c| c.key.disk_bytes())
}

/// The channel that comes with a lease.
fn channel(state: &State, lease: &LeaseId) -> Option<u32> {
    let order = state.order(&state.lease(lease)?.order)?;
    order.reservation()?.booking.as_ref()?.channel
}

/// Adds the variables by which a task knows its place.
fn with_environment(start: &Start, channel: Option<u32>) -> JobSpec {
    let (mut spec, job) = (start.spec.clone(), start.job);
    let own = [
        ("GRIDBAY_LEASE", Some(job.lease.to_hex())),
        ("GRIDBAY_RANK", Some(job.task.to_string())),
        ("GRIDBAY_SIZE", Some(start.tasks.to_string())),
        ("GRIDBAY_ATTEMPT", Some(job.attempt.to_string())),
        ("GRIDBAY_RESUMED", start.resume.map(|_| "1".to_owned())),
        ("GRIDBAY_CHANNEL", channel.map(|c| c.to_string())),
    ];
    spec.env
        .retain(|(name, _)| own.iter().all(|(n, _)| n != name));
    let own = own.into_iter();
    spec.env
        .extend(own.filter_map(|(name, value)| Some((name.to_string(), value?))));
    spec.env.sort();
    spec
}
