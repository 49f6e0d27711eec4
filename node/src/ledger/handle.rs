//! Balances and statements, and the end of an account.

use super::blocks::{BLOCKS, read_block};
use crate::api::Answer;
use crate::api::ApiError;
use crate::api::types::{Balance, CloseRequest, ClosedAccount, Entries, Movement, Signed};
use crate::backend::NodeBackend;
use crate::backend::failure::{no_account, unknown_account};
use crate::market::class_name;
use gridbay_core::input::Command;
use gridbay_host::HistoryItem;
use gridbay_ledger::State;
use gridbay_protocol::effect::Effect;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::payment::{Posting, Purse, Reason};
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// Lines of history read in one look at the core.
const LINES: usize = 256;
/// Looks for one statement at the most: a line behind that many other effects is not found.
const LOOKS: usize = 64;

impl NodeBackend {
    /// Balance of an account, of the node's own if `None`.
    pub async fn balance(&self, account: Option<AccountId>) -> Answer<Balance> {
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

    /// Closes this node's account, and tells what it moved: the last posting of the block between
    /// the two.
    pub async fn close_account(&self, request: CloseRequest) -> Answer<ClosedAccount> {
        self.acknowledges()?;
        let account = self.query(|core| core.account().ok_or_else(no_account));
        let (account, to) = (account.await??, request.to);
        let (entry, height) = self.on_the_ledger(Command::CloseAccount(to)).await?;
        let moved = self.query(move |core| {
            let page = core
                .host()
                .history(&account, height.saturating_add(1), LINES);
            let mut latest = page.into_iter().take_while(|item| item.height == height);
            latest.find_map(|item| transferred(&account, &to, item))
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
        let whose = self.query(move |core| {
            let account = account.or(core.account()).ok_or_else(no_account)?;
            core.state()
                .account(&account)
                .ok_or_else(|| unknown_account(&account))?;
            Ok::<_, ApiError>(account)
        });
        let account = whose.await??;
        let mut postings: Vec<(u64, Posting)> = Vec::new();
        let mut before = u64::MAX;
        let mut last = None;
        for _ in 0..LOOKS {
            let page = self
                .query(move |core| core.host().history(&account, before, LINES))
                .await?;
            let full = page.len() == LINES;
            // A page can end inside a block, so the next one begins with the same block again.
            let oldest = page.last().map(|item| (item.height, item.position));
            let new = page
                .into_iter()
                .filter(|i| last.is_none_or(|at| (i.height, i.position) < at));
            postings.extend(new.filter_map(|item| own_posting(&account, item)));
            if !full || postings.len() >= limit || oldest == last {
                break;
            }
            last = oldest;
            before = oldest.map_or(0, |(height, _)| height.saturating_add(1));
        }
        postings.truncate(limit);
        let times = self
            .block_times(postings.iter().map(|(height, _)| *height))
            .await?;
        self.query(move |core| {
            let state = core.state();
            let line = |(height, posting): &(u64, Posting)| {
                let time_ms = times.get(height).copied().unwrap_or(0);
                movement(state, &account, *height, time_ms, posting)
            };
            postings.iter().map(line).collect()
        })
        .await
    }

    /// Ledger times of blocks.
    async fn block_times(&self, heights: impl Iterator<Item = u64>) -> Answer<BTreeMap<u64, u64>> {
        let mut wanted: Vec<u64> = heights.collect();
        wanted.dedup();
        let mut times = BTreeMap::new();
        for heights in wanted.chunks(BLOCKS) {
            let heights = heights.to_vec();
            let read = self.query(move |core| {
                let time =
                    |h: u64| Ok::<_, ApiError>((h, read_block(core, h)?.block.header.time_ms));
                heights.into_iter().map(time).collect::<Answer<Vec<_>>>()
            });
            times.extend(read.await??);
        }
        Ok(times)
    }
}

/// The posting of a line, if it moves the account's own money.
fn own_posting(account: &AccountId, item: HistoryItem) -> Option<(u64, Posting)> {
    let Effect::Posting(posting) = item.effect else {
        return None;
    };
    let own = Purse::Account(*account);
    (posting.from == own || posting.to == own).then_some((item.height, posting))
}

/// The amount that a line transferred from one account to the other; `None` if it is about
/// something else.
fn transferred(from: &AccountId, to: &AccountId, item: HistoryItem) -> Option<Credits> {
    let (_, posting) = own_posting(from, item)?;
    let (from, to) = (Purse::Account(*from), Purse::Account(*to));
    let fits = posting.from == from && posting.to == to && posting.reason == Reason::Transfer;
    fits.then_some(posting.amount)
}

fn movement(
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
    use gridbay_protocol::ids::{ClassId, OrderId};

    #[test]
    fn only_own_money_is_in_a_statement() {
        let (me, other) = (AccountId([1; 32]), AccountId([2; 32]));
        let line = |from, to| {
            let amount = Credits::from_micros(5).unwrap();
            let posting = Posting {
                from,
                to,
                amount,
                reason: Reason::Lock,
                order: None,
            };
            HistoryItem {
                height: 3,
                position: 0,
                effect: Effect::Posting(posting),
            }
        };
        let escrow = Purse::Escrow(OrderId([3; 32]));
        assert!(own_posting(&me, line(Purse::Account(me), escrow)).is_some());
        assert!(own_posting(&me, line(escrow, Purse::Account(me))).is_some());
        assert!(own_posting(&me, line(escrow, Purse::Class(ClassId([4; 32])))).is_none());
        assert!(own_posting(&me, line(Purse::Account(other), escrow)).is_none());
        let (mine, theirs) = (Purse::Account(me), Purse::Account(other));
        assert!(
            transferred(&me, &other, line(mine, theirs)).is_none(),
            "a lock"
        );
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
