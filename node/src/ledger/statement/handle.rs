//! Statements from the core's history and blocks.

use super::fold::{self, Amounts, Entry, Purses};
use super::types::{Moved, Statement};
use crate::api::types::Signed;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::auction::board::Place;
use crate::backend::NodeBackend;
use crate::backend::failure::{internal, no_account, unknown_account, usage};
use crate::ledger::handle::movement;
use crate::market::class_name;
use crate::order::own::Own;
use gridbay_core::Core;
use gridbay_protocol::ids::{AccountId, OrderId};
use gridbay_protocol::payment::Posting;
use gridbay_protocol::units::Credits;
use std::collections::BTreeSet;

/// Lines of history read in one look at the core.
pub(super) const LINES: usize = 256;
/// Postings of one statement at the most, those after it included: the way to it leads past them.
pub(super) const MOST: usize = 200_000;

/// The account's state when a statement is asked for.
pub(super) struct Start {
    pub(super) account: AccountId,
    name: Option<String>,
    /// Its money, and the height and ledger time of the last block.
    pub(super) amounts: Amounts,
    pub(super) height: u64,
    time_ms: u64,
}

/// Postings that concern an account, latest first, and those orders in them that are its own.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) found: Vec<(Place, Posting)>,
    pub(super) own: BTreeSet<OrderId>,
    /// Lines read.
    pub(super) lines: usize,
    /// Place of the last line read.
    pub(super) oldest: (u64, u32),
    /// Whether that is the account's first line.
    pub(super) whole: bool,
}

impl NodeBackend {
    /// The statement of an account, of the node's own if `None`, between two ledger times: from the
    /// ledger's beginning and to its end if they are not given.
    pub async fn statement(
        &self,
        account: Option<AccountId>,
        from_ms: Option<u64>,
        to_ms: Option<u64>,
    ) -> Answer<Statement> {
        self.statement_of(account, (from_ms, to_ms), None).await
    }

    /// The same, of the orders of a project alone if there is one.
    pub(crate) async fn statement_of(
        &self,
        account: Option<AccountId>,
        (from_ms, to_ms): (Option<u64>, Option<u64>),
        project: Option<String>,
    ) -> Answer<Statement> {
        let turn = self.statements.acquire().await;
        let _turn = turn.map_err(|error| internal("waiting for other statements", error))?;
        let start = self.query(move |core| start(core, account)).await??;
        let (from_ms, to_ms) = period((from_ms, to_ms), start.time_ms)?;
        let first = self.first_from(from_ms, start.height).await?;
        let end = self.first_from(to_ms, start.height).await?;
        self.indexed(first, start.height).await?;
        let part = match &project {
            None => self.part_of_account(&start, (first, end)).await?,
            Some(name) => {
                self.part_of_project(start.account, name.clone(), (first, end))
                    .await?
            }
        };
        let times = (from_ms, to_ms.min(start.time_ms.saturating_add(1)));
        let height = end.saturating_sub(1);
        let whole = Whole {
            start,
            project,
            times,
            height,
        };
        let network = self.parts.network_name.clone();
        let made = self.query(move |core| whole.statement(core, &part, network));
        made.await?.ok_or_else(|| {
            let why = "the sums of this time are larger than an amount can be";
            usage(why, "ask for a shorter time: --from, --to")
        })
    }

    /// What moved an account's money in the blocks from one height to before another.
    async fn part_of_account(&self, start: &Start, (first, end): (u64, u64)) -> Answer<Part> {
        let enough = |walked: &Walked| walked.oldest.0 < first || walked.found.len() > MOST;
        let mut walked = self.walk(start.account, start.height, enough).await?;
        walked.found.retain(|(place, _)| place.0 >= first);
        if walked.found.len() > MOST {
            return Err(too_many());
        }
        let purses = Purses {
            account: start.account,
            orders: &walked.own,
        };
        let mut closing = start.amounts;
        let cut = walked.found.partition_point(|(at, _)| at.0 >= end);
        let (after, within) = walked.found.split_at(cut);
        for (_, posting) in after {
            purses.undo(&mut closing, posting);
        }
        let mut opening = closing;
        for (_, posting) in within {
            purses.undo(&mut opening, posting);
        }
        let entries = self.entries(within.iter().rev()).await?;
        Ok(Part {
            entries,
            own: walked.own,
            opening,
            closing,
        })
    }

    /// Postings with the times of their blocks.
    pub(super) async fn entries<'p>(
        &self,
        postings: impl Iterator<Item = &'p (Place, Posting)> + Clone,
    ) -> Answer<Vec<Entry>> {
        let times = self.block_times(postings.clone().map(|(at, _)| at.0));
        let times = times.await?;
        let entry = |(place, posting): &(Place, Posting)| Entry {
            place: *place,
            time_ms: times.get(&place.0).copied().unwrap_or(0),
            posting: *posting,
        };
        Ok(postings.map(entry).collect())
    }

    /// The height of the first block of a ledger time or later; one more than the last if there is
    /// none.
    async fn first_from(&self, time_ms: u64, last: u64) -> Answer<u64> {
        let (mut low, mut high) = (1, last.saturating_add(1));
        while low < high {
            let middle = low + (high - low) / 2;
            let times = self.block_times(std::iter::once(middle)).await?;
            match times.get(&middle).is_none_or(|time| *time >= time_ms) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Ok(low)
    }

    /// Refuses while the index, from which history comes, lacks blocks: a statement without them
    /// would be wrong.
    async fn indexed(&self, first: u64, last: u64) -> Answer<()> {
        let ends = [first.min(last), last];
        let there = self.query(move |core| {
            let times = core.host().block_times(&ends).into_iter().zip(ends);
            times
                .into_iter()
                .all(|(time, height)| height == 0 || time.is_some())
        });
        match there.await? {
            true => Ok(()),
            false => Err(ApiError::new(
                ErrorCode::Unreachable,
                "this node's index of movements does not reach over this time",
                "restart the node, which makes it anew; `gridbay node status` tells of its disk",
            )),
        }
    }

    /// The postings that concern an account, from the block of a height back until there are
    /// enough.
    pub(super) async fn walk(
        &self,
        account: AccountId,
        last: u64,
        enough: impl Fn(&Walked) -> bool,
    ) -> Answer<Walked> {
        let before = (last.saturating_add(1), 0);
        self.walk_before(account, before, enough).await
    }

    /// The same of those before a place.
    pub(super) async fn walk_before(
        &self,
        account: AccountId,
        mut before: (u64, u32),
        enough: impl Fn(&Walked) -> bool,
    ) -> Answer<Walked> {
        let mut walked = Walked::default();
        loop {
            let read = move |core: &Core| page(core, &account, before);
            let (items, own) = self.query(read).await?;
            let Some((oldest, _)) = items.last() else {
                walked.whole = true;
                return Ok(walked);
            };
            before = *oldest;
            walked.oldest = before;
            walked.lines += items.len();
            let postings = items.into_iter();
            let postings = postings.filter_map(|(place, posting)| Some((place, posting?)));
            walked.found.extend(postings);
            walked.own.extend(own);
            if enough(&walked) {
                return Ok(walked);
            }
        }
    }
}

/// A statement would have more than [`MOST`] postings.
pub(super) fn too_many() -> ApiError {
    let why = format!("more than {MOST} movements since then");
    usage(why, "begin later: --from")
}

/// The time of a statement, from the ledger's beginning and to its end if they are not given.
fn period((from_ms, to_ms): (Option<u64>, Option<u64>), last_ms: u64) -> Answer<(u64, u64)> {
    let from_ms = from_ms.unwrap_or(0);
    let to_ms = to_ms.unwrap_or_else(|| last_ms.saturating_add(1));
    if from_ms >= to_ms {
        let why = "the statement ends before it begins";
        return Err(usage(why, "give a later --to, or an earlier --from"));
    }
    Ok((from_ms, to_ms))
}

pub(super) fn start(core: &Core, account: Option<AccountId>) -> Answer<Start> {
    let account = account.or(core.account()).ok_or_else(no_account)?;
    let state = core.state();
    state
        .account(&account)
        .ok_or_else(|| unknown_account(&account))?;
    let balance = state.balance(&account);
    let micros = |credits: Credits| i128::from(credits.micros());
    Ok(Start {
        account,
        name: state.member_name(&account).map(str::to_owned),
        amounts: Amounts {
            free: balance.free.into(),
            held: micros(balance.escrow),
            retained: micros(balance.retained),
        },
        height: state.height(),
        time_ms: state.time_ms(),
    })
}

/// Lines of history with their places; a line that moves no money has no posting.
type Page = (Vec<(Place, Option<Posting>)>, Vec<OrderId>);

/// One page of an account's history before a place: its lines, and its own orders among them.
fn page(core: &Core, account: &AccountId, before: (u64, u32)) -> Page {
    let host = core.host();
    let lines = host.postings_before(account, before, LINES);
    let postings = lines.iter().filter_map(|(_, posting)| posting.as_ref());
    let orders: BTreeSet<OrderId> = postings.flat_map(Posting::orders).collect();
    let own = |order: &OrderId| host.order_account(order) == Some(*account);
    (lines, orders.into_iter().filter(own).collect())
}

/// The movements of a time, oldest first, and what they are of.
pub(super) struct Part {
    pub(super) entries: Vec<Entry>,
    /// Those orders in them that are the account's own.
    pub(super) own: BTreeSet<OrderId>,
    pub(super) opening: Amounts,
    pub(super) closing: Amounts,
}

/// All that a statement is made of but its movements.
struct Whole {
    start: Start,
    project: Option<String>,
    times: (u64, u64),
    height: u64,
}

impl Whole {
    fn statement(self, core: &Core, part: &Part, network: String) -> Option<Statement> {
        let (state, account) = (core.state(), self.start.account);
        let purses = Purses {
            account,
            orders: &part.own,
        };
        let mut sums = fold::sums(&purses, &part.entries, |class| class_name(state, class))?;
        let jobs = Own::of(core);
        for bought in &mut sums.bought {
            (bought.job, bought.name) = jobs.job(&bought.order);
        }
        let mut amounts = part.opening;
        let mut movements = Vec::new();
        for entry in &part.entries {
            let before = amounts.free;
            purses.apply(&mut amounts, &entry.posting);
            if amounts.free == before {
                continue;
            }
            movements.push(Moved {
                movement: movement(
                    state,
                    &account,
                    entry.place.0,
                    entry.time_ms,
                    &entry.posting,
                ),
                balance: Signed(i64::try_from(amounts.free).ok()?),
            });
        }
        Some(Statement {
            network,
            account,
            name: self.start.name,
            project: self.project,
            from_ms: self.times.0,
            to_ms: self.times.1,
            height: self.height,
            opening: part.opening.money()?,
            closing: part.closing.money()?,
            bought: sums.bought,
            sold: sums.sold,
            other: sums.other,
            days: sums.days,
            movements,
        })
    }
}
