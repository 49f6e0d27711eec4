//! I17: in the long run the chain is no faster than its policy says, whatever a third of the power
//! says.
//!
//! The first honest validator to start a height starts it a block interval after the first honest
//! one to start the height before, and no honest one starts a height before its parent is decided.
//! So
//!
//! 1. any [`WINDOW`] blocks take the intervals of all but one of them: within a tenth of the
//!    policy;
//! 2. three blocks in a row take a heartbeat if no honest validator has work after the second.
//!
//! A validator whose process starts begins its first height at once, so every such start excuses
//! one interval.
//!
//! Nor is it slower, where nobody lies and the world is [`is_well`]: while the ledger itself has
//! work for the next height (an entry that waits may reach a validator late), any [`WINDOW`] blocks
//! take their intervals and a tenth at the most.

use super::{Check, Sight};
use crate::world::World;
use gridbay_protocol::genesis::Policy;
use std::collections::VecDeque;

/// Blocks that are looked at together.
const WINDOW: usize = 20;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct LongRun {
    /// When the last blocks were decided, the newest last.
    decided: VecDeque<u64>,
    /// When processes of honest validators started.
    started: VecDeque<u64>,
    /// When an honest validator had work last.
    worked: u64,
    /// Whether the next block is due an interval after the last one, and how many in a row were.
    due: bool,
    steady: usize,
}

/// Whether nothing keeps validators from their pace: no liar, and the world is settled.
fn is_well(world: &World) -> bool {
    world.plan.liars.is_empty() && world.is_settled()
}

impl LongRun {
    /// Starts of processes that may have made a height early which was decided after `since`.
    fn starts(&self, since: u64, policy: &Policy) -> u64 {
        let from = since.saturating_sub(policy.heartbeat_ms);
        self.started.iter().filter(|at| **at >= from).count() as u64
    }
    fn block(&mut self, now: u64, policy: &Policy) -> Result<(), String> {
        self.decided.push_back(now);
        if self.decided.len() > WINDOW + 1 {
            self.decided.pop_front();
        }
        if let Some(first) = self.decided.front().filter(|_| self.decided.len() > WINDOW) {
            let intervals = (WINDOW as u64 - 1).saturating_sub(self.starts(*first, policy));
            let least = intervals * policy.block_interval_ms;
            if now - first < least {
                return Err(format!(
                    "{WINDOW} blocks took {} ms, at least {least} are due",
                    now - first
                ));
            }
        }
        self.idle(now, policy)
    }
    /// No slower: a block is decided, and the next one is due in its time or not.
    fn on_time(&mut self, now: u64, policy: &Policy, due: bool) -> Result<(), String> {
        self.steady = if self.due { self.steady + 1 } else { 0 };
        self.due = due;
        let first = self.decided.front().filter(|_| self.steady >= WINDOW);
        let took = first.map_or(0, |first| now - first);
        let most = WINDOW as u64 * policy.block_interval_ms * 11 / 10;
        if took > most {
            return Err(format!(
                "{WINDOW} blocks that were due took {took} ms, {most} at the most are due"
            ));
        }
        Ok(())
    }
    /// Step 2.
    fn idle(&self, now: u64, policy: &Policy) -> Result<(), String> {
        let mut last = self.decided.iter().rev();
        if let (Some(_), Some(second), Some(first)) = (last.next(), last.next(), last.next())
            && self.worked < *second
            && self.starts(*first, policy) == 0
            && now - first < policy.heartbeat_ms
        {
            return Err(format!(
                "a block came {} ms after the last without any work; the heartbeat is {} ms",
                now - second,
                policy.heartbeat_ms
            ));
        }
        Ok(())
    }
}

impl Check for LongRun {
    fn id(&self) -> &'static str {
        "I17"
    }
    fn see(&mut self, world: &World, sight: &Sight<'_>) -> Result<(), String> {
        let votes = |node: usize| node < world.plan.validators && world.machines[node].is_honest();
        match sight {
            Sight::Up { node, .. } if votes(*node) => self.started.push_back(world.now),
            // After the step in which a block was decided comes the look at that block, so a node
            // that has work is noted before.
            Sight::Step { node, .. } if votes(*node) => {
                let works = |core: &gridbay_core::Core| {
                    core.state().work_is_due() || core.host().mempool_len() > 0
                };
                if world.core(*node).is_some_and(works) {
                    self.worked = world.now;
                }
            }
            Sight::Block(fact) => {
                let policy = &world.genesis.policy;
                self.block(world.now, policy)?;
                let core = world.core(fact.node);
                let work = core.is_some_and(|core| core.state().work_is_due());
                return self.on_time(world.now, policy, work && is_well(world));
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(check: &mut LongRun, blocks: u64, every: u64, works: bool) -> Result<(), String> {
        let policy = Policy::local();
        let from = check.decided.back().copied().unwrap_or(0);
        (1..=blocks).try_for_each(|n| {
            let now = from + n * every;
            if works {
                check.worked = now;
            }
            check.block(now, &policy)
        })
    }

    #[test]
    fn a_chain_that_hurries_is_reported_and_one_that_makes_up_for_a_slow_block_is_not() {
        let mut check = LongRun::default();
        assert_eq!(run(&mut check, 100, 250, true), Ok(()));
        assert_eq!(run(&mut check, 1, 2_000, true), Ok(()));
        assert_eq!(run(&mut check, 1, 20, true), Ok(()));
        assert_eq!(run(&mut check, 50, 250, true), Ok(()));
        assert!(run(&mut check, 50, 225, true).is_err());
        assert!(run(&mut LongRun::default(), 50, 125, true).is_err());
    }

    #[test]
    fn an_idle_chain_that_does_not_rest_is_reported() {
        let mut check = LongRun::default();
        assert_eq!(run(&mut check, 10, 250, true), Ok(()));
        assert_eq!(run(&mut check, 10, 10_000, false), Ok(()));
        assert!(run(&mut check, 2, 250, false).is_err());
        assert!(run(&mut LongRun::default(), 9, 4_000, false).is_err());
    }

    #[test]
    fn a_chain_that_dawdles_is_reported_and_one_that_rests_is_not() {
        let policy = Policy::local();
        let run = |check: &mut LongRun, blocks: u64, every: u64, due: bool| {
            let from = check.decided.back().copied().unwrap_or(0);
            (1..=blocks).try_for_each(|n| {
                let now = from + n * every;
                check.worked = now;
                check.block(now, &policy)?;
                check.on_time(now, &policy, due)
            })
        };
        let mut check = LongRun::default();
        assert_eq!(run(&mut check, 60, 250, true), Ok(()));
        assert_eq!(run(&mut check, 1, 600, true), Ok(()), "one slow block");
        assert!(run(&mut check, 20, 280, true).is_err());
        assert!(run(&mut LongRun::default(), 21, 280, true).is_err());
        assert_eq!(run(&mut LongRun::default(), 60, 2_000, false), Ok(()));
        let mut check = LongRun::default();
        assert_eq!(run(&mut check, 19, 280, true), Ok(()));
        assert_eq!(run(&mut check, 1, 280, false), Ok(()));
        assert_eq!(run(&mut check, 1, 9_000, true), Ok(()), "it rested");
        assert_eq!(run(&mut check, 19, 280, true), Ok(()));
    }

    #[test]
    fn every_start_of_a_process_excuses_one_interval() {
        let hurried = |blocks: u64, starts: usize| {
            let mut check = LongRun::default();
            check.started.extend(std::iter::repeat_n(1_000, starts));
            let calm = run(&mut check, 21 - blocks, 250, true);
            calm.and_then(|()| run(&mut check, blocks, 0, true))
        };
        assert_eq!(hurried(1, 0), Ok(()), "one of twenty is within a tenth");
        assert!(hurried(2, 0).is_err());
        assert_eq!(hurried(2, 1), Ok(()));
        assert!(hurried(3, 1).is_err());
    }
}
