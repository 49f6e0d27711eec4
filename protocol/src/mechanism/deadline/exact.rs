//! The order of greatest revenue, by a dynamic programme over sets of jobs.
//!
//! 1. `best(done)` = most that the jobs outside `done` can pay after those in it, in whatever order they ran: their
//!    work alone says when the next one ends. It is the maximum over the next job j of j's price then and
//!    `best(done + j)`.
//! 2. Only such j are tried that let all others still meet their hard deadlines: let the open jobs run by hard
//!    deadline; each has a slack, the units between its end and its due. Putting j first delays those before it in
//!    that order by j's work, so j's work must not exceed the least slack before it. No set is entered that cannot be
//!    completed, and each at most once.
//! 3. The order is read off from the front: of the jobs that reach `best(done)` the smallest id goes next.

use super::market::Lot;

/// No value yet. Sums of prices stay below.
const UNKNOWN: u128 = u128::MAX;

struct Search<'a> {
    capacity: u64,
    lots: &'a [Lot],
    /// By hard deadline: place in `lots`, work, units until due.
    by_deadline: Vec<(usize, u64, u64)>,
    /// `best` by set, a bit for each place.
    memo: Vec<u128>,
}

/// The best order; `edf` is the order by hard deadline, in which everybody meets his.
pub(super) fn search(lots: &[Lot], capacity: u64, edf: &[usize]) -> Vec<usize> {
    let mut search = Search {
        capacity,
        lots,
        by_deadline: edf
            .iter()
            .map(|&at| (at, lots[at].work(), lots[at].due))
            .collect(),
        memo: vec![UNKNOWN; 1 << lots.len()],
    };
    let all = search.memo.len() - 1;
    search.memo[all] = 0;
    search.best(0, 0);
    search.read_off()
}

impl Search<'_> {
    /// The jobs that may run next, as a set.
    fn eligible(&self, done: usize, spent: u64) -> usize {
        let (mut end, mut slack, mut set) = (spent, u64::MAX, 0);
        for &(place, work, due) in &self.by_deadline {
            if done >> place & 1 == 0 {
                set |= usize::from(work <= slack) << place;
                end += work;
                slack = slack.min(due - end);
            }
        }
        set
    }

    /// Step 1; `spent` is the work of the jobs in `done`.
    fn best(&mut self, done: usize, spent: u64) -> u128 {
        if self.memo[done] != UNKNOWN {
            return self.memo[done];
        }
        let mut best = 0;
        for place in places(self.eligible(done, spent)) {
            let end = spent + self.lots[place].work();
            let pay = u128::from(self.lots[place].pay(end, self.capacity));
            best = best.max(pay + self.best(done | 1 << place, end));
        }
        self.memo[done] = best;
        best
    }

    /// Step 3.
    fn read_off(&self) -> Vec<usize> {
        let (mut done, mut spent) = (0, 0);
        let mut order = Vec::with_capacity(self.lots.len());
        while order.len() < self.lots.len() {
            let reaches = |&place: &usize| {
                let pay = self.lots[place].pay(spent + self.lots[place].work(), self.capacity);
                u128::from(pay) + self.memo[done | 1 << place] == self.memo[done]
            };
            let next = places(self.eligible(done, spent)).find(reaches);
            let next = next.expect("the best value of a set is that of one of its jobs");
            done |= 1 << next;
            spent += self.lots[next].work();
            order.push(next);
        }
        order
    }
}

/// The elements of a set, ascending.
fn places(mut set: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(place)
    })
}
