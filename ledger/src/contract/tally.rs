//! How many contracts and promised jobs there are, and whether there is room for more.

use super::{Contract, ContractRefusal};
use crate::work::Work;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::limits;
use gridbay_protocol::order::ContractTerms;
use serde::{Deserialize, Serialize};

/// Of one account, or of the whole network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tally {
    /// Live contracts, signed or not; of an account: as client.
    pub(crate) contracts: u32,
    /// Jobs of signed contracts; of an account: as provider.
    pub(crate) jobs: u32,
}

fn tally(work: &Work<'_>, whose: Option<AccountId>) -> Tally {
    let tally = work.tables.tallies.get(&whose);
    tally.copied().unwrap_or_default()
}

fn change(work: &mut Work<'_>, whose: Option<AccountId>, change: impl Fn(&mut Tally)) {
    let mut tally = tally(work, whose);
    change(&mut tally);
    if tally == Tally::default() {
        work.tables.tallies.remove(&whose);
    } else {
        work.tables.tallies.insert(whose, tally);
    }
}

/// Whether client and network have room for another contract.
pub(crate) fn has_room(work: &Work<'_>, client: &AccountId) -> Result<(), ContractRefusal> {
    let limit = limits::CONTRACTS_PER_CLIENT;
    if tally(work, Some(*client)).contracts >= limit {
        let client = *client;
        return Err(ContractRefusal::ClientQuota { client, limit });
    }
    let limit = limits::CONTRACTS;
    if tally(work, None).contracts >= limit {
        return Err(ContractRefusal::NetworkQuota { limit });
    }
    Ok(())
}

/// Whether provider and network may promise so many jobs more.
pub(crate) fn may_sign(work: &Work<'_>, terms: &ContractTerms) -> Result<(), ContractRefusal> {
    let (provider, limit) = (terms.provider, limits::CONTRACT_JOBS_PER_PROVIDER);
    let jobs = tally(work, Some(provider)).jobs + terms.jobs;
    if jobs > limit {
        return Err(ContractRefusal::ProviderJobs {
            provider,
            jobs,
            limit,
        });
    }
    let limit = limits::CONTRACT_JOBS_SIGNED;
    let jobs = tally(work, None).jobs + terms.jobs;
    if jobs > limit {
        return Err(ContractRefusal::NetworkJobs { jobs, limit });
    }
    Ok(())
}

pub(super) fn note_entered(work: &mut Work<'_>, contract: &Contract) {
    for whose in [None, Some(contract.client)] {
        change(work, whose, |tally| tally.contracts += 1);
    }
}

pub(crate) fn note_signed(work: &mut Work<'_>, terms: &ContractTerms) {
    for whose in [None, Some(terms.provider)] {
        change(work, whose, |tally| tally.jobs += terms.jobs);
    }
}

pub(super) fn note_left(work: &mut Work<'_>, contract: &Contract) {
    let terms = &contract.terms;
    for whose in [None, Some(contract.client)] {
        change(work, whose, |tally| tally.contracts -= 1);
    }
    if contract.progress.is_some() {
        for whose in [None, Some(terms.provider)] {
            change(work, whose, |tally| tally.jobs -= terms.jobs);
        }
    }
}
