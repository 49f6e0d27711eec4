//! Offers units cheaply, acknowledges every lease, gives its sign of life in every slot, and serves
//! nothing: by turns it refuses to start jobs, takes them and does not know them any more, or never
//! answers.
//!
//! Attacks I16 and the buyer's money. Its acknowledgements and heartbeats are all in order, so only
//! its buyers can tell: they complain, the slot goes back to them, and the offer is withdrawn after
//! a few of them. It sets it again.

use super::{Lie, Puppet};
use gridbay_core::agent::{AgentReply, AgentRequest, JobReport, Phase, PollJob, StartRefusal};
use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim, offer_id};
use gridbay_protocol::units::Price;
use std::collections::BTreeMap;

/// Label of its offer, apart from the users' own.
pub(crate) const LABEL: u32 = 78;
/// Of a million whims this many set its offer again, when it is not for sale.
const OFTEN: u64 = 200_000;
/// Questions that it answers itself at the most at any time.
const QUESTIONS: usize = 64;

/// How it serves nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Way {
    #[default]
    Refuses,
    Forgets,
    Silent,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct DelivererOfNothing {
    way: Way,
    answers: BTreeMap<u64, AgentReply>,
    deeds: u64,
}

impl DelivererOfNothing {
    /// Its offer, where it is not for sale.
    fn offer(&mut self, puppet: &mut Puppet<'_>) -> Option<SignedEntry> {
        let own = puppet.core.account()?;
        let known = puppet.state().offer(&offer_id(&own, LABEL));
        if known.is_some_and(|offer| offer.active || offer.pending.is_some()) {
            return None;
        }
        let class = puppet.state().classes().first()?.key.id();
        let ways = [Way::Refuses, Way::Forgets, Way::Silent];
        self.way = puppet.rng.pick(&ways).copied().unwrap_or_default();
        puppet.entry(EntryBody::SetOffer(OfferTerms {
            label: LABEL,
            class,
            units: 4,
            reserve: Price(1),
            buy_price: Some(Price(2)),
            reclaim: Reclaim::None,
            mechanism: Primary::Ausubel,
            node: crate::found::node_key(puppet.node),
        }))
    }
}

fn unknown(poll: &PollJob) -> JobReport {
    JobReport {
        job: poll.job,
        phase: Phase::Unknown,
        stdout: vec![],
        stderr: vec![],
        stdout_len: poll.stdout_from,
        stderr_len: poll.stderr_from,
        dropped: 0,
    }
}

impl Lie for DelivererOfNothing {
    fn input(&mut self, _puppet: &mut Puppet<'_>, input: Input) -> Option<Input> {
        let Input::Asked { token, request, .. } = &input else {
            return Some(input);
        };
        let reply = match (self.way, request) {
            (Way::Silent, AgentRequest::Start(_) | AgentRequest::Poll(_)) => None,
            (Way::Refuses, AgentRequest::Start(_)) => {
                Some(AgentReply::Refused(StartRefusal::NoUnit))
            }
            (Way::Forgets, AgentRequest::Start(_)) => Some(AgentReply::Ok),
            (Way::Forgets | Way::Refuses, AgentRequest::Poll(polls)) => {
                Some(AgentReply::Reports(polls.iter().map(unknown).collect()))
            }
            _ => return Some(input),
        };
        self.deeds += 1;
        if let Some(reply) = reply.filter(|_| self.answers.len() < QUESTIONS) {
            self.answers.insert(*token, reply);
        }
        None
    }
    fn effects(&mut self, _puppet: &mut Puppet<'_>, mut effects: Vec<Effect>) -> Vec<Effect> {
        let answers = std::mem::take(&mut self.answers).into_iter();
        effects.extend(answers.map(|(token, reply)| Effect::Answer { token, reply }));
        effects
    }
    fn whim(&mut self, puppet: &mut Puppet<'_>) -> Vec<Effect> {
        let answers = std::mem::take(&mut self.answers).into_iter();
        let mut out: Vec<Effect> = answers
            .map(|(token, reply)| Effect::Answer { token, reply })
            .collect();
        if puppet.rng.chance(OFTEN) {
            let voters = puppet.voters();
            let offer = self.offer(puppet);
            self.deeds += u64::from(offer.is_some());
            out.extend(offer.iter().flat_map(|entry| puppet.tell(&voters, entry)));
        }
        out
    }
    fn deeds(&self) -> u64 {
        self.deeds
    }
}
