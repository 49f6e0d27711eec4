//! Votes for a height as soon as there can be one, and for the height after it, whether work is due
//! or not.
//!
//! Attacks I17: slots count heights, so a chain that runs faster than its policy sells buyers
//! shorter hours, and an idle one that never rests costs everybody. A height starts before its time
//! only when more than a third of the power has started it.

use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_protocol::vote::{Vote, VoteKind};

/// A round that its own process never comes to: its votes contradict none of these.
const ROUND: u32 = 9;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct EarlyStarter {
    /// The highest tip after which it voted.
    after: Option<u64>,
    deeds: u64,
}

impl Lie for EarlyStarter {
    fn effects(&mut self, puppet: &mut Puppet<'_>, mut effects: Vec<Effect>) -> Vec<Effect> {
        let tip = puppet.state().height();
        if self.after.is_none_or(|after| after < tip) {
            self.after = Some(tip);
            self.deeds += 1;
            for height in [tip + 1, tip + 2] {
                let vote = puppet.vote(Vote {
                    kind: VoteKind::Prevote,
                    height,
                    round: ROUND,
                    block: None,
                    validator: puppet.validator(),
                });
                effects.push(puppet.broadcast(&vote));
            }
        }
        effects
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
