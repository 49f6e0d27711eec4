//! Takes its turns and says nothing: never proposes, and at times does not vote either.
//!
//! Attacks I12. The others go on after one propose timeout, to the next in the ranking of the
//! height.

use super::craft::said;
use super::{Lie, Puppet};
use gridbay_core::effect::Effect;
use gridbay_host::message::HostMessage;

/// Of a million whims this many change whether it votes.
const MOODY: u64 = 50_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct SilentProposer {
    /// Whether it keeps its votes to itself as well.
    mute: bool,
    deeds: u64,
}

impl Lie for SilentProposer {
    fn effects(&mut self, puppet: &mut Puppet<'_>, mut effects: Vec<Effect>) -> Vec<Effect> {
        let own = puppet.validator();
        let before = effects.len();
        effects.retain(|effect| match said(effect) {
            Some(HostMessage::Proposal(offered)) => offered.signed.proposal.validator != own,
            Some(HostMessage::Vote(signed)) => !self.mute || signed.vote.validator != own,
            _ => true,
        });
        self.deeds += (before - effects.len()) as u64;
        effects
    }
    fn whim(&mut self, puppet: &mut Puppet<'_>) -> Vec<Effect> {
        self.mute ^= puppet.rng.chance(MOODY);
        vec![]
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
