//! Balances and statements, and the end of an account.

use super::blocks::read_block;
use crate::api::Answer;
use crate::api::ApiError;
use crate::api::types::{Balance, CloseRequest, ClosedAccount, Entries, Movement, Signed};
use crate::backend::failure::{gone, no_account, not_found, unknown_account};
use crate::backend::{NodeBackend, wall_ms};
use crate::market::class_name;
use crate::node::handle::stale;
use gridbay_core::input::Command;
use gridbay_ledger::State;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::payment::{Posting, Purse, Reason};
use gridbay_protocol::units::Credits;
use std::collections::{BTreeMap, BTreeSet};

/// Lines of history read in one look at the core.
const LINES: usize = 256;

impl NodeBackend {
    /// Balance of an account, of the node's own if `None`.
    pub async fn balance(&self, account: Option<AccountId>) -> Answer<Balance> {
        let now = wall_ms();
        let looked = self.query(move |core| {
            let account = account.or(core.account()).ok_or_else(no_account)?;
            let state = core.state();
            state
                .account(&account)
                .ok_or_else(|| unknown_account(&account))?;
            let balance = state.balance(&account);
            let (spent, budget) = (state.spent(&account), state.entry_budget(&account));
            Ok::<_, ApiError>(Balance {
                account,
                balance: Signed(balance.free),
                held: balance.escrow,
                staked: balance.bonds,
                retained: balance.retained,
                in_use: balance.in_use,
                arrears: balance.arrears,
                credit_line: balance.credit_line,
                height: state.height(),
                stale: stale(core, now),
                entries: Entries {
                    spent: spent.entries,
                    budget: budget.entries,
                    spent_bytes: spent.bytes,
                    budget_bytes: budget.bytes,
                },
            })
        });
        looked.await?
    }

    /// The account that a word means: its id, or the name of a founding member.
    pub(crate) async fn account_meant(&self, text: String) -> Answer<AccountId> {
        if let Ok(id) = text.parse() {
            return Ok(id);
        }
        let name = text.clone();
        let named = self.query(move |core| core.state().member_named(&name));
        named.await?.ok_or_else(|| {
            not_found(
                format!("`{text}` is neither an account's id nor the name of one founding member"),
                "give the 64 digits that gridbay ledger balance shows on that node",
            )
        })
    }

    /// Closes this node's account, and tells what it moved: the last posting of the block between
    /// the two.
    pub async fn close_account(&self, request: CloseRequest) -> Answer<ClosedAccount> {
        // It may be closed already: a halt does not say that nothing was done.
        self.parts.body.acknowledges().map_err(gone)?;
        let account = self.query(|core| core.account().ok_or_else(no_account));
        let (account, to) = (account.await??, request.to);
        let (entry, height) = self.on_the_ledger(Command::CloseAccount(to)).await?;
        let moved = self.query(move |core| {
            let before = (height.saturating_add(1), 0);
            let page = core.host().postings_before(&account, before, LINES);
            let mut latest = page.iter().take_while(|(place, _)| place.0 == height);
            latest.find_map(|(_, posting)| transferred(&account, &to, posting.as_ref()?))
        });
        Ok(ClosedAccount {
            entry,
            height,
            to,
            amount: moved.await?.unwrap_or(Credits::ZERO),
        })
    }

    /// Last movements of an account's money, newest first.
    pub async fn history(&self, account: Option<AccountId>, limit: usize) -> Answer<Vec<Movement>> {
        let latest = self.latest(account, limit).await?;
        Ok(latest.into_iter().map(|moved| moved.movement).collect())
    }

    /// Ledger times of blocks.
    pub(crate) async fn block_times(
        &self,
        heights: impl Iterator<Item = u64>,
    ) -> Answer<BTreeMap<u64, u64>> {
        let heights: Vec<u64> = heights.collect::<BTreeSet<u64>>().into_iter().collect();
        let mut times = BTreeMap::new();
        for heights in heights.chunks(LINES) {
            let heights = heights.to_vec();
            let read = self.query(move |core| {
                let known = core.host().block_times(&heights);
                let time = |(height, known): (u64, Option<u64>)| {
                    // Blocks from before a snapshot that the node began with.
                    let read = || Ok(read_block(core, height)?.block.header.time_ms);
                    Ok::<_, ApiError>((height, known.map_or_else(read, Ok)?))
                };
                let all = heights.iter().copied().zip(known);
                all.map(time).collect::<Answer<Vec<_>>>()
            });
            times.extend(read.await??);
        }
        Ok(times)
    }
}

/// The amount that a posting transferred from one account to the other; `None` if it is about
/// something else.
fn transferred(from: &AccountId, to: &AccountId, posting: &Posting) -> Option<Credits> {
    let (from, to) = (Purse::Account(*from), Purse::Account(*to));
    let fits = posting.from == from && posting.to == to && posting.reason == Reason::Transfer;
    fits.then_some(posting.amount)
}

pub(super) fn movement(
    state: &State,
    account: &AccountId,
    height: u64,
    time_ms: u64,
    posting: &Posting,
) -> Movement {
    let out = posting.from == Purse::Account(*account);
    let amount = Signed::from(posting.amount);
    Movement {
        height,
        time_ms,
        amount: if out { Signed(-amount.0) } else { amount },
        reason: posting.reason,
        other: purse(if out { &posting.to } else { &posting.from }, |id| {
            class_name(state, id)
        }),
        order: posting.order,
    }
}

fn purse(purse: &Purse, class: impl Fn(&gridbay_protocol::ids::ClassId) -> String) -> String {
    match purse {
        Purse::Account(id) => format!("account {}", id.to_hex()),
        Purse::Escrow(id) => format!("escrow {}", id.to_hex()),
        Purse::Class(id) => format!("class {}", class(id)),
        Purse::Bond(id) => format!("bond {}", id.to_hex()),
        Purse::Bank => "bank".into(),
        Purse::Retained(id) => format!("retained {}", id.to_hex()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::proof::is_of;
    use gridbay_protocol::ids::{ClassId, OrderId};

    #[test]
    fn only_own_money_is_in_a_statement() {
        let (me, other) = (AccountId([1; 32]), AccountId([2; 32]));
        let posting = |from, to| Posting {
            from,
            to,
            amount: Credits::from_micros(5).unwrap(),
            reason: Reason::Lock,
            order: None,
        };
        let escrow = Purse::Escrow(OrderId([3; 32]));
        let (mine, theirs) = (Purse::Account(me), Purse::Account(other));
        assert!(is_of(&me, &posting(mine, escrow)));
        assert!(is_of(&me, &posting(escrow, mine)));
        let class = Purse::Class(ClassId([4; 32]));
        assert!(!is_of(&me, &posting(escrow, class)));
        assert!(!is_of(&me, &posting(theirs, escrow)));
        let lock = posting(mine, theirs);
        assert_eq!(transferred(&me, &other, &lock), None, "a lock");
        let paid = Posting {
            reason: Reason::Transfer,
            ..lock
        };
        assert_eq!(transferred(&me, &other, &paid), Some(lock.amount));
        assert_eq!(transferred(&other, &me, &paid), None, "the other way");
    }

    #[test]
    fn purses_in_words() {
        let name = |_: &ClassId| "small".to_owned();
        assert_eq!(purse(&Purse::Bank, name), "bank");
        assert_eq!(purse(&Purse::Class(ClassId([4; 32])), name), "class small");
        let account = purse(&Purse::Account(AccountId([0xab; 32])), name);
        assert_eq!(account, format!("account {}", "ab".repeat(32)));
    }
}
