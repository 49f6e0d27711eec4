//! `propose`, `sign`, `request`, `close`, `serve`, `complete`: the entries of parties to a
//! contract. See `crate::sell::contract`.

use crate::money::funds;
use crate::record::{Contract, ContractJob, Progress, Serving};
use crate::refusal::{ContractRefusal, Refusal};
use crate::sell::contract;
use crate::view::Pacts;
use crate::work::Work;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::{AccountId, EntryId, Hash32, OrderId};
use gridbay_protocol::limits;
use gridbay_protocol::order::{ContractEntry, ContractTerms, order_of};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::record::contract::ContractEvent;

pub(crate) fn check(
    work: &Work<'_>,
    account: &AccountId,
    entry: &ContractEntry,
) -> Result<(), Refusal> {
    match entry {
        ContractEntry::Propose(terms) => check_proposal(work, account, terms),
        ContractEntry::Sign { contract } => check_signature(work, account, contract),
        ContractEntry::Request { contract, .. } => check_request(work, account, contract),
        ContractEntry::Close { contract } => {
            let found = as_client(work, account, contract)?;
            match &found.progress {
                Some(progress) if progress.closed => Err(ContractRefusal::Closed(*contract).into()),
                _ => Ok(()),
            }
        }
        ContractEntry::Serve {
            contract,
            job,
            order,
        } => check_service(work, account, contract, job, order),
        ContractEntry::Complete { contract, job } => {
            let found = as_client(work, account, contract)?;
            open_job(work, found, contract, job)?;
            Ok(())
        }
    }
}

pub(crate) fn enter(
    at: &mut Pacts<'_, '_>,
    id: &EntryId,
    account: &AccountId,
    entry: &ContractEntry,
) {
    match entry {
        ContractEntry::Propose(terms) => propose(at, order_of(id), account, terms),
        ContractEntry::Sign { contract } => sign(at, contract),
        ContractEntry::Request {
            contract,
            work: hash,
        } => request(at, contract, order_of(id), *hash),
        ContractEntry::Close { contract } => close(at, contract),
        ContractEntry::Serve {
            contract,
            job,
            order,
        } => serve(at, contract, job, order),
        ContractEntry::Complete { contract, job } => contract::complete(at, contract, job),
    }
}

fn slot(work: &Work<'_>) -> u64 {
    work.calendar().slot(work.height())
}

fn check_proposal(
    work: &Work<'_>,
    client: &AccountId,
    terms: &ContractTerms,
) -> Result<(), Refusal> {
    if terms.provider == *client {
        return Err(ContractRefusal::WithOneself(*client).into());
    }
    if work.class(&terms.class).is_none() {
        return Err(Refusal::NoClass(terms.class));
    }
    if !work.tables.accounts.contains(&terms.provider) {
        return Err(ContractRefusal::NoProvider(terms.provider).into());
    }
    let (slot, last) = (slot(work), terms.last);
    let latest = slot.saturating_add(u64::from(limits::ORDER_SLOTS));
    if last < slot || last > latest {
        return Err(ContractRefusal::Horizon { last, slot, latest }.into());
    }
    let height = work.height();
    let stands = height..=height.saturating_add(limits::ORDER_WINDOW);
    if !stands.contains(&terms.stands_until) {
        return Err(Refusal::Standing {
            stands_until: terms.stands_until,
        });
    }
    contract::has_room(work, client)?;
    let lock = terms.lock().ok_or(Refusal::Overflow)?;
    funds::require(work, Purse::Account(*client), lock)
}

fn propose(at: &mut Pacts<'_, '_>, id: OrderId, client: &AccountId, terms: &ContractTerms) {
    let contract = Contract {
        client: *client,
        terms: terms.clone(),
        progress: None,
    };
    contract::enter(at, id, contract);
    let lock = terms.lock().expect("the lock was checked");
    let (from, to) = (Purse::Account(*client), Purse::Escrow(id));
    at.post(from, to, lock, Reason::Lock, Some(id))
        .expect("the lock was checked");
}

fn check_signature(work: &Work<'_>, account: &AccountId, id: &OrderId) -> Result<(), Refusal> {
    let contract = as_provider(work, account, id)?;
    let terms = &contract.terms;
    if contract.progress.is_some() {
        return Err(ContractRefusal::Signed(*id).into());
    }
    if work.height() > terms.stands_until || slot(work) > terms.last {
        return Err(ContractRefusal::Lapsed {
            contract: *id,
            stands_until: terms.stands_until,
        }
        .into());
    }
    contract::may_sign(work, terms)?;
    let bond = terms.bond().ok_or(Refusal::Overflow)?;
    funds::require(work, Purse::Account(*account), bond)
}

fn sign(at: &mut Pacts<'_, '_>, id: &OrderId) {
    let height = at.height();
    let contract = at.contracts().get_mut(id);
    let contract = contract.expect("the contract was checked");
    let proposed = contract.clone();
    contract.progress = Some(Progress::signed_at(height));
    let signed = contract.clone();
    contract::note(at, Some(&proposed), Some(&signed));
    let (client, terms) = (signed.client, signed.terms);
    at.due().insert((terms.last, *id, None), ());
    let bond = terms.bond().expect("the bond was checked");
    let (from, to) = (Purse::Account(terms.provider), Purse::Bond(*id));
    at.post(from, to, bond, Reason::Bond, Some(*id))
        .expect("the bond was checked");
    at.emit(Effect::Contract(ContractEvent::Signed {
        contract: *id,
        client,
        provider: terms.provider,
        bond,
    }));
}

fn check_request(work: &Work<'_>, account: &AccountId, id: &OrderId) -> Result<(), Refusal> {
    let contract = as_client(work, account, id)?;
    let Some(progress) = &contract.progress else {
        return Err(ContractRefusal::Unsigned(*id).into());
    };
    let (jobs, first, last) = (
        contract.terms.jobs,
        contract.terms.first,
        contract.terms.last,
    );
    if progress.closed {
        return Err(ContractRefusal::Closed(*id).into());
    }
    if progress.requested >= jobs {
        let contract = *id;
        return Err(ContractRefusal::Exhausted { contract, jobs }.into());
    }
    let slot = slot(work);
    if !(first..=last).contains(&slot) {
        return Err(ContractRefusal::Window {
            contract: *id,
            first,
            last,
            slot,
        }
        .into());
    }
    Ok(())
}

fn request(at: &mut Pacts<'_, '_>, id: &OrderId, job: OrderId, hash: Hash32) {
    let arrival = slot(at);
    let contract = at.contracts().get_mut(id);
    let contract = contract.expect("the contract was checked");
    let due = arrival.saturating_add(contract.terms.job.patience());
    let progress = contract.progress.as_mut().expect("it was checked");
    let number = progress.requested;
    progress.requested += 1;
    let record = ContractJob {
        number,
        arrival,
        work: hash,
        served: 0,
        order: None,
    };
    at.contract_jobs().insert((*id, job), record);
    at.due().insert((due, *id, Some(job)), ());
}

fn close(at: &mut Pacts<'_, '_>, id: &OrderId) {
    let contract = at.contracts().get_mut(id);
    let contract = contract.expect("the contract was checked");
    match &mut contract.progress {
        None => contract::lapse(at, id, true),
        Some(progress) => {
            progress.closed = true;
            contract::settle_if_over(at, id);
        }
    }
}

fn check_service(
    work: &Work<'_>,
    account: &AccountId,
    id: &OrderId,
    job_id: &OrderId,
    order_id: &OrderId,
) -> Result<(), Refusal> {
    let contract = as_provider(work, account, id)?;
    let job = open_job(work, contract, id, job_id)?;
    if let Some(order) = job.order {
        let job = *job_id;
        return Err(ContractRefusal::Served { job, order }.into());
    }
    let order = work.tables.orders.get(order_id);
    let order = order.filter(|o| o.account == *account);
    let order = order.ok_or(Refusal::NoOrder(*order_id))?;
    if let Some(serving) = &order.serves {
        let (order, job) = (*order_id, serving.job);
        return Err(ContractRefusal::Serves { order, job }.into());
    }
    let terms = &contract.terms;
    let suits = !order.is_sealed()
        && !order.exiting
        && order.class == terms.class
        && order.tasks() == terms.job.units;
    if !suits {
        return Err(ContractRefusal::Unsuitable(*order_id).into());
    }
    Ok(())
}

fn serve(at: &mut Pacts<'_, '_>, contract: &OrderId, job: &OrderId, order: &OrderId) {
    let serving = Serving {
        contract: *contract,
        job: *job,
        since: at.height(),
    };
    let record = at.contract_jobs().get_mut(&serving.key());
    record.expect("the job was checked").order = Some(*order);
    at.set_serving(order, serving);
}

fn contract<'w>(work: &'w Work<'_>, id: &OrderId) -> Result<&'w Contract, ContractRefusal> {
    let contract = work.tables.contracts.get(id);
    contract.ok_or(ContractRefusal::NoContract(*id))
}

/// The contract, if the account is its client.
fn as_client<'w>(
    work: &'w Work<'_>,
    account: &AccountId,
    id: &OrderId,
) -> Result<&'w Contract, ContractRefusal> {
    let contract = contract(work, id)?;
    match contract.client == *account {
        true => Ok(contract),
        false => Err(ContractRefusal::NoContract(*id)),
    }
}

/// The contract, if the account is its provider.
fn as_provider<'w>(
    work: &'w Work<'_>,
    account: &AccountId,
    id: &OrderId,
) -> Result<&'w Contract, ContractRefusal> {
    let contract = contract(work, id)?;
    match contract.terms.provider == *account {
        true => Ok(contract),
        false => Err(ContractRefusal::NoContract(*id)),
    }
}

/// A job that can still be done.
fn open_job<'w>(
    work: &'w Work<'_>,
    contract: &Contract,
    id: &OrderId,
    job_id: &OrderId,
) -> Result<&'w ContractJob, ContractRefusal> {
    let job = work.tables.contract_jobs.get(&(*id, *job_id));
    let job = job.ok_or(ContractRefusal::NoJob(*job_id))?;
    let after = slot(work).saturating_sub(job.arrival);
    match contract.terms.job.timed_out(after) {
        true => Err(ContractRefusal::TimedOut(*job_id)),
        false => Ok(job),
    }
}
