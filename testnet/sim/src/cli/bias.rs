//! `sim bias`: what validators gain by giving up turns for a beacon that they like better.
//!
//! The election of an epoch follows from the beacon at the end of the one before. Colluding
//! validators know their own reveals and nobody else's, so they choose only within the last turns
//! of the epoch that nobody honest interrupts: of each such turn they may reveal by any of them who
//! stand first in its ranking, one after the other giving up its turn. If no beacon in reach suits
//! them, they leave the last turn to the next honest validator, whose reveal they do not know.
//! Elections and beacons are the product's own; all validators have the same power.

use super::SimError;
use crate::found::validator_key;
use crate::rng::Rng;
use gridbay_protocol::ids::{AccountId, ValidatorId};
use gridbay_protocol::limits::EPOCH_HEIGHTS;
use gridbay_protocol::validator::{Validator, ValidatorSet, validator_id};
use gridbay_protocol::{beacon, election};
use std::collections::BTreeSet;
use std::io::Write;

/// Validators in all.
const VALIDATORS: usize = 40;
/// Beacons that they look at in one epoch.
const REACH: usize = 64;

/// See the module.
#[derive(Debug, clap::Args)]
pub struct Bias {
    /// How many of 40 collude: 10, 25 and 33 % of the power
    #[arg(long, value_delimiter = ',', default_values_t = [4, 10, 13])]
    colluding: Vec<usize>,
    /// Epochs
    #[arg(long, default_value_t = 300)]
    epochs: u32,
    /// Seed of all reveals
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Gain {
    /// Epochs at whose end they had a choice.
    chances: u64,
    /// Turns that they gave up.
    given_up: u64,
    /// Turns in all epochs.
    turns: u64,
    /// Ties of two equal bids, one of theirs, one a height.
    ties: u64,
    /// Of these, won.
    won: u64,
}

fn validators() -> Option<ValidatorSet> {
    let member = |n| {
        let key = validator_key(n).public();
        Validator {
            id: validator_id(&key),
            key,
            node: key,
            account: AccountId([0; 32]),
            power: 1,
        }
    };
    ValidatorSet::new((0..VALIDATORS).map(member).collect())
}

/// How many of the first of a ranking collude.
fn first(ranking: &[ValidatorId], liars: &BTreeSet<ValidatorId>) -> usize {
    ranking.iter().take_while(|id| liars.contains(*id)).count()
}

/// Their turns in the epoch of a seed.
fn turns(seed: &[u8; 32], set: &ValidatorSet, liars: &BTreeSet<ValidatorId>) -> u64 {
    let heights = 1..=EPOCH_HEIGHTS;
    let won = heights.filter(|height| first(&election::ranking(seed, *height, set), liars) > 0);
    won.count() as u64
}

/// All beacons within reach after these turns, with the turns that each gives up; in each turn so
/// many may reveal.
fn within_reach(start: [u8; 32], turns: &[usize], rng: &mut Rng) -> Vec<([u8; 32], u64)> {
    let mut reach = vec![(start, 0)];
    for may in turns {
        // A validator has one reveal, whichever it is.
        let reveals: Vec<[u8; 32]> = (0..*may).map(|_| rng.bytes32()).collect();
        let next = reach.iter().flat_map(|(beacon, given_up)| {
            let by = (0..).zip(&reveals);
            by.map(move |(nth, reveal)| (beacon::mix(beacon, reveal), given_up + nth))
        });
        reach = next.take(REACH).collect();
    }
    reach
}

/// Ties at every height: the colluding win if the beacon is even.
fn tie(gain: &mut Gain, leading: usize, rng: &mut Rng) {
    let wins = |rng: &mut Rng| rng.chance(500_000);
    let own = (0..leading).any(|_| wins(rng));
    gain.ties += 1;
    gain.won += u64::from(own || wins(rng));
}

fn run(colluding: usize, epochs: u32, seed: u64, withhold: bool) -> Gain {
    let mut gain = Gain::default();
    let Some(set) = validators() else {
        return gain;
    };
    let mut rng = Rng::new(seed, "bias");
    let liars: BTreeSet<_> = set.members().iter().take(colluding).map(|v| v.id).collect();
    let mean = EPOCH_HEIGHTS * colluding as u64 / VALIDATORS as u64;
    let mut seed = rng.bytes32();
    for _ in 0..epochs {
        gain.turns += turns(&seed, &set, &liars);
        let leading = |height: u64| first(&election::ranking(&seed, height, &set), &liars);
        for height in 1..=EPOCH_HEIGHTS / 10 {
            tie(
                &mut gain,
                if withhold { leading(height) } else { 0 },
                &mut rng,
            );
        }
        let last = (1..=EPOCH_HEIGHTS).rev().map(leading);
        let mut run: Vec<usize> = last.take_while(|leading| *leading > 0).collect();
        run.reverse();
        let before = rng.bytes32();
        let honest = beacon::mix(&before, &rng.bytes32());
        seed = honest;
        if !withhold || run.is_empty() {
            continue;
        }
        gain.chances += 1;
        let reach = within_reach(before, &run, &mut rng);
        let scored = reach
            .iter()
            .map(|found| (turns(&found.0, &set, &liars), found));
        let Some((best, (beacon, given_up))) = scored.max_by_key(|(turns, _)| *turns) else {
            continue;
        };
        if best >= mean {
            seed = *beacon;
            gain.given_up += given_up;
        } else {
            gain.given_up += run.last().map_or(0, |may| *may as u64);
        }
    }
    gain
}

impl Bias {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<bool, SimError> {
        let all = f64::from(self.epochs) * EPOCH_HEIGHTS as f64;
        writeln!(
            out,
            "{:<8}{:>14}{:>14}{:>10}{:>16}{:>12}",
            "power", "turns before", "turns after", "gain", "given up/epoch", "ties won"
        )?;
        for colluding in self.colluding.iter().copied().filter(|n| *n <= VALIDATORS) {
            let honest = run(colluding, self.epochs, self.seed, false);
            let gain = run(colluding, self.epochs, self.seed, true);
            let percent = |part: f64, whole: f64| 100.0 * part / whole.max(1.0);
            writeln!(
                out,
                "{:>5.1} %{:>12.2} %{:>12.2} %{:>8.2} %{:>16.2}{:>10.1} %",
                percent(colluding as f64, VALIDATORS as f64),
                percent(honest.turns as f64, all),
                percent(gain.turns as f64, all),
                percent(gain.turns as f64, honest.turns as f64) - 100.0,
                gain.given_up as f64 / f64::from(self.epochs),
                percent(gain.won as f64, gain.ties as f64),
            )?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_reveals_always_gains_nothing_and_who_withholds_has_a_choice_now_and_then() {
        let (honest, gain) = (run(10, 4, 1, false), run(10, 4, 1, true));
        assert_eq!((honest.chances, honest.given_up), (0, 0));
        let fair = 4 * EPOCH_HEIGHTS / 4;
        assert!(honest.turns.abs_diff(fair) < fair / 10, "{honest:?}");
        assert!(gain.won > honest.won && gain.won < gain.ties, "{gain:?}");
    }

    #[test]
    fn every_turn_doubles_the_reach_at_the_most_and_costs_what_is_given_up() {
        let mut rng = Rng::new(1, "bias");
        let reach = within_reach([0; 32], &[2, 1, 2], &mut rng);
        assert_eq!(reach.len(), 4);
        let mut costs: Vec<u64> = reach.iter().map(|(_, given_up)| *given_up).collect();
        costs.sort_unstable();
        assert_eq!(costs, [0, 1, 1, 2]);
        let beacons: BTreeSet<_> = reach.iter().map(|(beacon, _)| *beacon).collect();
        assert_eq!(beacons.len(), 4);
    }
}
