//! Which of the entries known a block takes.
//!
//! Accounts take turns (see `turn`). In its turn an account goes through its entries, from where it
//! stopped, up to the first that the ledger admits; the block takes that one. An entry that the
//! ledger refuses uses up neither room nor the turn, so accounts whose entries exclude one another
//! keep nobody out. The block ends when it is full or no account has any entry left. No entry is
//! looked at twice: this is one *pass*.
//!
//! A choice is *right* if `omission` finds nothing missing in it, whatever of the entries a judge
//! knows. A pass over all entries always is:
//! - An entry that the pass looked at and did not take was refused in the very turn in which a
//!   judge looks at it, after the same entries.
//! - One that it did not look at was left out because the block was full. At that moment all
//!   accounts had had the same number of turns, or one more, and used them all as long as they had
//!   entries: no account has two entries more than this one's.
//!
//! If a pass leaves anything out for want of room, a second one prefers what waits longest: the
//! last turn goes to the accounts that wait longest, and an account that was refused nothing offers
//! its oldest entries alone. If that choice is right as well, it is the better one; else the first
//! stands. It may be wrong, because the ledger may refuse other entries than in the first pass.

use crate::admit::Admitted;
use crate::entry;
use crate::refusal::Refusal;
use crate::room::Room;
use crate::turn::{self, OwnPlace, Turn};
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, EntryId};
use gridbay_protocol::stage::Authentic;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An entry that may be taken.
struct Candidate {
    entry: Arc<Authentic>,
    place: OwnPlace,
    /// Entries of its account that wait longer.
    elders: usize,
}

/// An account's entries in their own order.
struct Queue {
    account: AccountId,
    /// Accounts that wait longer.
    age: usize,
    candidates: Vec<Candidate>,
}

/// What a pass goes through of a queue.
#[derive(Clone, Copy)]
struct Offer {
    /// Turns of the account at the most.
    turns: usize,
    /// Whether only its oldest entries count, as many as it has turns.
    oldest: bool,
}

/// The queues, by their accounts' turn.
fn queues(work: &Work<'_>, entries: Vec<Arc<Authentic>>) -> Vec<Queue> {
    let mut accounts: BTreeMap<AccountId, usize> = BTreeMap::new();
    let mut queues: Vec<Queue> = Vec::new();
    for entry in entries {
        let account = entry.entry().account;
        let age = *accounts.entry(account).or_insert(queues.len());
        if age == queues.len() {
            queues.push(Queue {
                account,
                age,
                candidates: Vec::new(),
            });
        }
        let candidates = &mut queues[age].candidates;
        candidates.push(Candidate {
            place: turn::own_place(work, &entry),
            elders: candidates.len(),
            entry,
        });
    }
    for queue in &mut queues {
        queue.candidates.sort_by_key(|candidate| candidate.place);
    }
    queues.sort_by_cached_key(|queue| Turn::new(work, &queue.account, 0));
    queues
}

/// What one pass takes.
pub(crate) struct Choice<'a> {
    /// The working set after the last entry.
    pub(crate) work: Work<'a>,
    /// Entries taken, in the order of a block.
    pub(crate) taken: Vec<Arc<Authentic>>,
    /// Entries left out, and why.
    pub(crate) left_out: Vec<(EntryId, Refusal)>,
    /// Entries that the ledger looked at, in all passes.
    pub(crate) looks: usize,
    room: Room,
    /// By queue, indices of the candidates that the ledger refused.
    refused: Vec<BTreeSet<usize>>,
    /// Accounts of what was left out for want of room.
    passed_over: BTreeSet<AccountId>,
}

impl Choice<'_> {
    /// Whether nothing left out for want of room is missing.
    fn is_right(&self) -> bool {
        let mut passed_over = self.passed_over.iter();
        passed_over.all(|account| self.room.excuses(account))
    }
    fn pass_over(&mut self, account: AccountId, candidate: &Candidate) {
        self.passed_over.insert(account);
        let refusal = Refusal::BlockFull(self.work.height());
        self.left_out.push((candidate.entry.id(), refusal));
    }
    /// A turn of the account of queue `number`, whose candidates before `next` were looked at.
    /// Returns whether it may have another.
    fn turn(&mut self, number: usize, queue: &Queue, offer: Offer, next: &mut usize) -> bool {
        while let Some(candidate) = queue.candidates.get(*next) {
            if self.room.is_full() || self.room.share(&queue.account) >= offer.turns {
                return false;
            }
            *next += 1;
            if offer.oldest && candidate.elders >= offer.turns {
                self.pass_over(queue.account, candidate);
                continue;
            }
            self.looks += 1;
            match Admitted::check(&self.work, &candidate.entry) {
                Ok(admitted) => {
                    entry::apply(&mut self.work, &admitted);
                    let bytes = candidate.entry.signed_bytes();
                    self.room.take(queue.account, bytes);
                    self.taken.push(Arc::clone(&candidate.entry));
                    return true;
                }
                Err(refusal) => {
                    self.refused[number].insert(*next - 1);
                    self.left_out.push((candidate.entry.id(), refusal));
                }
            }
        }
        false
    }
}

/// One pass.
fn pass<'a>(work: Work<'a>, queues: &[Queue], offers: &[Offer]) -> Choice<'a> {
    let mut choice = Choice {
        work,
        taken: Vec::new(),
        left_out: Vec::new(),
        looks: 0,
        room: Room::default(),
        refused: vec![BTreeSet::new(); queues.len()],
        passed_over: BTreeSet::new(),
    };
    let mut next = vec![0; queues.len()];
    let mut takes_part: Vec<usize> = (0..queues.len()).collect();
    while !takes_part.is_empty() {
        takes_part.retain(|n| choice.turn(*n, &queues[*n], offers[*n], &mut next[*n]));
    }
    for (queue, next) in queues.iter().zip(next) {
        for candidate in &queue.candidates[next..] {
            choice.pass_over(queue.account, candidate);
        }
    }
    choice
}

/// What the second pass goes through: the last turn goes to those that wait longest, as far as
/// there is room if the ledger refuses what it refused in the first and nothing else.
fn oldest_first(queues: &[Queue], refused: &[BTreeSet<usize>]) -> Vec<Offer> {
    let mut entries = Vec::new();
    for (queue, refused) in queues.iter().zip(refused) {
        let all = queue.candidates.iter().enumerate();
        let admitted = all.filter(|(index, _)| !refused.contains(index));
        entries.extend(admitted.enumerate().map(|(nth, (_, candidate))| {
            let turn = match refused.is_empty() {
                true => candidate.elders,
                false => nth,
            };
            (turn, queue.age, candidate.entry.signed_bytes())
        }));
    }
    entries.sort_unstable();
    let (mut room, mut last) = (Room::default(), (0, 0));
    for (turn, age, bytes) in entries {
        if room.is_full() {
            break;
        }
        room.take(AccountId::default(), bytes);
        last = (turn, age);
    }
    let (turn, age) = last;
    let offer = |(queue, refused): (&Queue, &BTreeSet<usize>)| Offer {
        turns: turn + usize::from(queue.age <= age),
        oldest: refused.is_empty(),
    };
    queues.iter().zip(refused).map(offer).collect()
}

/// Chooses among entries, those first that wait longest; `begin` makes the working set before the
/// first. Work: one admission for each entry, two if not all fit.
pub(crate) fn choose<'a>(begin: impl Fn() -> Work<'a>, entries: Vec<Arc<Authentic>>) -> Choice<'a> {
    let queues = queues(&begin(), entries);
    let all = Offer {
        turns: usize::MAX,
        oldest: false,
    };
    let any = pass(begin(), &queues, &vec![all; queues.len()]);
    if any.passed_over.is_empty() {
        return any;
    }
    let offers = oldest_first(&queues, &any.refused);
    let old = pass(begin(), &queues, &offers);
    let looks = any.looks + old.looks;
    let chosen = if old.is_right() { old } else { any };
    Choice { looks, ..chosen }
}
