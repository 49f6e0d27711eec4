//! `commit`: a sealed bid. The deposit is the size bracket at the class's reference price, for one
//! slot.

use crate::book;
use crate::money::funds;
use crate::record::{Order, Stage};
use crate::refusal::Refusal;
use crate::view::Book;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, EntryId};
use gridbay_protocol::order::{Commit, order_of};
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;

pub(crate) fn check(work: &Work<'_>, account: &AccountId, commit: &Commit) -> Result<(), Refusal> {
    let deposit = deposit(work, commit)?;
    book::has_room(work, &commit.class, account)?;
    let round = work.round();
    let sealed = book::of_account(work, &commit.class, account).find(|id| {
        let order = work.tables.orders.get(id);
        order.is_some_and(|o| o.round == round && o.is_sealed())
    });
    if let Some(order) = sealed {
        return Err(Refusal::SealedAlready(order));
    }
    funds::require(work, Purse::Account(*account), deposit)
}

pub(crate) fn enter(at: &mut Book<'_, '_>, id: &EntryId, account: &AccountId, commit: &Commit) {
    let order = order_of(id);
    let deposit = deposit(at, commit).expect("the class was checked");
    let stage = Stage::Sealed {
        seal: commit.seal,
        bracket: commit.bracket,
        reach: Some(Credits::MAX),
    };
    let record = Order::new(*account, commit.class, at.round(), stage);
    book::enter(at, order, record);
    let (from, to) = (Purse::Account(*account), Purse::Escrow(order));
    at.post(from, to, deposit, Reason::Deposit, Some(order))
        .expect("the deposit was checked");
}

fn deposit(work: &Work<'_>, commit: &Commit) -> Result<Credits, Refusal> {
    let class = work.class(&commit.class);
    let class = class.ok_or(Refusal::NoClass(commit.class))?;
    let units = 1u64.checked_shl(u32::from(commit.bracket));
    let deposit = units.and_then(|units| class.reference_price.times(units));
    deposit.ok_or(Refusal::Overflow)
}
