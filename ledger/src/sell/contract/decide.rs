//! The decisions on jobs, and the settlement of contracts.

use crate::record::{ContractJob, Lease, Progress};
use crate::view::Pacts;
use crate::work::Work;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{AccountId, LeaseId, OrderId};
use gridbay_protocol::limits::CONTRACT_JOBS_PER_BLOCK;
use gridbay_protocol::order::ContractTerms;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::record::contract::{ContractEvent, JobRecord, Settlement};

/// At a boundary, for a lease that ran the whole slot and is acknowledged: counts the slot for the
/// job that it serves.
pub(crate) fn count(at: &mut Pacts<'_, '_>, id: &LeaseId) {
    let lease = at.tables.leases.get(id);
    let order = lease.and_then(|l| Some((l, at.tables.orders.get(&l.order)?)));
    let Some((lease, serving)) = order.and_then(|(l, o)| Some((l, o.serves?))) else {
        return;
    };
    let key = serving.key();
    let job = at.tables.contract_jobs.get(&key);
    let contract = at.tables.contracts.get(&serving.contract);
    let (Some(job), Some(contract)) = (job, contract) else {
        return;
    };
    let (calendar, terms) = (at.calendar(), &contract.terms);
    let before = calendar.last_of_slot(lease.slot) - calendar.slot_heights();
    let after = lease.slot.saturating_sub(job.arrival);
    let counts = serving.since <= before
        && lease.units() >= terms.job.units
        && !terms.job.timed_out(after)
        && is_by_others(at, lease, &terms.provider);
    if !counts {
        return;
    }
    let done = job.served + 1 >= terms.job.slots;
    if done {
        decide(at, &key, after, true);
        settle_if_over(at, &key.0);
    } else if let Some(job) = at.contract_jobs().get_mut(&key) {
        job.served += 1;
    }
}

/// Whether no seller of a lease belongs to the provider's sponsor.
fn is_by_others(work: &Work<'_>, lease: &Lease, provider: &AccountId) -> bool {
    let sponsor = |account: &AccountId| work.tables.accounts.get(account).map(|a| a.sponsor);
    let seller = |share: &gridbay_protocol::lease::Share| {
        let offer = work.tables.offers.get(&share.offer)?;
        sponsor(&offer.seller)
    };
    let own = sponsor(provider);
    let by_others = |share| seller(share) != own;
    lease.shares.iter().all(by_others)
}

/// The client says that an open job is done.
pub(crate) fn complete(at: &mut Pacts<'_, '_>, contract: &OrderId, job: &OrderId) {
    let key = (*contract, *job);
    let arrival = at.tables.contract_jobs.get(&key).map(|j| j.arrival);
    let after = slot(at).saturating_sub(arrival.unwrap_or(0));
    decide(at, &key, after, true);
    settle_if_over(at, contract);
}

fn slot(work: &Work<'_>) -> u64 {
    work.calendar().slot(work.height())
}

/// Decides an open job, `after` slots after that of its request.
fn decide(at: &mut Pacts<'_, '_>, key: &(OrderId, OrderId), after: u64, done: bool) {
    let Some(job) = at.contract_jobs().remove(key) else {
        return;
    };
    let Some((terms, mut progress)) = signed(at, &key.0) else {
        return;
    };
    at.due().remove(&(due(&terms, &job), key.0, Some(key.1)));
    let (pays, owes) = match done {
        true => terms.job.utility(after),
        false => (Default::default(), terms.job.penalty),
    };
    progress.completed += u32::from(done);
    progress.failed += u32::from(!done);
    let within = "no job pays more than its value or owes more than its penalty, and all together were locked";
    progress.earned = progress.earned.checked_add(pays).expect(within);
    progress.owed = progress.owed.checked_add(owes).expect(within);
    set(at, &key.0, progress);
    at.emit(Effect::Contract(ContractEvent::Decided(JobRecord {
        contract: key.0,
        job: key.1,
        number: job.number,
        arrival: job.arrival,
        after,
        done,
        pays,
        owes,
    })));
}

/// The last slot in which an open job can be done.
pub(super) fn due(terms: &ContractTerms, job: &ContractJob) -> u64 {
    job.arrival.saturating_add(terms.job.patience())
}

fn signed(work: &Work<'_>, id: &OrderId) -> Option<(ContractTerms, Progress)> {
    let contract = work.tables.contracts.get(id)?;
    Some((contract.terms.clone(), contract.progress?))
}

fn set(at: &mut Pacts<'_, '_>, id: &OrderId, progress: Progress) {
    if let Some(contract) = at.contracts().get_mut(id) {
        contract.progress = Some(progress);
    }
}

/// After each block: jobs whose time is over fail, windows that are over close, and finished
/// contracts are settled.
pub(crate) fn decide_due(at: &mut Pacts<'_, '_>) {
    let next = at.calendar().slot(at.height() + 1);
    let first = (next, OrderId([0; 32]), None);
    let over = at.tables.due.range(..first).map(|(key, ())| *key);
    let over: Vec<_> = over.take(CONTRACT_JOBS_PER_BLOCK).collect();
    for key in over {
        at.due().remove(&key);
        let (slot, contract, job) = key;
        match job {
            Some(job) => {
                let key = (contract, job);
                let arrival = at.tables.contract_jobs.get(&key).map(|j| j.arrival);
                let after = (slot + 1).saturating_sub(arrival.unwrap_or(0));
                decide(at, &key, after, false);
            }
            None => {
                if let Some((_, progress)) = signed(at, &contract) {
                    let closed = true;
                    set(at, &contract, Progress { closed, ..progress });
                }
            }
        }
        settle_if_over(at, &contract);
    }
}

/// Settles a contract of which all jobs are decided and no more can come.
pub(crate) fn settle_if_over(at: &mut Pacts<'_, '_>, id: &OrderId) {
    let Some((terms, progress)) = signed(at, id) else {
        return;
    };
    let all = progress.closed || progress.requested == terms.jobs;
    if !all || progress.open() > 0 {
        return;
    }
    let contract = at.tables.contracts.get(id);
    let client = contract.expect("it was just read").client;
    let (earned, owed) = (progress.earned, progress.owed);
    let pays = terms.pays(earned, progress.completed, progress.requested);
    let (escrow, bond) = (Purse::Escrow(*id), Purse::Bond(*id));
    let provider = Purse::Account(terms.provider);
    at.post(escrow, provider, pays, Reason::Earning, Some(*id))
        .expect("the most that a contract can cost was locked");
    let to = Purse::Account(client);
    at.post(bond, to, owed, Reason::Damages, Some(*id))
        .expect("all penalties were staked");
    super::leave(at, id);
    at.emit(Effect::Contract(ContractEvent::Settled(Settlement {
        contract: *id,
        client,
        provider: terms.provider,
        alpha_ppm: terms.alpha_ppm,
        beta16: terms.beta16,
        requested: progress.requested,
        completed: progress.completed,
        earned,
        pays,
        owed,
    })));
}
