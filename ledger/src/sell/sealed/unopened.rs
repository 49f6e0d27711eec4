//! Sealed bids that are not opened: when the deposit is lost, and when it is returned.
//!
//! A bid committed in round r can be opened in the *window*: the blocks of round r+1 but the last.
//!
//! 1. In each block of the window the ledger notes its proposer, until it knows
//!    [`OPENING_AUCTIONEERS`] of them, and for every bid still sealed the least that its account
//!    could have paid for the opening so far (its *reach*).
//! 2. At the close of round r+1 an unopened bid leaves the book. If all blocks of the window were
//!    of fewer auctioneers, one of them may have kept the opening out: the bid ends as waived, with
//!    its deposit back. A network with fewer validators, or fewer blocks in its windows, asks for
//!    no more auctioneers than it can have.
//! 3. Otherwise the deposit waits for an appeal (see `super::appeal`), for one round or
//!    [`APPEAL_HEIGHTS`] if that is longer, and is then forfeited to the bank.

use crate::money::{funds, purse};
use crate::record::{Stage, Unopened};
use crate::view::{Book, Seals};
use crate::work::Work;
use crate::{book, holdings};
use gridbay_protocol::effect::{Effect, OrderEnd};
use gridbay_protocol::ids::{AccountId, OrderId, ValidatorId};
use gridbay_protocol::limits::{APPEAL_HEIGHTS, OPENING_AUCTIONEERS};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;

/// Notes who makes this block, if bids can be opened in it.
pub(crate) fn note_auctioneer(at: &mut Seals<'_, '_>, proposer: ValidatorId) {
    if at.closes_round() {
        return;
    }
    let round = at.round();
    let known = at.tables.auctioneers.get(&round);
    let mut known = known.cloned().unwrap_or_default();
    if known.len() < OPENING_AUCTIONEERS && !known.contains(&proposer) {
        known.push(proposer);
        at.auctioneers().insert(round, known);
    }
}

/// Notes, after the entries of a block, how far every account reaches that has a bid to open.
pub(crate) fn note_reach(at: &mut Book<'_, '_>) {
    for (id, account) in to_open(at, None) {
        let free = funds::available(at, &Purse::Account(account));
        let order = at.tables.orders.get(&id);
        let Some(Stage::Sealed { reach, .. }) = order.map(|o| &o.stage) else {
            continue;
        };
        if reach.is_some_and(|reach| reach > free) {
            set_reach(at, &id, |reach| *reach = Some(free));
        }
    }
}

/// The account replaced its keys: if that made its openings inadmissible, it was its own doing.
pub(crate) fn note_keys(at: &mut Book<'_, '_>, account: &AccountId) {
    for (id, _) in to_open(at, Some(account)) {
        set_reach(at, &id, |reach| *reach = None);
    }
}

fn set_reach(at: &mut Book<'_, '_>, id: &OrderId, set: impl FnOnce(&mut Option<Credits>)) {
    let order = at.orders().get_mut(id);
    if let Some(Stage::Sealed { reach, .. }) = order.map(|o| &mut o.stage) {
        set(reach);
    }
}

/// Sealed bids of earlier rounds, of one account or of all, ascending.
fn to_open(work: &Work<'_>, whose: Option<&AccountId>) -> Vec<(OrderId, AccountId)> {
    let round = work.round();
    let first = whose.map_or(AccountId([0; 32]), |account| *account);
    let last = whose.map_or(AccountId([255; 32]), |account| *account);
    let all = (first, OrderId([0; 32]))..=(last, OrderId([255; 32]));
    let sealed = work.tables.sealed.range(all).map(|(place, ())| *place);
    let earlier = |id: &OrderId| {
        let order = work.tables.orders.get(id);
        order.is_some_and(|order| order.round < round)
    };
    let open = sealed.filter(|(_, id)| earlier(id));
    let mut open: Vec<_> = open.map(|(account, id)| (id, account)).collect();
    open.sort_unstable();
    open
}

/// Ends the window at the close of its round.
pub(crate) fn close(at: &mut Seals<'_, '_>) {
    let round = at.round();
    let seen = at.auctioneers().remove(&round);
    let seen = seen.map_or(0, |seen| seen.len());
    let blocks = at.calendar().round_heights as usize - 1;
    let validators = at.constitution.validators.members().len();
    let wanted = OPENING_AUCTIONEERS.min(validators).min(blocks);
    let until = at.height().saturating_add(appeal_heights(at));
    for (id, _) in to_open(at, None) {
        if seen < wanted {
            book::end(&mut at.book(), &id, OrderEnd::Waived);
        } else {
            await_appeal(at, id, until);
        }
    }
}

fn appeal_heights(work: &Work<'_>) -> u64 {
    APPEAL_HEIGHTS.max(u64::from(work.calendar().round_heights))
}

fn await_appeal(at: &mut Seals<'_, '_>, id: OrderId, until: u64) {
    let order = book::leave(&mut at.book(), &id);
    if let Stage::Sealed {
        seal,
        bracket,
        reach,
    } = order.stage
    {
        let unopened = Unopened {
            account: order.account,
            class: order.class,
            round: order.round,
            seal,
            bracket,
            reach,
            until,
        };
        holdings::enter(&mut at.counts(), &unopened);
        at.unopened().insert(id, unopened);
    }
}

/// Forfeits the deposits for which no appeal can come any more.
pub(crate) fn forfeit(at: &mut Seals<'_, '_>) {
    let height = at.height();
    let unopened = at.tables.unopened.iter();
    let over = unopened.filter(|(_, order)| order.until <= height);
    let over: Vec<OrderId> = over.map(|(id, _)| *id).collect();
    for id in over {
        end(at, &id, Purse::Bank, Reason::Forfeit, OrderEnd::NotOpened);
    }
}

/// Returns a deposit to its owner, who appealed.
pub(crate) fn excuse(at: &mut Seals<'_, '_>, id: &OrderId) {
    let account = at.tables.unopened.get(id).map(|order| order.account);
    let account = account.expect("the appeal was checked");
    let owner = Purse::Account(account);
    end(at, id, owner, Reason::Release, OrderEnd::Excused);
}

fn end(at: &mut Seals<'_, '_>, id: &OrderId, to: Purse, reason: Reason, end: OrderEnd) {
    let escrow = Purse::Escrow(*id);
    let deposit = purse::held(at, &escrow);
    at.post(escrow, to, deposit, reason, Some(*id))
        .expect("a purse bears what it holds");
    if let Some(unopened) = at.unopened().remove(id) {
        holdings::leave(&mut at.counts(), &unopened);
    }
    at.emit(Effect::Order { order: *id, end });
}
