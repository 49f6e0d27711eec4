//! Lives in another time: its blocks are from the future (a year, some seconds, just what is
//! allowed, just more), as early as can be, no later than their parent or older; and it votes as if
//! its clock were elsewhere, nil on good blocks and yes to those that it found wrong.
//!
//! Attacks I2 and I12 by ledger time. A validator refuses a time more than a second ahead of its
//! clock, the ledger one that is not later than the parent's; rounds and windows count heights, so
//! nothing is won by the rest.

use super::craft::{Instead, heard, said, say_instead};
use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use gridbay_host::message::HostMessage;
use gridbay_protocol::ids::BlockId;
use gridbay_protocol::limits::CLOCK_AHEAD_MS;
use gridbay_protocol::vote::Vote;

const YEAR_MS: u64 = 365 * 24 * 3_600 * 1_000;
/// Of a million votes this many are turned round.
const OFTEN: u64 = 300_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct ClockLiar {
    instead: Instead,
    /// The last proposal: height, round, block.
    offered: Option<(u64, u32, BlockId)>,
    deeds: u64,
}

/// The time of a lying block.
fn time(puppet: &mut Puppet<'_>, right: u64) -> u64 {
    let (parent, wall) = (
        puppet.state().time_ms(),
        puppet.clock.read(puppet.now).wall_ms,
    );
    let times = [
        wall + YEAR_MS,
        u64::MAX,
        wall + 5_000,
        wall + CLOCK_AHEAD_MS + 1,
        wall + CLOCK_AHEAD_MS,
        wall + CLOCK_AHEAD_MS - 1,
        parent + 1,
        parent,
        parent.saturating_sub(1_000),
        0,
    ];
    puppet.rng.pick(&times).copied().unwrap_or(right)
}

impl ClockLiar {
    fn turn_round(&self, puppet: &mut Puppet<'_>, vote: Vote) -> Option<Vote> {
        let offered = self
            .offered
            .filter(|(height, round, _)| (*height, *round) == (vote.height, vote.round));
        let block = match vote.block {
            Some(_) => None,
            None => Some(offered?.2),
        };
        puppet.rng.chance(OFTEN).then_some(Vote { block, ..vote })
    }
}

impl Lie for ClockLiar {
    fn input(&mut self, _puppet: &mut Puppet<'_>, input: Input) -> Option<Input> {
        if let Some(HostMessage::Proposal(offered)) = heard(&input) {
            let proposal = offered.signed.proposal;
            self.offered = Some((proposal.height, proposal.round, proposal.block));
        }
        Some(input)
    }
    fn effects(&mut self, puppet: &mut Puppet<'_>, effects: Vec<Effect>) -> Vec<Effect> {
        let effects = self.instead.bend(puppet, effects, |puppet, block| {
            let time_ms = time(puppet, block.header.time_ms);
            puppet.redraft(block, |draft| draft.time_ms = time_ms)
        });
        let own = puppet.validator();
        let mut out = Vec::new();
        for effect in effects {
            let turned = match said(&effect) {
                Some(HostMessage::Vote(signed)) if signed.vote.validator == own => {
                    self.turn_round(puppet, signed.vote)
                }
                _ => None,
            };
            out.push(match turned {
                Some(vote) => {
                    self.deeds += 1;
                    say_instead(&effect, &puppet.vote(vote))
                }
                None => effect,
            });
        }
        out
    }
    fn deeds(&self) -> u64 {
        self.deeds + self.instead.count
    }
}
