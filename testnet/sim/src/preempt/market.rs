//! The market of the experiment, slot by slot.
//!
//! 1. Requests that are done leave.
//! 2. Buys get units in the order of their coming: free ones, or those of bids that give way. The
//!    bids that run compete anew, for as many units less as the buy needs, as on the ledger.
//! 3. All bids compete for what no buy holds: the auction under the exact rule, ties to the
//!    earlier. One that runs and does not win is preempted too.
//!
//! A buy pays whatever it displaces: none is too dear.

use super::keep::Keeping;
use super::scenario::{Request, UNITS};
use super::{Figures, SLOT_MS};
use gridbay_protocol::mechanism::ausubel::{Bidder, Input, Rule, clear};
use std::collections::BTreeSet;

/// A lease that runs.
#[derive(Clone, Copy, Debug)]
struct Lease {
    from_ms: u64,
    /// When the job works on it.
    works_ms: u64,
}

/// A request that is not done.
#[derive(Clone, Copy, Debug)]
struct Job {
    request: Request,
    left_ms: u64,
    lease: Option<Lease>,
    /// When its last state is at its buyer's node.
    here_ms: u64,
    preempted: u64,
}

impl Job {
    fn has_state(&self) -> bool {
        self.left_ms < self.request.work_ms
    }
    fn ends_ms(&self, keeping: &Keeping) -> Option<u64> {
        Some(self.lease?.works_ms + keeping.runs(self.left_ms))
    }
}

struct Market<'k> {
    keeping: &'k Keeping,
    /// In the order of their coming.
    jobs: Vec<Job>,
    figures: Figures,
}

/// Runs requests for so long.
pub(super) fn run(requests: &[Request], keeping: &Keeping, span_ms: u64) -> Figures {
    let mut market = Market {
        keeping,
        jobs: Vec::new(),
        figures: Figures {
            span_ms,
            ..Figures::default()
        },
    };
    let mut coming = requests.iter().peekable();
    let mut now = 0;
    while now < span_ms {
        now += SLOT_MS;
        let mut moved = market.finish(now);
        while let Some(request) = coming.next_if(|r| r.at_ms < now) {
            moved = true;
            market.figures.came += 1;
            market.jobs.push(Job {
                request: *request,
                left_ms: request.work_ms,
                lease: None,
                here_ms: 0,
                preempted: 0,
            });
        }
        // The same bids for the same units come to the same end.
        if moved {
            market.serve_buys(now);
            market.clear_bids(now);
        }
    }
    market.cut(span_ms);
    market.figures
}

impl Market<'_> {
    fn busy(&mut self, job: &Job, span_ms: u64) {
        let busy = u64::from(job.request.units) * span_ms;
        match job.request.bid {
            Some(_) => self.figures.busy_bids += busy,
            None => self.figures.busy_buys += busy,
        }
    }

    /// Counts a lease of a job until now, and returns how long the job ran on it.
    fn count(&mut self, job: &Job, lease: Lease, now: u64) -> u64 {
        let units = u64::from(job.request.units);
        self.busy(job, now - lease.from_ms);
        let ran = now.saturating_sub(lease.works_ms);
        if job.preempted > 0 {
            self.figures.returning += units * (now.min(lease.works_ms) - lease.from_ms);
        }
        self.figures.saving += units * self.keeping.worked(ran).1;
        ran
    }

    /// Step 1.
    fn finish(&mut self, now: u64) -> bool {
        let over = |job: &Job| job.ends_ms(self.keeping).filter(|end| *end <= now);
        let done: Vec<(Job, u64)> = { self.jobs.iter() }
            .filter_map(|job| Some((*job, over(job)?)))
            .collect();
        self.jobs.retain(|job| over(job).is_none());
        for (job, end) in &done {
            if let Some(lease) = job.lease {
                self.count(job, lease, *end);
                self.figures.useful += u64::from(job.request.units) * job.left_ms;
            }
            self.figures.done += 1;
        }
        !done.is_empty()
    }

    fn held(&self, bids: bool) -> u32 {
        let holds = |job: &&Job| job.lease.is_some() && job.request.bid.is_some() == bids;
        let units = self.jobs.iter().filter(holds).map(|job| job.request.units);
        units.sum()
    }

    /// Step 2.
    fn serve_buys(&mut self, now: u64) {
        for at in 0..self.jobs.len() {
            let job = self.jobs[at];
            if job.request.bid.is_some() || job.lease.is_some() {
                continue;
            }
            let (wanted, bids) = (job.request.units, self.held(true));
            let free = UNITS - self.held(false) - bids;
            // Of one that finds no room the next ones do not take the units.
            if free + bids < wanted {
                return;
            }
            if free < wanted {
                let stay = self.winners(free + bids - wanted, |job| job.lease.is_some());
                self.preempt_others(&stay, now);
            }
            self.lease(at, now);
        }
    }

    /// Step 3.
    fn clear_bids(&mut self, now: u64) {
        let winners = self.winners(UNITS - self.held(false), |_| true);
        self.preempt_others(&winners, now);
        for at in winners {
            if self.jobs[at].lease.is_none() {
                self.lease(at, now);
            }
        }
    }

    /// The bids that win so many units, by their place.
    fn winners(&self, supply: u32, competes: impl Fn(&Job) -> bool) -> BTreeSet<usize> {
        let bidders = self.jobs.iter().enumerate().filter_map(|(at, job)| {
            let price = job.request.bid.filter(|_| competes(job))?;
            let units = job.request.units;
            Some(Bidder {
                id: at,
                time: job.request.at_ms,
                min: units,
                prices: vec![price; units as usize],
                sponsor: None,
            })
        });
        let input = Input {
            rule: Rule::Exact,
            supply,
            reserve: 0,
            bidders: bidders.collect(),
        };
        // Ids are unique and prices do not rise.
        let outcome = clear(&input).map(|outcome| outcome.awards);
        outcome
            .into_iter()
            .flatten()
            .map(|award| award.id)
            .collect()
    }

    fn preempt_others(&mut self, stay: &BTreeSet<usize>, now: u64) {
        for at in 0..self.jobs.len() {
            let job = self.jobs[at];
            if let (Some(lease), Some(_), false) = (job.lease, job.request.bid, stay.contains(&at))
            {
                self.preempt(at, lease, now);
            }
        }
    }

    fn preempt(&mut self, at: usize, lease: Lease, now: u64) {
        let mut job = self.jobs[at];
        let units = u64::from(job.request.units);
        let ran = self.count(&job, lease, now);
        let left = self.keeping.leaves(job.request.units, ran);
        // The unit is taken, though nobody pays for it any more.
        self.busy(&job, left.leaving);
        self.figures.leaving += units * left.leaving;
        self.figures.lost += units * left.lost;
        self.figures.useful += units * left.kept;
        job.left_ms -= left.kept;
        if self.keeping.every_ms == 0 {
            // What an attempt before had kept is none of it.
            job.left_ms = job.request.work_ms;
        }
        job.here_ms = now + left.here;
        job.lease = None;
        job.preempted += 1;
        self.figures.preemptions += 1;
        self.figures.most_often = self.figures.most_often.max(job.preempted);
        self.jobs[at] = job;
    }

    fn lease(&mut self, at: usize, now: u64) {
        let job = &mut self.jobs[at];
        let (coming, units) = (job.here_ms.saturating_sub(now), job.request.units);
        let wait = self.keeping.returns(units, job.has_state(), coming);
        job.lease = Some(Lease {
            from_ms: now,
            works_ms: now + wait,
        });
    }

    /// Counts what runs at the end.
    fn cut(&mut self, now: u64) {
        for job in self.jobs.clone() {
            if let Some(lease) = job.lease {
                let ran = self.count(&job, lease, now);
                let (work, _) = self.keeping.worked(ran);
                self.figures.useful += u64::from(job.request.units) * work;
            }
        }
    }
}
