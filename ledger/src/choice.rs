//! The choice of the entries that a block takes among those known.
//!
//! Houses take turns, and within a house its accounts (see `turn`). In its turn a house goes on to
//! its next account, which goes through its entries, from where it stopped, up to the first that
//! the ledger admits; the block takes that one. If there is none, the house goes on to its next
//! account. An entry that the ledger refuses uses up neither room nor the turn, so accounts whose
//! entries exclude one another keep nobody out. The block ends when it is full or no house has any
//! entry left. No entry is looked at twice: this is one *pass*.
//!
//! A choice is *right* if `omission` finds nothing missing in it, whatever of the entries a judge
//! knows. A pass over all entries always is:
//! - An entry that the pass looked at and did not take was refused in the very turn in which a
//!   judge looks at it, after the same entries.
//! - One that it did not look at was left out because the block was full. At that moment all
//!   houses had had the same number of turns, or one more, and used them all as long as they had
//!   entries: no house has two entries more than this one's. The same goes for the accounts of its
//!   house.
//!
//! If a pass leaves anything out for want of room, a second one prefers the entries that wait
//! longest: the last turn goes to the houses that wait longest, and a house that was refused
//! nothing offers its oldest entries alone, as evenly shared among its accounts. If that choice is
//! right as well, it is the better one; else the first stands. It may be wrong, because the ledger
//! may refuse other entries than in the first pass.

use crate::admit::Admitted;
use crate::entry;
use crate::refusal::Refusal;
use crate::room::{Holder, Room};
use crate::turn::{self, OwnPlace, Turn};
use crate::work::Work;
use gridbay_protocol::ids::{AccountId, EntryId};
use gridbay_protocol::stage::Authentic;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// An entry that may be taken.
struct Candidate {
    entry: Arc<Authentic>,
    place: OwnPlace,
    /// Entries of its house that come before it if the oldest of each account come first, and of
    /// those the accounts that wait longest.
    elders: usize,
}

/// A house's entries.
struct Queue {
    house: AccountId,
    /// Houses that wait longer.
    age: usize,
    /// The entries of each account in their own order, by the accounts' turn.
    accounts: Vec<(AccountId, Vec<Candidate>)>,
}

impl Queue {
    /// Counts elders; the entries come as they wait.
    fn count_elders(&mut self) {
        let lists = self.accounts.iter_mut().map(|(_, entries)| entries);
        let entries = lists.enumerate().flat_map(|(age, entries)| {
            let numbered = entries.iter_mut().enumerate();
            numbered.map(move |(number, candidate)| ((number, age), candidate))
        });
        let mut entries: Vec<_> = entries.collect();
        entries.sort_unstable_by_key(|(turn, _)| *turn);
        for (elders, (_, candidate)) in entries.into_iter().enumerate() {
            candidate.elders = elders;
        }
    }
    fn order(&mut self, work: &Work<'_>) {
        for (_, candidates) in &mut self.accounts {
            candidates.sort_by_key(|candidate| candidate.place);
        }
        let turn = |(account, _): &(AccountId, _)| Turn::new(work, account, 0);
        self.accounts.sort_by_cached_key(turn);
    }
}

/// The entries of a queue that a pass goes through.
#[derive(Clone, Copy)]
struct Offer {
    /// Turns of the house at the most.
    turns: usize,
    /// Whether only its oldest entries count, as many as it has turns.
    oldest: bool,
}

/// How far a pass is with a queue.
struct Progress {
    /// By account, the first of its entries that was not looked at.
    next: Vec<usize>,
    /// Accounts that may have entries left, in the order of their turns.
    round: VecDeque<usize>,
}

impl Progress {
    fn new(queue: &Queue) -> Progress {
        let accounts = queue.accounts.len();
        Progress {
            next: vec![0; accounts],
            round: (0..accounts).collect(),
        }
    }
}

/// The queues, by their houses' turn.
fn queues(work: &Work<'_>, entries: Vec<Arc<Authentic>>) -> Vec<Queue> {
    let (mut houses, mut accounts) = (BTreeMap::new(), BTreeMap::new());
    let mut queues: Vec<Queue> = Vec::new();
    for entry in entries {
        let (account, house) = work.holder(&entry);
        let age = *houses.entry(house).or_insert(queues.len());
        if age == queues.len() {
            queues.push(Queue {
                house,
                age,
                accounts: Vec::new(),
            });
        }
        let own = &mut queues[age].accounts;
        let index = *accounts.entry(account).or_insert(own.len());
        if index == own.len() {
            own.push((account, Vec::new()));
        }
        own[index].1.push(Candidate {
            place: turn::own_place(work, &entry),
            elders: 0,
            entry,
        });
    }
    for queue in &mut queues {
        queue.count_elders();
        queue.order(work);
    }
    queues.sort_by_cached_key(|queue| Turn::new(work, &queue.house, 0));
    queues
}

/// The result of one pass.
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
    /// By queue, the entries that the ledger refused, by their number of elders.
    refused: Vec<BTreeSet<usize>>,
    /// The holders whose entries were left out for want of room.
    passed_over: BTreeSet<Holder>,
}

impl Choice<'_> {
    /// Whether nothing left out for want of room is missing.
    fn is_right(&self) -> bool {
        let mut passed_over = self.passed_over.iter();
        passed_over.all(|holder| self.room.excuses(holder))
    }
    fn pass_over(&mut self, holder: Holder, candidate: &Candidate) {
        self.passed_over.insert(holder);
        let refusal = Refusal::BlockFull(self.work.height());
        self.left_out.push((candidate.entry.id(), refusal));
    }
    /// A turn of the house of queue `number`. Returns whether it may have another.
    fn turn(&mut self, number: usize, queue: &Queue, offer: Offer, to: &mut Progress) -> bool {
        while let Some(account) = to.round.front().copied() {
            let (id, candidates) = &queue.accounts[account];
            let holder = (*id, queue.house);
            while let Some(candidate) = candidates.get(to.next[account]) {
                if self.room.is_full() || self.room.share(&queue.house) >= offer.turns {
                    return false;
                }
                to.next[account] += 1;
                if offer.oldest && candidate.elders >= offer.turns {
                    self.pass_over(holder, candidate);
                } else if self.takes(number, holder, candidate) {
                    to.round.rotate_left(1);
                    return true;
                }
            }
            to.round.pop_front();
        }
        false
    }
    /// Whether the ledger admits an entry, which the block then takes.
    fn takes(&mut self, number: usize, holder: Holder, candidate: &Candidate) -> bool {
        self.looks += 1;
        match Admitted::check(&self.work, &candidate.entry) {
            Ok(admitted) => {
                entry::apply(&mut self.work, &admitted);
                self.room.take(holder, candidate.entry.signed_bytes());
                self.taken.push(Arc::clone(&candidate.entry));
                true
            }
            Err(refusal) => {
                self.refused[number].insert(candidate.elders);
                self.left_out.push((candidate.entry.id(), refusal));
                false
            }
        }
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
    let mut progress: Vec<Progress> = queues.iter().map(Progress::new).collect();
    let mut takes_part: Vec<usize> = (0..queues.len()).collect();
    while !takes_part.is_empty() {
        takes_part.retain(|n| choice.turn(*n, &queues[*n], offers[*n], &mut progress[*n]));
    }
    for (queue, progress) in queues.iter().zip(progress) {
        for ((account, candidates), next) in queue.accounts.iter().zip(progress.next) {
            for candidate in &candidates[next..] {
                choice.pass_over((*account, queue.house), candidate);
            }
        }
    }
    choice
}

/// Bytes of a house's entries, as the second pass takes them if the ledger refuses what it refused
/// in the first and nothing else.
fn taken_again(queue: &Queue, refused: &BTreeSet<usize>) -> Vec<usize> {
    let mut taken = Vec::new();
    for (account, (_, candidates)) in queue.accounts.iter().enumerate() {
        let admitted = candidates.iter().filter(|c| !refused.contains(&c.elders));
        taken.extend(admitted.enumerate().map(|(number, candidate)| {
            let turn = match refused.is_empty() {
                true => (candidate.elders, 0),
                false => (number, account),
            };
            (turn, candidate.entry.signed_bytes())
        }));
    }
    taken.sort_unstable();
    taken.into_iter().map(|(_, bytes)| bytes).collect()
}

/// The entries that the second pass goes through: the last turn goes to those that wait longest, as
/// far as there is room.
fn oldest_first(queues: &[Queue], refused: &[BTreeSet<usize>]) -> Vec<Offer> {
    let mut entries = Vec::new();
    for (queue, refused) in queues.iter().zip(refused) {
        let taken = taken_again(queue, refused).into_iter().enumerate();
        entries.extend(taken.map(|(turn, bytes)| (turn, queue.age, bytes)));
    }
    entries.sort_unstable();
    let (mut room, mut last) = (Room::default(), (0, 0));
    for (turn, age, bytes) in entries {
        if room.is_full() {
            break;
        }
        room.take(Holder::default(), bytes);
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
