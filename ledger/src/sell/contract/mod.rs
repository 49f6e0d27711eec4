//! Contracts for batches of jobs, from the proposal to the settlement.
//!
//! | entry | by | what it does |
//! |---|---|---|
//! | propose | client | locks the most that the contract can cost in the contract's escrow |
//! | sign | provider | stakes the penalty of every job in the contract's bond |
//! | request | client | one job arrives now, in a slot of the window |
//! | serve | provider | an order of the provider's serves a job, until the order ends; one order a job, one job an order |
//! | complete | client | a job is done now |
//! | close | client | no more jobs; a proposal that is not signed is taken back |
//!
//! **When a job is done.** At each boundary a lease counts for the job that its order serves if
//!
//! 1. it ran the whole slot, all of it acknowledged, and served the job since before the slot;
//! 2. it holds at least the job's units;
//! 3. no seller in it belongs to the provider's own sponsor: a provider that acknowledges units to
//!    itself proves nothing. On such units only the client's word completes a job.
//!
//! With as many slots as the job asks for, it is done, `after` slots after that of the request: the
//! boundary that closes slot s is s minus the slot of the request. The client's own word counts in
//! the slot in which it comes. A job that is not done when its
//! [patience](gridbay_protocol::order::JobTerms::patience) ends has failed, and owes its penalty.
//!
//! **Settlement.** As soon as all requested jobs are decided and no more can come (all requested,
//! closed by the client, or the window over): `floor(sum of the jobs' payments * f(done /
//! requested))` goes from the escrow to the provider, all penalties go from the bond to the client,
//! and the rest of both goes back.
//!
//! Jobs and windows fall due by an index, at most [`limits::CONTRACT_JOBS_PER_BLOCK`] in a block.
//! The exact block does not matter: a job that is timed out is never done.

mod decide;
pub(crate) mod entry;
mod tally;

pub(crate) use decide::{complete, count, decide_due, settle_if_over};
pub(crate) use tally::{binds, has_room, may_sign, note};

use crate::money::purse;
use crate::record::Contract;
use crate::view::Pacts;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::OrderId;
#[cfg(doc)]
use gridbay_protocol::limits;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::record::contract::ContractEvent;

/// Enters a proposal.
pub(crate) fn enter(at: &mut Pacts<'_, '_>, id: OrderId, contract: Contract) {
    tally::note(at, None, Some(&contract));
    for party in [contract.client, contract.terms.provider] {
        at.parties().insert((party, id), ());
    }
    at.contracts().insert(id, contract);
}

/// Takes a contract out of the book; the money that it still holds goes back to those that put it
/// in.
fn leave(at: &mut Pacts<'_, '_>, id: &OrderId) {
    let contract = at.contracts().remove(id);
    let contract = contract.expect("a contract that ends is live");
    tally::note(at, Some(&contract), None);
    let (client, provider) = (contract.client, contract.terms.provider);
    for party in [client, provider] {
        at.parties().remove(&(party, *id));
    }
    at.due().remove(&(contract.terms.last, *id, None));
    for (from, to) in [(Purse::Escrow(*id), client), (Purse::Bond(*id), provider)] {
        let (rest, to) = (purse::held(at, &from), Purse::Account(to));
        at.post(from, to, rest, Reason::Release, Some(*id))
            .expect("a purse bears what it holds");
    }
}

/// Ends a proposal that was not signed.
pub(crate) fn lapse(at: &mut Pacts<'_, '_>, id: &OrderId, withdrawn: bool) {
    leave(at, id);
    let contract = *id;
    at.emit(Effect::Contract(ContractEvent::Lapsed {
        contract,
        withdrawn,
    }));
}

/// At the close of a round: proposals lapse that can be signed no more.
pub(crate) fn time_out(at: &mut Pacts<'_, '_>) {
    let height = at.height();
    let next = at.calendar().slot(height + 1);
    let over = |contract: &Contract| {
        contract.progress.is_none()
            && (contract.terms.stands_until <= height || contract.terms.last < next)
    };
    let all = at.tables.contracts.iter();
    let late: Vec<OrderId> = all.filter(|(_, c)| over(c)).map(|(id, _)| *id).collect();
    for id in &late {
        lapse(at, id, false);
    }
}
