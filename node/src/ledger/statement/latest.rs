//! The newest part of an account's past, as a statement has it: bounded, however long the past is.

use super::fold::{self, Purses};
use super::handle::{LINES, Walked, start};
use super::types::Moved;
use crate::api::Answer;
use crate::api::page::{Asked, Page};
use crate::api::types::{Movement, Signed};
use crate::auction::board::{Place, key, place};
use crate::backend::NodeBackend;
use crate::ledger::handle::movement;
use crate::ledger::proof::is_of;
use gridbay_protocol::ids::AccountId;
use gridbay_protocol::payment::Posting;
use gridbay_protocol::units::MS_PER_HOUR;
use std::collections::{BTreeMap, BTreeSet};

/// Lines of history read at the most: a movement behind that many others is not found.
const LINES_MOST: usize = 64 * LINES;

/// Income by the hour.
#[derive(Debug, Default)]
pub(crate) struct Incomes {
    /// By hours since 1970; hours without any are missing.
    pub(crate) hours: BTreeMap<u64, Signed>,
    /// The hour from which on they are whole; `None` if all are.
    pub(crate) whole_from: Option<u64>,
}

impl NodeBackend {
    /// The last movements of an account's free balance, newest first, with the balance after each;
    /// of the node's own account if `None`.
    pub(crate) async fn latest(
        &self,
        account: Option<AccountId>,
        limit: usize,
    ) -> Answer<Vec<Moved>> {
        let start = self.query(move |core| start(core, account)).await??;
        let account = start.account;
        let moves = move |(_, posting): &&(_, Posting)| is_of(&account, posting);
        let enough = |walked: &Walked| {
            let found = walked.found.iter().filter(moves).count();
            found >= limit || walked.lines >= LINES_MOST
        };
        let walked = self.walk(account, start.height, enough).await?;
        let found: Vec<_> = walked
            .found
            .iter()
            .filter(moves)
            .take(limit)
            .copied()
            .collect();
        let times = self.block_times(found.iter().map(|(at, _)| at.0)).await?;
        let mut amounts = start.amounts;
        self.query(move |core| {
            let purses = Purses {
                account,
                orders: &BTreeSet::new(),
            };
            let moved = |((height, _), posting): &((u64, u32), _)| {
                let time_ms = times.get(height).copied().unwrap_or(0);
                let after = i64::try_from(amounts.free).unwrap_or(i64::MAX);
                purses.undo(&mut amounts, posting);
                Moved {
                    movement: movement(core.state(), &account, *height, time_ms, posting),
                    balance: Signed(after),
                }
            };
            found.iter().map(moved).collect()
        })
        .await
    }

    /// The part that is asked for of an account's movements, newest first; of the node's own
    /// account if `None`. Where they stand far apart a page has fewer lines than it could.
    pub(crate) async fn movements(
        &self,
        account: Option<AccountId>,
        asked: &Asked,
    ) -> Answer<Page<Movement>> {
        let start = self.query(move |core| start(core, account)).await??;
        let account = start.account;
        let before = match asked.behind()? {
            None => (start.height.saturating_add(1), 0),
            Some(key) => place(key),
        };
        let moves = move |(_, posting): &(Place, Posting)| is_of(&account, posting);
        let enough = |walked: &Walked| {
            let found = walked.found.iter().filter(|line| moves(line)).count();
            found > asked.most || walked.lines >= LINES_MOST
        };
        let mut walked = self.walk_before(account, before, enough).await?;
        walked.found.retain(moves);
        let mut page = asked.cut(walked.found, |(at, _)| key(*at));
        if page.next.is_none() && !walked.whole && asked.most > 0 {
            page.next = Some(asked.place(&key(walked.oldest)));
        }
        let times = self.block_times(page.lines.iter().map(|(at, _)| at.0));
        let times = times.await?;
        self.query(move |core| {
            page.map(|((height, _), posting)| {
                let time_ms = times.get(&height).copied().unwrap_or(0);
                movement(core.state(), &account, height, time_ms, &posting)
            })
        })
        .await
    }

    /// The income of the node's own account by the hour, from its last lines of history.
    pub(crate) async fn incomes(&self, lines: usize) -> Answer<Incomes> {
        let start = self.query(move |core| start(core, None)).await??;
        let enough = |walked: &Walked| walked.lines >= lines;
        let walked = self.walk(start.account, start.height, enough).await?;
        let oldest = [walked.oldest.0].into_iter().filter(|at| *at > 0);
        let oldest = self.block_times(oldest).await?.into_values().next();
        let entries = self.entries(walked.found.iter()).await?;
        let purses = Purses {
            account: start.account,
            orders: &walked.own,
        };
        let hours = fold::changes(&purses, &entries, |ms| ms / MS_PER_HOUR);
        let income = |(hour, change): (u64, fold::Changes)| {
            let units = i64::try_from(change.units).ok()?;
            (units != 0).then_some((hour, Signed(units)))
        };
        Ok(Incomes {
            hours: hours.into_iter().filter_map(income).collect(),
            whole_from: (!walked.whole).then(|| oldest.unwrap_or(0) / MS_PER_HOUR + 1),
        })
    }
}
