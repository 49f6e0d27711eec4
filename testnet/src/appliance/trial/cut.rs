//! The power goes in the midst of updates: while one is written, and while the new system starts on
//! trial.
//!
//! 1. A seed decides the moments. That of a writing is counted from the agent's word that the
//!    update is whole and signed, for before it nothing is written; that of a start from the power
//!    on, and late enough for the boot loader to have taken a try away.
//! 2. After a writing that was cut either system runs, and after one that came to its end the new
//!    one. A new system whose start was cut once is started again and taken; one whose start was
//!    cut twice is left, and the one before runs.
//! 3. The keys stay. At the end an update that is not cut is taken.

use super::super::bench::Bench;
use super::super::machine::{Firmware, Spec};
use super::super::update::{Builder, Initrd};
use super::boot::{BOOT, READY};
use super::update::{Running, Status, TAKEN, VERSION};
use crate::kill::rng::Rng;
use anyhow::{Context as _, ensure};
use std::time::{Duration, Instant};

/// The command's words once the update is checked, once it is written, and at its end.
const SIGNED: &str = "is whole and signed";
const WRITTEN: &str = "written to slot";
const LAST: &str = "starts at the next boot";
/// For the command to come to its next word.
const WORD: Duration = Duration::from_secs(120);
/// Starts of a new system before it is left.
const TRIES: usize = 2;
/// From one strike at starts to the next one, the writings between them among it.
const TURN: usize = 4;
/// Thousandths of a start, from power to ready, in which it is cut.
const START: (u64, u64) = (250, 950);

pub(super) async fn three(bench: &Bench) -> anyhow::Result<String> {
    cuts(bench, 3).await
}

pub(super) async fn ten(bench: &Bench) -> anyhow::Result<String> {
    cuts(bench, 10).await
}

/// The moments of cuts, in thousandths of the time that is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Strike {
    /// The update is being written.
    Writing(u64),
    /// The new system starts, and perhaps starts again.
    Starts(Vec<u64>),
}

/// So many cuts, the first of a start. Those of writings are spread over the time of one.
fn draw(rng: &mut Rng, many: usize) -> Vec<Strike> {
    let (mut strikes, mut left) = (Vec::new(), many);
    while left > 0 {
        let turn = strikes.len() / TURN;
        if !strikes.len().is_multiple_of(TURN) {
            strikes.push(Strike::Writing(rng.below(1_000)));
            left -= 1;
            continue;
        }
        let count = (1 + turn % TRIES).min(left);
        let starts = (0..count).map(|_| rng.between(START.0, START.1));
        strikes.push(Strike::Starts(starts.collect()));
        left -= count;
    }
    let writings = strikes.iter_mut().filter_map(|strike| match strike {
        Strike::Writing(moment) => Some(moment),
        Strike::Starts(_) => None,
    });
    let writings: Vec<&mut u64> = writings.collect();
    let share = 1_000 / (writings.len() as u64).max(1);
    for (moment, begin) in writings.into_iter().zip((0..).step_by(share as usize)) {
        *moment = begin + *moment * share / 1_000;
    }
    strikes
}

/// A machine whose updates are cut.
struct Target {
    running: Running,
    builder: Builder,
    keys: String,
    /// From power to ready.
    start: Duration,
    /// From the check's end to the command's; known after the first strike.
    writing: Duration,
    /// Writings that were cut before they ended.
    midway: usize,
}

async fn cuts(bench: &Bench, many: usize) -> anyhow::Result<String> {
    let mut target = Target::up(bench).await?;
    let mut saw = Vec::new();
    for strike in draw(&mut Rng::new(bench.seed), many) {
        let slot = target.strike(&strike).await;
        let slot = slot.with_context(|| format!("seed {}, {strike:?}", bench.seed))?;
        bench.progress.tell(&format!("{strike:?}: runs {slot}"));
        saw.push(slot);
    }
    let midway = target.midway;
    ensure!(midway > 0, "seed {}: no writing was cut", bench.seed);
    let before = target.running.status().await?.slot;
    let took = target.running.update().await?.as_secs();
    let new = other(&before)?;
    let good =
        |status: &Status| status.slot == new && status.state == "ready" && status.trial.is_empty();
    target.running.until("taken", BOOT + TAKEN, good).await?;
    target.kept().await?;
    Ok(format!(
        "seed {}: {many} cuts, {midway} in the midst of a writing, which takes {:.1} s; ran after \
         each: {}; an uncut one is up in {new} after {took} s, and taken",
        bench.seed,
        target.writing.as_secs_f64(),
        saw.join(" ")
    ))
}

impl Target {
    /// A node that trusts the trial's builder, with its update as third disk.
    async fn up(bench: &Bench) -> anyhow::Result<Target> {
        let name = "cut";
        let builder = Builder::new(&bench.image, &bench.folder, name)?;
        let settings = bench.settings(name, "").await?;
        let invite = bench.disk(name, &[("invite.toml", &settings)])?;
        let mut machine = bench.boot(Spec {
            firmware: Firmware::Bios,
            disks: vec![invite, builder.update(VERSION, Initrd::Whole)?],
            cache: Some(bench.seed),
            ..Spec::new(name, 1)
        })?;
        let start = machine.says(READY, BOOT).await?;
        let shell = machine.shell().await?;
        let mut running = Running::new(machine, shell, "/dev/vdc");
        running.trust(&builder).await?;
        Ok(Target {
            keys: running.shell.keys().await?,
            running,
            builder,
            start,
            writing: Duration::ZERO,
            midway: 0,
        })
    }

    /// An update that is cut; the slot that runs at last.
    async fn strike(&mut self, strike: &Strike) -> anyhow::Result<String> {
        let before = self.running.status().await?.slot;
        let new = other(&before)?;
        let command = format!("gridbay-appliance update {}", self.running.device);
        self.running.shell.begin(&command).await?;
        self.running.shell.hears(SIGNED, WORD).await?;
        let status = match strike {
            Strike::Writing(moment) => {
                tokio::time::sleep(part(self.writing, *moment)).await;
                self.running.machine.cut();
                let said = self.running.shell.rest().await?;
                self.running.machine.start()?;
                self.up_again().await?;
                let status = self.settled().await?;
                let ended = said.contains(WRITTEN);
                self.midway += usize::from(!ended);
                ensure!(!ended || status.slot == new, "what was written: {status:?}");
                status
            }
            Strike::Starts(moments) => {
                let began = Instant::now();
                self.running.shell.hears(LAST, WORD).await?;
                self.writing = began.elapsed();
                self.starts(moments, (&before, new)).await?
            }
        };
        ensure!(
            [before.as_str(), new].contains(&status.slot.as_str()),
            "{status:?}"
        );
        self.kept().await?;
        self.running.trust(&self.builder).await?;
        Ok(status.slot)
    }

    /// The new system's starts are cut at these moments.
    async fn starts(
        &mut self,
        moments: &[u64],
        (before, new): (&str, &str),
    ) -> anyhow::Result<Status> {
        self.running.machine.cut();
        self.running.machine.start()?;
        for moment in moments {
            tokio::time::sleep(part(self.start, *moment)).await;
            self.running.machine.cut();
            self.running.machine.start()?;
        }
        self.up_again().await?;
        let tried = moments.len() < TRIES;
        if tried {
            // A cut that came before the boot loader's turn would have left both.
            let settings = self.running.settings().await?;
            ensure!(
                settings == format!("slot={before} trial={new} tries=0"),
                "{settings}"
            );
        }
        let status = self.settled().await?;
        let wanted = if tried { new } else { before };
        ensure!(status.slot == wanted, "not in {wanted}: {status:?}");
        ensure!(tried || status.notes.contains("and was left"), "{status:?}");
        Ok(status)
    }

    /// Waits until the machine, which was switched on, is ready.
    async fn up_again(&mut self) -> anyhow::Result<()> {
        self.running.machine.says(READY, BOOT).await?;
        self.running.shell = self.running.machine.shell().await?;
        Ok(())
    }

    /// Waits until no system is on trial.
    async fn settled(&mut self) -> anyhow::Result<Status> {
        let settled = |status: &Status| !status.slot.is_empty() && status.trial.is_empty();
        self.running.until("settled", TAKEN, settled).await
    }

    async fn kept(&mut self) -> anyhow::Result<()> {
        let keys = self.running.shell.keys().await?;
        ensure!(keys == self.keys, "the keys changed");
        Ok(())
    }
}

fn other(slot: &str) -> anyhow::Result<&'static str> {
    match slot {
        "a" => Ok("b"),
        "b" => Ok("a"),
        _ => anyhow::bail!("there is no slot {slot:?}"),
    }
}

/// Thousandths of a time.
fn part(whole: Duration, thousandths: u64) -> Duration {
    whole.mul_f64(thousandths as f64 / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_the_cuts_and_each_form_cuts_writings_and_starts() {
        for (many, seed) in [(3, 1), (3, 2), (10, 3), (10, 4)] {
            let drawn = draw(&mut Rng::new(seed), many);
            assert_eq!(drawn, draw(&mut Rng::new(seed), many));
            let (mut writings, mut starts) = (Vec::<u64>::new(), Vec::<u64>::new());
            for strike in &drawn {
                match strike {
                    Strike::Writing(moment) => writings.push(*moment),
                    Strike::Starts(moments) => starts.extend(moments),
                }
            }
            assert_eq!(writings.len() + starts.len(), many);
            assert!(matches!(drawn[0], Strike::Starts(_)));
            assert!(writings.is_sorted() && writings.iter().all(|moment| *moment < 1_000));
            assert!(writings.len() >= 2 && writings[0] < 500);
            assert!(starts.iter().all(|at| (START.0..=START.1).contains(at)));
        }
        let ten = draw(&mut Rng::new(5), 10);
        let twice = |strike: &&Strike| matches!(strike, Strike::Starts(at) if at.len() == TRIES);
        assert_eq!(ten.iter().filter(twice).count(), 1);
        assert_ne!(ten, draw(&mut Rng::new(6), 10));
    }
}
