//! I12: once faults stop, rounds clear again and all honest nodes converge.
//!
//! `top` is the highest tip of an honest node when the calm begins, `r` the highest round of
//! consensus that an honest validator is in then.
//!
//! 1. *Converge.* Every honest node, those that do not vote too, has `top` within the time of two
//!    market rounds, plus [`SLACK_MS`] to connect again and to be asked and answered for the blocks
//!    missed.
//! 2. *Go on.* The next block after `top` is decided within one heartbeat, plus that slack, plus
//!    the time that consensus takes for round `r` and for as many rounds behind it as there are
//!    liars, and one.
//! 3. *Clear.* At the end no bid is sealed that should have been opened or forfeited, and no slot
//!    is unpaid that has passed; all honest nodes are up and have the tip of [`LAG_MS`] ago, and as
//!    much earlier again for each liar: a node that follows by asking waits so long for a missing
//!    answer before it asks another peer.

use super::{Check, Sight};
use crate::world::World;
use gridbay_ledger::{Stage, State};
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::genesis::Policy;
use std::collections::BTreeMap;

/// Milliseconds for connections and questions: two statements of the tip, a few answers, a height's
/// timers.
const SLACK_MS: u64 = 6_000;

/// Milliseconds that a node may be behind: one question without an answer, and one block on its
/// way.
const LAG_MS: u64 = gridbay_host::limits::SYNC_RETRY_MS + 500;

/// How the calm began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Began {
    at: u64,
    top: u64,
    round: u32,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Liveness {
    began: Option<Began>,
    converged: Option<u64>,
    went_on: Option<u64>,
    /// When each height was first decided.
    tops: BTreeMap<u64, u64>,
}

impl Began {
    /// When all must have `top`.
    fn converge_by(&self, policy: &Policy) -> u64 {
        let rounds = 2 * u64::from(policy.calendar.round_heights);
        self.at + rounds * policy.block_interval_ms + SLACK_MS
    }
    /// When the next block must be decided.
    fn go_on_by(&self, policy: &Policy, liars: usize) -> u64 {
        let last = u64::from(self.round) + liars as u64 + 1;
        let rounds = (u64::from(self.round)..=last).map(|round| round_ms(policy, round));
        self.at + policy.heartbeat_ms + SLACK_MS + rounds.sum::<u64>()
    }
}

/// Longest time of a round of consensus: proposing and both steps of voting, growing by half a time
/// per round.
pub(super) fn round_ms(policy: &Policy, round: u64) -> u64 {
    const LONGEST_MS: u64 = 30_000;
    let vote = (policy.propose_timeout_ms / 2).max(250);
    let timer = |base: u64| (base + base / 2 * round).min(LONGEST_MS);
    timer(policy.propose_timeout_ms) + 2 * timer(vote)
}

impl Liveness {
    fn begin(&mut self, world: &World) {
        let cores = world.honest().filter_map(|n| world.core(n));
        let state = cores.map(|c| (c.state().height(), c.host().round().unwrap_or(0)));
        let (mut top, mut round) = (0, 0);
        for (height, at) in state {
            (top, round) = (top.max(height), round.max(at));
        }
        let at = world.now;
        self.began = Some(Began { at, top, round });
    }
    /// Notes the heights of all honest nodes at a time of the calm.
    fn look(&mut self, now: u64, heights: &[Option<u64>]) {
        let Some(began) = self.began else { return };
        let lowest = heights.iter().map(|h| h.unwrap_or(0)).min().unwrap_or(0);
        let highest = heights.iter().flatten().max().copied().unwrap_or(0);
        if lowest >= began.top {
            self.converged.get_or_insert(now);
        }
        if highest > began.top {
            self.went_on.get_or_insert(now);
        }
    }
    /// Steps 1 and 2, at time `now`.
    fn judge(&self, now: u64, policy: &Policy, liars: usize) -> Result<(), String> {
        let Some(began) = self.began else {
            return Ok(());
        };
        let late = |done: Option<u64>, by: u64| done.unwrap_or(now) > by;
        if late(self.converged, began.converge_by(policy)) {
            return Err(format!(
                "{began:?}: the nodes are together at {:?}, due {}",
                self.converged,
                began.converge_by(policy)
            ));
        }
        if late(self.went_on, began.go_on_by(policy, liars)) {
            return Err(format!(
                "{began:?}: the next block came at {:?}, due {}",
                self.went_on,
                began.go_on_by(policy, liars)
            ));
        }
        Ok(())
    }
}

/// Heights of all honest nodes; `None` for one that is down.
fn heights(world: &World) -> Vec<Option<u64>> {
    let height = |n| world.core(n).map(|core| core.state().height());
    world.honest().map(height).collect()
}

impl Liveness {
    /// Step 3 for the nodes.
    fn together(&self, now: u64, heights: &[Option<u64>], liars: usize) -> Result<(), String> {
        let before = now.saturating_sub(LAG_MS * (liars as u64 + 1));
        let old = self.tops.iter().rev().find(|(_, at)| **at <= before);
        let due = old.map_or(0, |(height, _)| *height);
        if heights.iter().any(|h| h.is_none_or(|height| height < due)) {
            return Err(format!(
                "at the end {due} is due, the nodes are at {heights:?}"
            ));
        }
        Ok(())
    }
}

/// Step 3 for the market.
fn is_cleared(state: &State, calendar: &Calendar) -> Result<(), String> {
    let round = calendar.round(state.height() + 1);
    let stuck = |stage: &Stage, of: u64| matches!(stage, Stage::Sealed { .. }) && of + 1 < round;
    let stuck = state.orders().find(|(_, o)| stuck(&o.stage, o.round));
    if let Some((id, order)) = stuck {
        return Err(format!(
            "order {id} of round {} is sealed still",
            order.round
        ));
    }
    let slot = calendar.slot(state.height() + 1);
    match state.pots().find(|pot| pot.slot < slot) {
        Some(pot) => Err(format!(
            "slot {} of class {} is unpaid",
            pot.slot, pot.class
        )),
        None => Ok(()),
    }
}

impl Check for Liveness {
    fn id(&self) -> &'static str {
        "I12"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        if let Sight::Block(fact) = sight {
            self.tops.insert(fact.height, world.now);
        }
        if !world.is_calm() || self.went_on.is_some() && self.converged.is_some() {
            return Ok(());
        }
        if self.began.is_none() {
            self.begin(world);
            // They may be together already, and then nobody need decide or start anything for a
            // while.
            self.look(world.now, &heights(world));
        }
        if matches!(sight, Sight::Decided { .. } | Sight::Up { .. }) {
            self.look(world.now, &heights(world));
        }
        self.judge(world.now, &world.genesis.policy, world.plan.liars.len())
    }
    fn end(&mut self, world: &World) -> Result<(), String> {
        let policy = &world.genesis.policy;
        let heights = heights(world);
        self.look(world.now, &heights);
        self.judge(world.now, policy, world.plan.liars.len())?;
        self.together(world.now, &heights, world.plan.liars.len())?;
        let mut states = world.honest().filter_map(|n| world.core(n));
        states.try_for_each(|core| is_cleared(core.state(), &policy.calendar))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calm() -> Liveness {
        let began = Began {
            at: 1_000,
            top: 7,
            round: 0,
        };
        Liveness {
            began: Some(began),
            ..Liveness::default()
        }
    }

    #[test]
    fn nodes_that_stay_behind_are_reported() {
        let policy = Policy::local();
        let mut check = calm();
        check.look(1_100, &[Some(7), Some(6), Some(8)]);
        assert_eq!(check.judge(9_000, &policy, 0), Ok(()));
        assert!(check.judge(9_001, &policy, 0).is_err());
        check.look(8_000, &[Some(7), None, Some(8)]);
        assert!(check.judge(9_001, &policy, 0).is_err(), "one is down");
        check.look(8_000, &[Some(7), Some(9), Some(8)]);
        assert_eq!(check.judge(90_000, &policy, 0), Ok(()));
        check.tops = [(7, 10_000), (8, 19_000), (9, 20_000)].into();
        let together = |low, liars| check.together(20_500, &[low, Some(9)], liars);
        assert_eq!(together(Some(8), 0), Ok(()));
        assert!(together(Some(7), 0).is_err());
        assert_eq!(together(Some(7), 1), Ok(()));
        assert!(together(None, 1).is_err());
    }

    #[test]
    fn a_chain_that_stands_is_reported() {
        let policy = Policy::local();
        let mut check = calm();
        check.look(1_100, &[Some(7), Some(7)]);
        // A heartbeat, the slack, rounds 0 and 1: 900 and 1,350 ms.
        assert_eq!(check.judge(1_000 + 18_250, &policy, 0), Ok(()));
        assert!(check.judge(1_000 + 18_251, &policy, 0).is_err());
        assert_eq!(check.judge(1_000 + 18_251, &policy, 1), Ok(()));
    }
}
