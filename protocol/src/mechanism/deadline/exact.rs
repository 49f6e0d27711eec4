//! The order of greatest revenue, by a dynamic programme over sets of jobs.
//!
//! 1. `best(done)` = most that the jobs outside `done` can pay after those in it, in whatever order
//!    they ran: their work alone says when the next one ends. It is the maximum over the next job j
//!    of j's price then and `best(done + j)`.
//! 2. Only such j are tried that let all others still meet their hard deadlines: let the open jobs
//!    run by hard deadline; each has a slack, the units between its end and its due. Putting j
//!    first delays those before it in that order by j's work, so j's work must not exceed the least
//!    slack before it. No set is entered that cannot be completed, and each at most once.
//! 3. If all open jobs can be done while they still pay `pmax`, the best is the sum of these. That
//!    is asked in the same way, by the deadlines up to which `pmax` is paid.
//! 4. The order is read off from the front: of the jobs that reach `best(done)` the smallest id
//!    goes next. Where everybody pays `pmax`, these are the jobs that let the others do so.

use super::lot::Lot;
use crate::mechanism::meter;

/// No value yet. Sums of prices stay below.
const UNKNOWN: u128 = u128::MAX;

/// The jobs by one kind of deadline.
struct Agenda {
    /// Place in the lots, work, units until due; earliest first.
    by_due: Vec<(usize, u64, u64)>,
}

impl Agenda {
    fn new(lots: &[Lot], due: impl Fn(&Lot) -> u64) -> Self {
        let job = |(place, lot): (usize, &Lot)| (place, lot.work(), due(lot));
        let mut by_due: Vec<_> = lots.iter().enumerate().map(job).collect();
        by_due.sort_by_key(|job| job.2);
        Agenda { by_due }
    }

    /// The jobs that may run next so that all open ones meet these deadlines, as a set; `None` if
    /// they cannot. `spent` is the work of the jobs in `done`.
    fn eligible(&self, done: usize, spent: u64) -> Option<usize> {
        let (mut end, mut slack, mut set) = (spent, u64::MAX, 0);
        for &(place, work, due) in &self.by_due {
            meter::steps(1);
            if (done >> place) & 1 == 0 {
                set |= usize::from(work <= slack) << place;
                end += work;
                slack = slack.min(due.checked_sub(end)?);
            }
        }
        Some(set)
    }
}

struct Search<'a> {
    capacity: u64,
    lots: &'a [Lot],
    /// The lots' prices by interval, as far as it pays to list them.
    prices: Vec<Vec<u64>>,
    /// By hard deadline.
    hard: Agenda,
    /// By the deadline up to which `pmax` is paid.
    full: Agenda,
    /// `best` by set, a bit for each place.
    memo: Vec<u128>,
    /// The interval in which the last of a set of jobs is done, for the sets in `memo`: one
    /// division for each set, not for each way to it.
    completion: Vec<u32>,
}

/// The best order of jobs that can all meet their hard deadlines.
pub(super) fn search(lots: &[Lot], capacity: u64) -> Vec<usize> {
    let mut search = Search {
        capacity,
        lots,
        prices: list_prices(lots, capacity),
        hard: Agenda::new(lots, |lot| lot.due),
        full: Agenda::new(lots, |lot| lot.full),
        memo: vec![UNKNOWN; 1 << lots.len()],
        completion: vec![0; 1 << lots.len()],
    };
    if !lots.is_empty() {
        search.best(0, 0);
    }
    search.read_off()
}

/// The prices of each lot by interval from 0. Where there are few sets of jobs, or the work takes
/// long, listing them would take more time than it saves: then the lists are empty.
fn list_prices(lots: &[Lot], capacity: u64) -> Vec<Vec<u64>> {
    let work: u64 = lots.iter().map(Lot::work).sum();
    let last = work.checked_div(capacity).map_or(0, |whole| whole + 1);
    let listed = if last < 1 << lots.len() >> 4 {
        last + 1
    } else {
        0
    };
    let list = |lot: &Lot| {
        (0..listed)
            .inspect(|_| meter::steps(1))
            .map_while(|interval| lot.price(interval))
            .collect()
    };
    lots.iter().map(list).collect()
}

impl Search<'_> {
    /// The price of a job that is done in an interval not behind its hard deadline.
    fn pay(&self, place: usize, completion: u32) -> u64 {
        let listed = self.prices[place].get(completion as usize);
        listed
            .copied()
            .unwrap_or_else(|| self.lots[place].pay_in(completion.into()))
    }

    /// Step 2, as a set.
    fn eligible(&self, done: usize, spent: u64) -> usize {
        let set = self.hard.eligible(done, spent);
        set.expect("only sets are entered that can be completed")
    }

    fn open(&self, done: usize) -> usize {
        (self.memo.len() - 1) & !done
    }

    /// Steps 1 and 3.
    fn best(&mut self, done: usize, spent: u64) -> u128 {
        let best = if self.full.eligible(done, spent).is_some() {
            let most = |place: usize| u128::from(self.lots[place].pmax());
            places(self.open(done)).map(most).sum()
        } else {
            let mut best = 0;
            for place in places(self.eligible(done, spent)) {
                meter::steps(1);
                let next = done | 1 << place;
                let rest = match self.memo[next] {
                    UNKNOWN => self.best(next, spent + self.lots[place].work()),
                    known => known,
                };
                let pay = self.pay(place, self.completion[next]);
                // Eq. 1; E.3, `best(mask)`.
                best = best.max(u128::from(pay) + rest);
            }
            best
        };
        self.memo[done] = best;
        // A job that meets its hard deadline is done before the horizon.
        self.completion[done] = spent.div_ceil(self.capacity) as u32;
        best
    }

    /// Step 4.
    fn read_off(&self) -> Vec<usize> {
        let (mut done, mut spent) = (0, 0);
        let mut order = Vec::with_capacity(self.lots.len());
        while self.open(done) != 0 {
            let next = match self.full.eligible(done, spent) {
                Some(set) => places(set).next(),
                None => places(self.eligible(done, spent)).find(|&place| {
                    meter::steps(1);
                    let pay = self.lots[place].pay(spent + self.lots[place].work(), self.capacity);
                    u128::from(pay) + self.memo[done | 1 << place] == self.memo[done]
                }),
            };
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
