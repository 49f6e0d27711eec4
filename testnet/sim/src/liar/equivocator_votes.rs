//! Signs two votes for one step: one for one half of the validators, another for the other half,
//! and both for one node.
//!
//! Attacks I2 (two quorums for two blocks) and I10. Honest nodes notice when both votes meet in one
//! vote keeper: the pair becomes evidence, goes into a block and names the signer.

use super::craft::{said, say_instead};
use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use gridbay_host::message::HostMessage;
use gridbay_protocol::ids::BlockId;
use gridbay_protocol::vote::Vote;

/// Of a million votes this many are doubled.
const OFTEN: u64 = 600_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct EquivocatorVotes {
    /// A block that somebody else proposed at some height and round.
    rival: Option<(u64, BlockId)>,
    deeds: u64,
}

impl EquivocatorVotes {
    /// The vote that contradicts another.
    fn contrary(&self, puppet: &mut Puppet<'_>, vote: &Vote) -> Vote {
        let rival = self.rival.filter(|(height, _)| *height == vote.height);
        let rival = rival.map(|(_, block)| block);
        let block = match vote.block {
            Some(_) if puppet.rng.chance(500_000) => None,
            Some(block) => rival.filter(|rival| *rival != block),
            None => Some(rival.unwrap_or(BlockId(puppet.rng.bytes32()))),
        };
        Vote { block, ..*vote }
    }
    fn double(&mut self, puppet: &mut Puppet<'_>, effect: &Effect, vote: &Vote) -> Vec<Effect> {
        let other = self.contrary(puppet, vote);
        let (one, two) = (puppet.vote(*vote), puppet.vote(other));
        self.deeds += 1;
        let voters = puppet.voters();
        let both = puppet.rng.pick(&voters).copied();
        let mut out = Vec::new();
        for to in voters {
            let first = puppet.rng.chance(500_000);
            let (said, unsaid) = if first { (&one, &two) } else { (&two, &one) };
            out.push(puppet.send(to, said));
            if both == Some(to) {
                out.push(puppet.send(to, unsaid));
            }
        }
        // A vote meant for one peer stays one.
        if matches!(effect, Effect::Send { .. }) {
            out = vec![say_instead(effect, &two)];
        }
        out
    }
}

impl Lie for EquivocatorVotes {
    fn input(&mut self, _puppet: &mut Puppet<'_>, input: Input) -> Option<Input> {
        if let Some(HostMessage::Proposal(offered)) = super::craft::heard(&input) {
            let proposal = offered.signed.proposal;
            self.rival = Some((proposal.height, proposal.block));
        }
        Some(input)
    }
    fn effects(&mut self, puppet: &mut Puppet<'_>, effects: Vec<Effect>) -> Vec<Effect> {
        let own = puppet.validator();
        let mut out = Vec::new();
        for effect in effects {
            match said(&effect) {
                Some(HostMessage::Vote(signed))
                    if signed.vote.validator == own && puppet.rng.chance(OFTEN) =>
                {
                    out.extend(self.double(puppet, &effect, &signed.vote));
                }
                _ => out.push(effect),
            }
        }
        out
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
