//! The bank's turn: at a slot boundary, when all pots are settled and no money is under way.
//!
//! 1. If a sharing is due (see `BankPolicy`), the whole treasury goes to the members by their
//!    shares.
//! 2. If a tax is due, it begins. It takes the accounts ascending by id, [`LEVIES_PER_BLOCK`] in
//!    this block and in each of the next, until all have had their turn. Whatever happens
//!    meanwhile, each account pays on its savings when the tax began (see `savings`).
//! 3. With the last account the tax ends, and the treasury is given out: to the members below their
//!    baseline, or to all. A member is below its baseline only if it is so together with the money
//!    in the accounts that it answers for. Otherwise a member that parks its money in one of these
//!    would be helped up to its baseline at every tax.
//!
//! While a tax runs, no other begins and no profits are shared, or they would share out the money
//! just taken. A tax or sharing that falls due meanwhile is left out until its next period.
//!
//! Members alone have baselines and shares, so only they can get anything, and no other account is
//! looked at for it.

use super::sweep::running;
use super::{Gifts, Holding, due, even_out, profits, savings};
use crate::money::purse;
use crate::record::{Account, Sweep};
use crate::view::{Bank, Money};
use crate::work::Work;
use gridbay_protocol::bank::{Redistribution, SavingsTax};
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::limits::LEVIES_PER_BLOCK;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;
use std::ops::Bound;

/// A boundary: see the module.
pub(crate) fn turn(at: &mut Bank<'_, '_>) {
    let bank = at.constitution.policy.bank;
    let (height, slot) = (at.height(), at.calendar().slot_heights());
    if running(at).is_some() {
        return;
    }
    if bank.shares_at(height, slot) {
        let members = holdings(at);
        give(&mut at.money(), Reason::Profit, &members, profits);
    }
    if bank.tax_at(height, slot).is_some() {
        at.sweeps().insert(height, Sweep { through: None });
        go_on(at);
    }
}

/// The next accounts of the tax that runs, if one does.
pub(crate) fn go_on(at: &mut Bank<'_, '_>) {
    let (Some((began, sweep)), Some(tax)) = (running(at), due::tax(at)) else {
        return;
    };
    let from = sweep.through.map_or(Bound::Unbounded, Bound::Excluded);
    let left = at.tables.accounts.range((from, Bound::Unbounded));
    let batch: Vec<AccountId> = left.take(LEVIES_PER_BLOCK).map(|(id, _)| *id).collect();
    if let Some(last) = batch.last() {
        // Before the levies: their own postings must not ask for them.
        let through = Some(*last);
        at.sweeps().insert(began, Sweep { through });
    }
    for id in &batch {
        savings::reach(&mut at.money(), id, &tax);
    }
    if batch.len() < LEVIES_PER_BLOCK {
        end(at, began, &tax);
    }
}

fn end(at: &mut Bank<'_, '_>, began: u64, tax: &SavingsTax) {
    at.sweeps().remove(&began);
    let holdings = holdings(at);
    match tax.mode {
        Redistribution::All => give(&mut at.money(), Reason::Relief, &holdings, profits),
        Redistribution::Deficit => {
            let mut holdings = holdings;
            for (id, parked) in parked(at) {
                if let Some(holding) = holdings.get_mut(&id) {
                    holding.frozen += parked;
                }
            }
            give(&mut at.money(), Reason::Relief, &holdings, even_out);
        }
    }
}

/// The holdings of all members.
fn holdings(work: &Work<'_>) -> BTreeMap<AccountId, Holding> {
    let members = work.constitution.members.keys();
    members.map(|id| (*id, due::holding(work, id))).collect()
}

/// The money in the accounts that members answer for, frozen or not, by member.
fn parked(work: &Work<'_>) -> BTreeMap<AccountId, u64> {
    let mut sums = BTreeMap::new();
    let mut add = |account: &Account, micros: u64| {
        *sums.entry(account.sponsor).or_insert(0u64) += micros;
    };
    // Balances and accounts ascend alike, so one walk over both finds each balance's account.
    let mut accounts = work.tables.accounts.iter().peekable();
    for (purse, balance) in work.tables.purses.iter() {
        let Purse::Account(id) = purse else {
            break;
        };
        while accounts.next_if(|(other, _)| *other < id).is_some() {}
        let opened = accounts.next_if(|(other, _)| *other == id);
        if let Some((_, account)) = opened.filter(|(_, account)| account.sponsor != *id) {
            add(account, u64::try_from(*balance).unwrap_or(0));
        }
    }
    for (id, savings) in work.tables.savings.iter() {
        let account = work.tables.accounts.get(id);
        if let Some(account) = account.filter(|account| account.sponsor != *id) {
            add(account, savings.frozen);
        }
    }
    sums
}

/// Gives out the treasury to members by a rule.
fn give(
    at: &mut Money<'_, '_>,
    reason: Reason,
    members: &BTreeMap<AccountId, Holding>,
    rule: fn(u64, &[Holding]) -> Gifts,
) {
    let treasury = purse::held(at, &Purse::Bank);
    let holdings: Vec<Holding> = members.values().copied().collect();
    let gifts = rule(treasury.micros(), &holdings);
    for (id, micros) in members.keys().zip(gifts.given) {
        let amount = Credits::from_micros(micros).expect("a part of the treasury is an amount");
        let to = Purse::Account(*id);
        at.post(Purse::Bank, to, amount, reason, None)
            .expect("the treasury covers what it gives");
    }
}
