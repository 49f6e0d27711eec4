//! Which of the entries known a block takes.
//!
//! 1. If all fit, the ledger goes through them in the order of a block and takes each that it
//!    admits.
//! 2. If not, each account may have so many: all the same number, or one more, those first that
//!    wait longest. The numbers are the largest with which the entries taken fill the block.
//!    Entries that the ledger refuses use up neither room nor their account's number, so accounts
//!    whose entries exclude one another keep nobody out.
//! 3. Of an account's entries those come first that wait longest; if the ledger refuses one of
//!    them, the account's others are tried in the order of a block.
//!
//! A choice is *right* if nothing that the ledger would admit is left out, or if the block is full
//! and every account with something left out has as many entries as any other, or one less: just
//! what `omission` asks for. The search for the numbers starts with those that are right if nothing
//! is refused and then adapts them to what was refused. After [`CHOICES`] passes it takes the best
//! choice so far. Only then a choice can be wrong: if some entry, admitted once more, makes the
//! ledger admit so many others after it that the block goes from one with room for a large entry to
//! one that is more than full, without a number between. That takes a chain of transfers that wait
//! on one another, among more entries than a block holds, from accounts that all have their share
//! taken.

use crate::admit::Admitted;
use crate::entry;
use crate::execute;
use crate::refusal::Refusal;
use crate::room::Room;
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, EntryId};
use gridbay_protocol::stage::Authentic;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Passes over the entries known, of one admission each: with a full pool each takes as long as
/// looking at the pool after a block. Load without contention needs one.
const CHOICES: usize = 10;

/// An entry that may be taken.
struct Candidate {
    entry: Arc<Authentic>,
    bytes: usize,
    /// Number of its account, those first that wait longest.
    account: usize,
    /// Entries of its account that wait longer.
    elders: usize,
}

/// How many entries an account may have at a level: all of them `level / accounts`, and the first
/// `level % accounts` one more.
fn number(level: usize, account: usize, accounts: usize) -> usize {
    level / accounts + usize::from(account < level % accounts)
}

/// What one pass takes.
pub(crate) struct Choice<'a> {
    /// The working set after the last entry.
    pub(crate) work: Work<'a>,
    /// Entries taken, in the order of a block.
    pub(crate) taken: Vec<Arc<Authentic>>,
    /// Entries left out, and why.
    pub(crate) left_out: Vec<(EntryId, Refusal)>,
    room: Room,
    seen: Seen,
    /// Accounts of what was left out for want of room or number, with how much.
    passed_over: BTreeMap<AccountId, usize>,
}

/// What one pass teaches the next.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// Accounts that the ledger refused an entry.
    refused: BTreeSet<usize>,
    /// Indices of what the ledger refused.
    inadmissible: BTreeSet<usize>,
    /// Whether something was left out for want of room.
    over: bool,
}

impl Choice<'_> {
    /// Entries left out that would be missed.
    fn faults(&self) -> usize {
        let unfair = self.passed_over.iter();
        let unfair = unfair.filter(|(account, _)| !self.room.excuses(account));
        unfair.map(|(_, entries)| entries).sum()
    }
}

/// The candidates in the order of a block, and the number of their accounts.
fn candidates(work: &Work<'_>, entries: Vec<Arc<Authentic>>) -> (Vec<Candidate>, usize) {
    let mut accounts: BTreeMap<AccountId, (usize, usize)> = BTreeMap::new();
    let mut all = Vec::with_capacity(entries.len());
    for entry in entries {
        let next = accounts.len();
        let (account, elders) = accounts.entry(entry.entry().account).or_insert((next, 0));
        all.push(Candidate {
            bytes: entry.signed_bytes(),
            account: *account,
            elders: *elders,
            entry,
        });
        *elders += 1;
    }
    all.sort_by_cached_key(|c| execute::place(work, &c.entry));
    (all, accounts.len())
}

/// One pass. Accounts of `by_place` have their number filled in the order of a block, all others
/// with what waits longest.
fn pass<'a>(
    mut work: Work<'a>,
    all: &[Candidate],
    accounts: usize,
    level: usize,
    by_place: &BTreeSet<usize>,
) -> Choice<'a> {
    let (mut taken, mut left_out) = (Vec::new(), Vec::new());
    let (mut room, mut passed_over) = (Room::default(), BTreeMap::new());
    let mut seen = Seen::default();
    for (index, candidate) in all.iter().enumerate() {
        let entry = &candidate.entry;
        let account = entry.entry().account;
        let number = number(level, candidate.account, accounts);
        let within = match by_place.contains(&candidate.account) {
            true => room.share(&account) < number,
            false => candidate.elders < number,
        };
        let fits = room.fits(candidate.bytes);
        if !within || !fits {
            seen.over |= within;
            *passed_over.entry(account).or_default() += 1;
            left_out.push((entry.id(), Refusal::BlockFull(work.height())));
            continue;
        }
        match Admitted::check(&work, entry) {
            Ok(admitted) => {
                entry::apply(&mut work, &admitted);
                room.take(account, candidate.bytes);
                taken.push(Arc::clone(entry));
            }
            Err(refusal) => {
                seen.refused.insert(candidate.account);
                seen.inadmissible.insert(index);
                left_out.push((entry.id(), refusal));
            }
        }
    }
    Choice {
        work,
        taken,
        left_out,
        room,
        seen,
        passed_over,
    }
}

/// The highest level at which the entries of a block fit if the ledger refuses `inadmissible` and
/// nothing else.
fn estimate(
    all: &[Candidate],
    accounts: usize,
    by_place: &BTreeSet<usize>,
    inadmissible: &BTreeSet<usize>,
) -> usize {
    let mut before: BTreeMap<usize, usize> = BTreeMap::new();
    let mut turns = Vec::with_capacity(all.len());
    for (index, candidate) in all.iter().enumerate() {
        let account = candidate.account;
        let turn = match by_place.contains(&account) {
            true if inadmissible.contains(&index) => continue,
            true => {
                let turn = before.entry(account).or_default();
                *turn += 1;
                *turn - 1
            }
            false => candidate.elders,
        };
        turns.push((turn * accounts + account + 1, candidate.bytes));
    }
    turns.sort_unstable();
    let (mut room, mut level) = (Room::default(), 0);
    for (place, bytes) in turns {
        if !room.fits(bytes) {
            break;
        }
        room.take(AccountId::default(), bytes);
        level = place;
    }
    level
}

/// Chooses among entries, those first that wait longest; `begin` makes the working set before the
/// first.
pub(crate) fn choose<'a>(begin: impl Fn() -> Work<'a>, entries: Vec<Arc<Authentic>>) -> Choice<'a> {
    let (all, accounts) = candidates(&begin(), entries);
    let most = all.iter().map(|candidate| candidate.elders + 1).max();
    let highest = most.unwrap_or(0) * accounts + 1;
    // Levels that are known to leave room, and to ask for more than there is.
    let (mut low, mut high) = (0, highest);
    let mut by_place = BTreeSet::new();
    let mut level = estimate(&all, accounts, &by_place, &BTreeSet::new());
    let mut best = pass(begin(), &all, accounts, level, &by_place);
    let mut last = best.seen.clone();
    for _ in 1..CHOICES {
        let known = by_place.len();
        by_place.extend(last.refused);
        if by_place.len() > known {
            (low, high) = (0, highest);
        } else if last.over {
            high = level;
        } else {
            low = level;
        }
        if best.faults() == 0 || high - low <= 1 {
            break;
        }
        let wanted = estimate(&all, accounts, &by_place, &last.inadmissible);
        level = match low < wanted && wanted < high {
            true => wanted,
            false => low + (high - low) / 2,
        };
        let next = pass(begin(), &all, accounts, level, &by_place);
        last = next.seen.clone();
        if next.faults() < best.faults() {
            best = next;
        }
    }
    best
}
