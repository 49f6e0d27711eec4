//! The power of a seller and of its buyer is cut while they trade.
//!
//! A cut loses what the machine had written and not flushed, or some of it
//! ([`super::super::cache`]).
//!
//! 1. The buyer's node orders a job and acknowledges it. Some time later, while that job waits, is
//!    staged, runs or has ended, it is given another one, and the power goes before or after the
//!    answer: of the seller, of the buyer, or of both, and perhaps once more as they start.
//! 2. Each machine becomes ready again. It has its keys, a ledger that goes on where it was, and
//!    each job that was acknowledged, once. A founder's node tells the same of its account.
//! 3. At the end no job and no lease is left, all that was paid was earned, and a new job runs.
//!
//! A seed decides all moments; which of a machine's doings they meet, they leave to chance.

use super::super::bench::Bench;
use super::super::machine::Machine;
use super::super::shell::Shell;
use super::boot::{BOOT, READY};
use super::pair::{CHEAP, GRIDBAY, Pair, jobs, json, on_sale};
use super::statement::{Statement, earned};
use crate::kill::rng::Rng;
use anyhow::{Context as _, ensure};
use gridbay_node::api::types::{JobId, JobRecord, LeaseView};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// From the first order to the second, which covers all of a job's life, in milliseconds.
const LIFE_MS: u64 = 30_000;
/// From the second order to the cut: longer than it takes.
const ORDER_MS: u64 = 5_000;
/// From a start to the cut of it, in milliseconds.
const START_MS: (u64, u64) = (2_000, 40_000);
/// Cuts of a start are fewer than this.
const AGAIN: u64 = 4;
/// For jobs and leases to come to their end, with the slot that they are paid for, seconds.
const ENDED: u64 = 300;
/// Counts the processes of jobs.
const ASLEEP: &str = "cat /proc/[0-9]*/comm 2>/dev/null | grep -cx sleep";
/// What surrounds an answer to an order.
const ANSWER: (&str, &str) = ("@ack:", "@");

pub(super) async fn three(bench: &Bench) -> anyhow::Result<String> {
    cuts(bench, 3).await
}

pub(super) async fn twenty(bench: &Bench) -> anyhow::Result<String> {
    cuts(bench, 20).await
}

/// A machine, and what it has shown.
struct Side {
    machine: Machine,
    shell: Shell,
    keys: String,
    statement: Statement,
}

impl Side {
    async fn new(machine: Machine) -> anyhow::Result<Side> {
        let mut shell = machine.shell().await?;
        Ok(Side {
            keys: shell.keys().await?,
            statement: Statement::of(&mut shell).await?,
            machine,
            shell,
        })
    }

    /// Waits until it is ready again, and compares.
    async fn again(&mut self, bench: &Bench) -> anyhow::Result<()> {
        self.machine.says(READY, BOOT).await?;
        self.shell = self.machine.shell().await?;
        let keys = self.shell.keys().await?;
        ensure!(keys == self.keys, "the keys changed");
        self.look(bench).await
    }

    /// Compares its statement with what it showed, and with what a founder's node shows.
    async fn look(&mut self, bench: &Bench) -> anyhow::Result<()> {
        let now = Statement::of(&mut self.shell).await?;
        now.continues(&self.statement)?;
        now.is_known(bench).await?;
        self.statement = now;
        Ok(())
    }
}

/// Whose power goes, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Strike {
    /// From the first order to the second, and from that to the cut.
    pauses: [Duration; 2],
    /// Of the seller's and the buyer's power: none if it stays; the first wait is from the other
    /// moment on, the others from each start on.
    cuts: [Vec<Duration>; 2],
}

impl Strike {
    /// Of at most `left` cuts, and at least one.
    fn draw(rng: &mut Rng, left: usize) -> Strike {
        let ms = |rng: &mut Rng, most| Duration::from_millis(rng.below(most));
        let pauses = [ms(rng, LIFE_MS), ms(rng, ORDER_MS)];
        let mut cuts = [vec![], vec![]];
        let whose = match rng.below(4) {
            0 => [true, false],
            1 => [false, true],
            _ => [true, true],
        };
        for (cuts, _) in cuts.iter_mut().zip(whose).filter(|(_, goes)| *goes) {
            cuts.push(ms(rng, ORDER_MS));
            for _ in 0..rng.below(AGAIN) {
                cuts.push(Duration::from_millis(rng.between(START_MS.0, START_MS.1)));
            }
        }
        let first = cuts[0].len().min(left);
        cuts[0].truncate(first);
        cuts[1].truncate(left - first);
        Strike { pauses, cuts }
    }

    fn many(&self) -> usize {
        self.cuts.iter().map(Vec::len).sum()
    }
}

/// Cuts a machine's power and switches it on, each time after a wait.
async fn strike(machine: &mut Machine, waits: &[Duration]) -> anyhow::Result<()> {
    for wait in waits {
        tokio::time::sleep(*wait).await;
        machine.cut();
        machine.start()?;
    }
    Ok(())
}

async fn cuts(bench: &Bench, many: usize) -> anyhow::Result<String> {
    let pair = Pair::boot(bench, Some(bench.seed)).await?;
    let (seller, buyer) = (Side::new(pair.seller).await?, Side::new(pair.buyer).await?);
    let mut trade = Trade {
        seller,
        buyer,
        acknowledged: BTreeSet::new(),
    };
    let (mut rng, mut left, began) = (Rng::new(bench.seed), many, Instant::now());
    let mut answered = 0;
    while left > 0 {
        let drawn = Strike::draw(&mut rng, left);
        left -= drawn.many();
        let round = trade.round(bench, &drawn).await;
        answered += round.with_context(|| format!("seed {}, {drawn:?}", bench.seed))?;
        let (cuts, took) = (many - left, began.elapsed().as_secs());
        let said = format!("seed {}: {cuts} of {many} cuts in {took} s", bench.seed);
        bench.progress.tell(&said);
    }
    let took = began.elapsed().as_secs();
    let ends = trade.end(bench).await;
    let ends = ends.with_context(|| format!("seed {}", bench.seed))?;
    let [of_seller, of_buyer] = [&trade.seller, &trade.buyer].map(|side| side.machine.lost());
    Ok(format!(
        "seed {}: {many} cuts in {took} s, which lost {of_seller} at the seller and {of_buyer} at \
         the buyer; {} jobs acknowledged, {answered} of them as the power went, none lost: {ends}",
        bench.seed,
        trade.acknowledged.len()
    ))
}

/// Two machines that trade, and the jobs that the buyer's acknowledged.
struct Trade {
    seller: Side,
    buyer: Side,
    acknowledged: BTreeSet<JobId>,
}

impl Trade {
    /// Orders, a strike, and what is left; how many orders were answered as the power went.
    async fn round(&mut self, bench: &Bench, drawn: &Strike) -> anyhow::Result<usize> {
        on_sale(&mut self.seller.shell).await?;
        let first = answers(&self.buyer.shell.good(&order()).await?)?;
        ensure!(first.len() == 1, "the order was not acknowledged");
        self.acknowledged.extend(first);
        tokio::time::sleep(drawn.pauses[0]).await;
        // What was shown until now must be shown again.
        self.seller.look(bench).await?;
        self.buyer.look(bench).await?;
        self.buyer.shell.begin(&order()).await?;
        tokio::time::sleep(drawn.pauses[1]).await;
        let [of_seller, of_buyer] = &drawn.cuts;
        let (one, other) = tokio::join!(
            strike(&mut self.seller.machine, of_seller),
            strike(&mut self.buyer.machine, of_buyer)
        );
        one.and(other)?;
        let said = match of_buyer.is_empty() {
            true => self.buyer.shell.good("true").await?,
            false => self.buyer.shell.rest().await?,
        };
        let second = answers(&said)?;
        self.acknowledged.extend(second.iter().cloned());
        if !of_seller.is_empty() {
            self.seller.again(bench).await.context("the seller")?;
        }
        if !of_buyer.is_empty() {
            self.buyer.again(bench).await.context("the buyer")?;
        }
        self.kept().await?;
        Ok(second.len())
    }

    /// All jobs that were acknowledged, each once and in a state that a job can have.
    async fn kept(&mut self) -> anyhow::Result<Vec<JobRecord>> {
        let there = jobs(&mut self.buyer.shell).await?;
        for id in &self.acknowledged {
            let many = there.iter().filter(|job| job.id == *id).count();
            ensure!(
                many == 1,
                "job {id} was acknowledged and is there {many} times"
            );
        }
        Ok(there)
    }

    /// Ends what is left, and runs one more job; how the jobs ended.
    async fn end(&mut self, bench: &Bench) -> anyhow::Result<String> {
        for job in self.kept().await? {
            if !job.state.is_final() {
                // It may end by itself in the meantime.
                let cancel = format!("{GRIDBAY} job cancel {}", job.id);
                self.buyer.shell.run(&cancel).await?;
            }
        }
        let ends = self.all_ended().await?;
        on_sale(&mut self.seller.shell).await?;
        let words = "after the last cut";
        let last = format!("{GRIDBAY} run {CHEAP} -t 2m -- echo {words}");
        let said = self.buyer.shell.good(&last).await?;
        ensure!(said.contains(words), "the last job printed {said}");
        let (sells, buys) = (&mut self.seller.shell, &mut self.buyer.shell);
        let earned = earned(bench, sells, buys).await?;
        ensure!(earned > 0, "nothing was earned");
        Ok(ends)
    }

    /// Waits until no job and no lease is left on either side, and no process of a job at the
    /// seller's; how the jobs ended.
    async fn all_ended(&mut self) -> anyhow::Result<String> {
        let began = Instant::now();
        loop {
            let there = self.kept().await?;
            let open = there.iter().filter(|job| !job.state.is_final()).count();
            let sold: Vec<LeaseView> = json(&mut self.seller.shell, "lease list").await?;
            let bought: Vec<LeaseView> = json(&mut self.buyer.shell, "lease list").await?;
            // Jobs sleep, and nothing else of the machine does.
            let (asleep, _) = self.seller.shell.run(ASLEEP).await?;
            let asleep: usize = asleep.trim().parse()?;
            let still = open + sold.len() + bought.len() + asleep;
            if still == 0 {
                return Ok(ends(&there));
            }
            ensure!(
                began.elapsed() < Duration::from_secs(ENDED),
                "{open} jobs, {} leases of the buyer and {} of the seller, and {asleep} processes \
                 of jobs are left",
                bought.len(),
                sold.len()
            );
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    }
}

/// How jobs ended, and how often.
fn ends(jobs: &[JobRecord]) -> String {
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for job in jobs {
        let reason = job.reason.map_or("", |reason| reason.name());
        let end = format!("{} {reason}", job.state.name());
        *ends.entry(end.trim().to_owned()).or_default() += 1;
    }
    let ends: Vec<String> = ends.iter().map(|(end, n)| format!("{n} {end}")).collect();
    ends.join(", ")
}

/// An order, whose answer is told once it is there.
fn order() -> String {
    // The marks are put together by the shell, so that no echo of the line contains them.
    let (open, close) = ANSWER;
    let (one, other) = open.split_at(2);
    format!(
        "id=$({GRIDBAY} run --detach {CHEAP} -t 1m -- sleep 12 2>/dev/null) \
         && echo '{one}''{other}'\"$id\"{close}"
    )
}

/// The answers in what a machine said.
fn answers(said: &str) -> anyhow::Result<Vec<JobId>> {
    let parts = said.split(ANSWER.0).skip(1);
    let ids = parts.filter_map(|part| part.split_once(ANSWER.1));
    let read = |(id, _): (&str, &str)| {
        let id = JobId::try_from(id.trim().to_owned());
        id.map_err(|why| anyhow::anyhow!("no job's id: {why}"))
    };
    ids.map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strikes_fit_what_is_left_and_meet_both() {
        let mut met = [0, 0];
        for seed in 0..200 {
            for left in 1..8 {
                let strike = Strike::draw(&mut Rng::new(seed), left);
                assert!((1..=left).contains(&strike.many()), "{strike:?}");
                for (met, cuts) in met.iter_mut().zip(&strike.cuts) {
                    *met += usize::from(!cuts.is_empty());
                }
            }
        }
        assert!(met[0] > 300 && met[1] > 300, "{met:?}");
        let one = Strike::draw(&mut Rng::new(3), 20);
        assert_eq!(one, Strike::draw(&mut Rng::new(3), 20));
    }

    #[test]
    fn only_whole_answers_count() {
        let said = "x@ack:0123456789abcdef@\n@ack:00000000000000ff@ @ack:0123";
        assert_eq!(answers(said).unwrap().len(), 2);
        assert!(answers("").unwrap().is_empty());
        assert!(answers("@ack:nonsense@").is_err());
        assert!(!order().contains(ANSWER.0));
    }
}
