//! I1: money is conserved in every reachable state; no balance falls below its credit line.
//!
//! 1. A book of the checker's own starts with the money that the genesis mints, and records every
//!    posting of every block.
//! 2. A purse that is debited must bear it: an account down to its credit line, the others down to
//!    nothing.
//! 3. A reason moves money between the kinds of purses it is meant for; an escrow gives back only
//!    to the account that filled it; transfers and endowments are the ones that the block's entries
//!    order; the treasury is given to members only.
//! 4. From time to time, and at the end, the purses of every honest node at that height are the
//!    book's.
//! 5. After every block the ledger's own audit of all records finds nothing: nodes audit only the
//!    records that a block touched.

use super::{Check, Fact, Sight};
use crate::world::World;
use gridbay_ledger::State;
use gridbay_protocol::account::opened_by;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::genesis::Genesis;
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::payment::{Posting, Purse, Reason};
use std::collections::{BTreeMap, BTreeSet};

/// Blocks between two comparisons with the nodes.
const COMPARE_BLOCKS: u64 = 20;

/// The own book.
#[derive(Debug, Default)]
pub(crate) struct Conservation {
    purses: BTreeMap<Purse, i128>,
    lines: BTreeMap<AccountId, i128>,
    /// Founding members.
    members: BTreeSet<AccountId>,
    /// The account that filled an escrow.
    owners: BTreeMap<OrderId, AccountId>,
    minted: i128,
    height: u64,
}

impl Conservation {
    fn found(&mut self, genesis: &Genesis) {
        for member in &genesis.members {
            let id = genesis.account(member);
            let endowment = i128::from(member.endowment.micros());
            self.minted += endowment;
            self.members.insert(id);
            self.purses.insert(Purse::Account(id), endowment);
            self.lines
                .insert(id, i128::from(member.credit_line.micros()));
        }
    }
    /// Steps 1 to 3 for one posting.
    fn post(&mut self, posting: &Posting) -> Result<(), String> {
        let Posting {
            from,
            to,
            amount,
            reason,
            ..
        } = posting;
        if amount.micros() == 0 || from == to || !is_meant(posting) {
            return Err(format!("{posting:?} is no posting of its reason"));
        }
        self.owned(posting)?;
        let line = match from {
            Purse::Account(id) => self.lines.get(id).copied().unwrap_or(0),
            _ => 0,
        };
        let wide = i128::from(amount.micros());
        let held = self.purses.entry(*from).or_default();
        if *held - wide < -line {
            return Err(format!(
                "{from:?} holds {held} and pays {wide} for {reason:?}: a posting from nowhere"
            ));
        }
        *held -= wide;
        *self.purses.entry(*to).or_default() += wide;
        Ok(())
    }
    /// An escrow's money comes from one account and returns to no other.
    fn owned(&mut self, posting: &Posting) -> Result<(), String> {
        match (posting.from, posting.to, posting.reason) {
            (Purse::Account(account), Purse::Escrow(order), _) => {
                let owner = *self.owners.entry(order).or_insert(account);
                (owner == account)
                    .then_some(())
                    .ok_or(format!("escrow of {order} is filled by {account}"))
            }
            (Purse::Escrow(from), Purse::Escrow(to), _) => {
                let owner = |order| self.owners.get(order);
                (owner(&from).is_some() && owner(&from) == owner(&to))
                    .then_some(())
                    .ok_or(format!("escrow of {from} fills that of {to}"))
            }
            (Purse::Escrow(order), Purse::Account(account), Reason::Release) => {
                (self.owners.get(&order) == Some(&account))
                    .then_some(())
                    .ok_or(format!("escrow of {order} is released to {account}"))
            }
            (Purse::Bank, Purse::Account(account), reason) => self
                .members
                .contains(&account)
                .then_some(())
                .ok_or(format!("{account} is no member and gets {reason:?}")),
            _ => Ok(()),
        }
    }
    fn block(&mut self, entries: &[SignedEntry], effects: &[Effect]) -> Result<(), String> {
        let mut ordered = ordered(entries);
        let closing = closing(entries);
        for effect in effects {
            let Effect::Posting(posting) = effect else {
                continue;
            };
            self.post(posting)?;
            if matches!(posting.reason, Reason::Transfer | Reason::Endowment) {
                let deed = (posting.from, posting.to, posting.amount.micros());
                let at = ordered.iter().position(|o| *o == deed);
                match at {
                    Some(at) => drop(ordered.swap_remove(at)),
                    None if closing.contains(&(posting.from, posting.to)) => {}
                    None => return Err(format!("nobody ordered {posting:?}")),
                }
            }
        }
        for (closed, _) in closing {
            if self.purses.get(&closed).is_some_and(|left| *left != 0) {
                return Err(format!("{closed:?} was closed and is not empty"));
            }
        }
        match ordered.first() {
            Some(left) => Err(format!("{left:?} was ordered and not posted")),
            None => Ok(()),
        }
    }
    /// Step 4.
    fn compare(&self, node: usize, state: &State) -> Result<(), String> {
        if state.height() != self.height {
            return Ok(());
        }
        let accounts = state.accounts().map(|(id, _)| Purse::Account(*id));
        let escrows = state.orders().map(|(id, _)| Purse::Escrow(*id));
        let booked = self.purses.iter().filter(|(_, n)| **n != 0);
        let all: BTreeSet<Purse> = accounts
            .chain(escrows)
            .chain(booked.map(|(purse, _)| *purse))
            .chain([Purse::Bank])
            .collect();
        let mut sum = 0;
        for purse in all {
            let (has, booked) = (i128::from(state.purse(&purse)), self.purses.get(&purse));
            if has != booked.copied().unwrap_or(0) {
                return Err(format!(
                    "{purse:?} holds {has} at node {node}, the book says {booked:?}"
                ));
            }
            sum += has;
        }
        if sum != self.minted {
            let minted = self.minted;
            return Err(format!(
                "node {node} holds {sum} in all, {minted} were minted"
            ));
        }
        Ok(())
    }
    fn compare_all(&self, world: &World) -> Result<(), String> {
        let cores = world.honest().filter_map(|n| Some((n, world.core(n)?)));
        cores
            .into_iter()
            .try_for_each(|(n, core)| self.compare(n, core.state()))
    }
}

/// The transfers and endowments that entries order.
fn ordered(entries: &[SignedEntry]) -> Vec<(Purse, Purse, u64)> {
    let deed = |signed: &SignedEntry| {
        let from = Purse::Account(signed.entry.account);
        let (to, amount) = match &signed.entry.body {
            EntryBody::Transfer { to, amount, .. } => (*to, *amount),
            EntryBody::OpenAccount {
                grant, endowment, ..
            } => {
                let granted = grant.as_ref().map(|g| g.grant.endowment);
                (opened_by(&signed.id()), granted.unwrap_or(*endowment))
            }
            _ => return None,
        };
        let to = Purse::Account(to);
        (amount.micros() > 0 && from != to).then_some((from, to, amount.micros()))
    };
    entries.iter().filter_map(deed).collect()
}

/// The accounts that entries close, and the accounts that get their money.
fn closing(entries: &[SignedEntry]) -> Vec<(Purse, Purse)> {
    let deed = |signed: &SignedEntry| match &signed.entry.body {
        EntryBody::CloseAccount { to } => {
            Some((Purse::Account(signed.entry.account), Purse::Account(*to)))
        }
        _ => None,
    };
    entries.iter().filter_map(deed).collect()
}

/// Whether a reason may move money between these kinds of purses.
fn is_meant(posting: &Posting) -> bool {
    use Purse::{Account, Bank, Bond, Class, Escrow, Retained};
    match posting.reason {
        Reason::Transfer | Reason::Endowment => {
            matches!((posting.from, posting.to), (Account(_), Account(_)))
        }
        Reason::Deposit => matches!((posting.from, posting.to), (Account(_), Escrow(_))),
        // From an escrow: the deposit of an amendment.
        Reason::Lock => matches!(
            (posting.from, posting.to),
            (Account(_) | Escrow(_), Escrow(_))
        ),
        Reason::Compensation => matches!((posting.from, posting.to), (Escrow(_), Account(_))),
        // To the sellers, or to the bank where revenue is shared by all.
        Reason::Cancellation => {
            matches!((posting.from, posting.to), (Escrow(_), Account(_) | Bank))
        }
        Reason::Release => {
            matches!(
                (posting.from, posting.to),
                (Escrow(_) | Bond(_), Account(_))
            )
        }
        Reason::Forfeit => matches!((posting.from, posting.to), (Escrow(_), Bank)),
        Reason::Charge => matches!((posting.from, posting.to), (Escrow(_), Class(_))),
        Reason::Revenue => {
            matches!(
                (posting.from, posting.to),
                (Class(_) | Escrow(_) | Retained(_), Bank)
            )
        }
        Reason::Profit | Reason::Relief => {
            matches!((posting.from, posting.to), (Bank, Account(_)))
        }
        Reason::Tax | Reason::Arrears => {
            matches!((posting.from, posting.to), (Account(_), Bank))
        }
        // From an escrow: of a job by a deadline that is done, or of a contract that is settled.
        Reason::Earning => match (posting.from, posting.to) {
            (Class(_) | Retained(_), Account(_)) => true,
            (Escrow(order), Account(_)) => posting.order == Some(order),
            _ => false,
        },
        Reason::Refund => {
            matches!(
                (posting.from, posting.to),
                (Class(_) | Retained(_), Account(_))
            )
        }
        Reason::Retained => matches!((posting.from, posting.to), (Class(_), Retained(_))),
        Reason::Bond => matches!((posting.from, posting.to), (Account(_), Bond(_))),
        Reason::Damages => matches!((posting.from, posting.to), (Bond(_), Account(_))),
    }
}

impl Check for Conservation {
    fn id(&self) -> &'static str {
        "I1"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        let Sight::Block(Fact {
            node,
            height,
            decided,
            effects,
        }) = sight
        else {
            return Ok(());
        };
        if self.height == 0 {
            self.found(&world.genesis);
        }
        self.height = *height;
        self.block(&decided.block.entries, effects)?;
        let core = world
            .core(*node)
            .filter(|core| core.state().height() == *height);
        if let Some(Err(breach)) = core.map(|core| core.state().audit()) {
            return Err(format!("after block {height}: {breach}"));
        }
        if height.is_multiple_of(COMPARE_BLOCKS) {
            self.compare_all(world)?;
        }
        Ok(())
    }
    fn end(&mut self, world: &World) -> Result<(), String> {
        self.compare_all(world)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use gridbay_protocol::units::Credits;

    fn posting(from: Purse, to: Purse, micros: u64, reason: Reason) -> Posting {
        Posting {
            from,
            to,
            amount: Credits::from_micros(micros).unwrap(),
            reason,
            order: None,
        }
    }
    fn account(n: u8) -> Purse {
        Purse::Account(AccountId([n; 32]))
    }
    fn escrow(n: u8) -> Purse {
        Purse::Escrow(OrderId([n; 32]))
    }

    #[test]
    fn money_from_nowhere_is_reported() {
        let mut book = Conservation::default();
        book.purses.insert(account(1), 10);
        assert!(
            book.post(&posting(account(1), escrow(1), 10, Reason::Deposit))
                .is_ok()
        );
        for bad in [
            posting(account(1), escrow(1), 1, Reason::Lock),
            posting(escrow(1), account(2), 5, Reason::Release),
            posting(escrow(1), account(2), 5, Reason::Earning),
            posting(account(2), account(1), 5, Reason::Transfer),
            posting(escrow(1), account(1), 0, Reason::Release),
        ] {
            assert!(book.post(&bad).is_err(), "{bad:?}");
        }
        book.lines.insert(AccountId([3; 32]), 5);
        let to_line = posting(account(3), account(1), 5, Reason::Transfer);
        assert_eq!(book.post(&to_line), Ok(()));
        assert!(book.post(&to_line).is_err(), "below the credit line");
    }

    #[test]
    fn a_transfer_that_nobody_ordered_is_reported() {
        let mut book = Conservation::default();
        book.purses.insert(account(1), 10);
        let gift = posting(account(1), account(2), 5, Reason::Transfer);
        assert!(book.block(&[], &[Effect::Posting(gift)]).is_err());
    }

    #[test]
    fn a_state_that_differs_from_the_book_is_reported() {
        let genesis = crate::found::genesis(&Plan::calm(1, 4));
        let state = State::genesis(&genesis).unwrap();
        let mut book = Conservation::default();
        book.found(&genesis);
        assert_eq!(book.compare(0, &state), Ok(()));
        *book.purses.entry(Purse::Bank).or_default() += 1;
        assert!(book.compare(0, &state).is_err());
        book.purses.insert(Purse::Bank, 0);
        book.minted += 1;
        assert!(book.compare(0, &state).is_err());
    }
}
