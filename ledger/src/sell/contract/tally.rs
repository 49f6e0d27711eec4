//! How many contracts and promised jobs an account has, and whether there is room for more.

use crate::record::{Contract, Scarce, Tally};
use crate::refusal::ContractRefusal;
use crate::scarce;
use crate::view::Pacts;
use crate::work::Work;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::limits;
use gridbay_protocol::order::ContractTerms;

fn tally(work: &Work<'_>, whose: AccountId) -> Tally {
    let tally = work.tables.tallies.get(&whose);
    tally.copied().unwrap_or_default()
}

fn change(at: &mut Pacts<'_, '_>, whose: AccountId, change: impl Fn(&mut Tally)) {
    let mut tally = tally(at, whose);
    change(&mut tally);
    if tally == Tally::default() {
        at.tallies().remove(&whose);
    } else {
        at.tallies().insert(whose, tally);
    }
}

/// Whether an account has proposed a contract, or signed one, that is live.
pub(crate) fn binds(work: &Work<'_>, account: &AccountId) -> bool {
    tally(work, *account) != Tally::default()
}

/// Whether client and network have room for another contract.
pub(crate) fn has_room(work: &Work<'_>, client: &AccountId) -> Result<(), ContractRefusal> {
    let limit = limits::CONTRACTS_PER_CLIENT;
    if tally(work, *client).contracts >= limit {
        let client = *client;
        return Err(ContractRefusal::ClientQuota { client, limit });
    }
    let limit = limits::CONTRACTS;
    if scarce::check(work, Scarce::Contracts, client, 0, 1).is_err() {
        return Err(ContractRefusal::NetworkQuota { limit });
    }
    Ok(())
}

/// Whether provider and network may promise so many jobs more.
pub(crate) fn may_sign(work: &Work<'_>, terms: &ContractTerms) -> Result<(), ContractRefusal> {
    let (provider, limit) = (terms.provider, limits::CONTRACT_JOBS_PER_PROVIDER);
    let jobs = tally(work, provider).jobs + terms.jobs;
    if jobs > limit {
        return Err(ContractRefusal::ProviderJobs {
            provider,
            jobs,
            limit,
        });
    }
    let limit = limits::CONTRACT_JOBS_SIGNED;
    let room = scarce::check(work, Scarce::ContractJobs, &provider, 0, terms.jobs.into());
    room.map_err(|jobs| ContractRefusal::NetworkJobs { jobs, limit })
}

/// Counts a contract that is new, signed or gone.
pub(crate) fn note(at: &mut Pacts<'_, '_>, was: Option<&Contract>, is: Option<&Contract>) {
    scarce::note(&mut at.counts(), was, is);
    for (contract, enters) in [(was, false), (is, true)] {
        let Some(contract) = contract else {
            continue;
        };
        let count = |sum: u32, by: u32| match enters {
            true => sum + by,
            false => sum - by,
        };
        let jobs = contract.progress.map_or(0, |_| contract.terms.jobs);
        change(at, contract.client, |tally| {
            tally.contracts = count(tally.contracts, 1)
        });
        change(at, contract.terms.provider, |tally| {
            tally.jobs = count(tally.jobs, jobs)
        });
    }
}
