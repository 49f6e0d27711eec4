//! The choice of the node to kill next, and of the time.
//!
//! | share | strike |
//! |---|---|
//! | 50 % | one node |
//! | 25 % | one node, and again while it starts |
//! | 20 % | several at once: one buyer, and as many validators as a quorum can spare |
//! | 5 % | all nodes |
//!
//! A strike begins 5 to 500 ms after the nodes of the one before serve again. So no more validators
//! are down at once than the federation tolerates, except in a strike at all nodes.

use super::rng::Rng;
use std::time::Duration;

/// Pause before a strike and between the two kills of one node, in milliseconds.
const PAUSE_MS: (u64, u64) = (5, 500);

/// One strike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Strike {
    /// Wait before it.
    pub(super) pause: Duration,
    /// Nodes killed at once: validators come first in a network.
    pub(super) victims: Vec<usize>,
    /// When the (only) victim is killed again after its start.
    pub(super) again: Option<Duration>,
}

impl Strike {
    /// Kills that it amounts to.
    pub(super) fn kills(&self) -> usize {
        self.victims.len() + usize::from(self.again.is_some())
    }
}

/// Draws a strike of at most `left` kills against so many validators and buyers.
pub(super) fn draw(rng: &mut Rng, validators: usize, buyers: usize, left: usize) -> Strike {
    let pause = |rng: &mut Rng| Duration::from_millis(rng.between(PAUSE_MS.0, PAUSE_MS.1));
    let nodes = validators + buyers;
    let mut strike = Strike {
        pause: pause(rng),
        victims: vec![rng.below(nodes as u64) as usize],
        again: None,
    };
    match rng.below(100) {
        0..50 => {}
        50..75 => strike.again = Some(pause(rng)),
        75..95 => strike.victims = spared(rng, validators, buyers),
        _ => strike.victims = (0..nodes).collect(),
    }
    strike.victims.truncate(left);
    if strike.kills() > left {
        strike.again = None;
    }
    strike
}

/// One buyer and the most validators, all different, that more than two thirds can do without.
fn spared(rng: &mut Rng, validators: usize, buyers: usize) -> Vec<usize> {
    let spare = validators.saturating_sub(1) / 3;
    let first = rng.below(validators as u64) as usize;
    let mut victims: Vec<usize> = (0..spare).map(|i| (first + i) % validators).collect();
    if buyers > 0 {
        victims.push(validators + rng.below(buyers as u64) as usize);
    }
    victims
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_strike_takes_the_quorum_but_those_that_take_all() {
        for validators in [4, 7, 10] {
            let (mut rng, mut all, mut again, mut several) = (Rng::new(7), 0, 0, 0);
            for _ in 0..1_000 {
                let strike = draw(&mut rng, validators, 2, 1_000);
                let down = strike.victims.iter().filter(|v| **v < validators).count();
                if strike.victims.len() == validators + 2 {
                    all += 1;
                } else {
                    assert!(down <= (validators - 1) / 3, "{strike:?}");
                }
                let mut victims = strike.victims.clone();
                victims.dedup();
                assert_eq!(victims.len(), strike.victims.len());
                several += usize::from(strike.victims.len() == down + 1 && down > 0);
                again += usize::from(strike.again.is_some());
                assert!((5..=500).contains(&strike.pause.as_millis()));
            }
            assert!(
                all > 20 && again > 150 && several > 100,
                "{all} {again} {several}"
            );
        }
    }

    #[test]
    fn the_last_strikes_fit_what_is_left() {
        for seed in 0..200 {
            for left in 1..4 {
                let strike = draw(&mut Rng::new(seed), 4, 2, left);
                assert!((1..=left).contains(&strike.kills()), "{strike:?}");
            }
        }
    }
}
