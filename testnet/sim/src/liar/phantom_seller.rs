//! Offers units cheaply and does not deliver them. By turns it never acknowledges its leases, fails
//! them, or acknowledges them and then refuses the jobs, does not know them any more, says that
//! they ended, or talks nonsense.
//!
//! Attacks I8 and I16 and the buyer's money. A lease that is not acknowledged in time ends, the
//! offer is suspended and the order stands again; a job that its seller does not know is started
//! anew elsewhere.

use super::craft::{Instead, said, say_instead};
use super::{Lie, Puppet};
use gridbay_core::agent::{
    AgentReply, AgentRequest, JobReport, Phase, PollJob, STREAM_BYTES, StartRefusal,
};
use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use gridbay_host::message::HostMessage;
use gridbay_protocol::entry::{EntryBody, SignedEntry};
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::job::JobExit;
use gridbay_protocol::offer::{OfferTerms, Primary, Reclaim};
use gridbay_protocol::units::Price;
use std::collections::{BTreeMap, BTreeSet};

/// Label of its offer, apart from the users' own.
const LABEL: u32 = 77;
/// Of a million whims this many set its offer again.
const OFTEN: u64 = 100_000;
/// Questions that it answers itself at the most at any time.
const QUESTIONS: usize = 64;

/// Its treatment of leases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Way {
    /// Not acknowledged.
    #[default]
    Silent,
    /// Failed.
    Fails,
    /// Acknowledged; jobs are refused.
    Refuses,
    /// Acknowledged; jobs are taken and then not known.
    Forgets,
    /// Acknowledged; jobs are said to have ended well.
    Pretends,
    /// Acknowledged; every answer is nonsense.
    Babbles,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct PhantomSeller {
    way: Way,
    failed: BTreeSet<LeaseId>,
    /// Questions about jobs that its process must not see, with the lie to answer.
    answers: BTreeMap<u64, AgentReply>,
    instead: Instead,
    deeds: u64,
}

/// An answer to a poll that says nothing that can be.
fn babble(puppet: &mut Puppet<'_>, jobs: &[(PollJob, Option<Phase>)]) -> AgentReply {
    let report = |(poll, _): &(PollJob, Option<Phase>)| JobReport {
        job: poll.job,
        phase: Phase::Ended {
            exit: JobExit::Code(i32::MIN),
            started_ms: u64::MAX,
            ended_ms: 0,
            cpu_ms: u64::MAX,
            rss_kib: u64::MAX,
        },
        stdout: vec![b'x'; 3],
        stderr: vec![b'y'; 2 * STREAM_BYTES],
        stdout_len: u64::MAX,
        stderr_len: 0,
        dropped: u64::MAX,
    };
    let bytes = vec![0; 3];
    match puppet.rng.below(6) {
        0 => AgentReply::Reports(jobs.iter().map(report).collect()),
        1 => AgentReply::Reports(jobs.iter().chain(jobs).rev().map(report).collect()),
        2 => AgentReply::Reports(vec![]),
        3 => AgentReply::Chunk { total: 0, bytes },
        4 => AgentReply::Ok,
        _ => AgentReply::NotFound,
    }
}

impl PhantomSeller {
    fn offer(&self, puppet: &mut Puppet<'_>) -> Option<SignedEntry> {
        let classes: Vec<_> = puppet
            .state()
            .classes()
            .iter()
            .map(|c| c.key.id())
            .collect();
        let class = *puppet.rng.pick(&classes)?;
        let units = puppet.rng.range(1, 3) as u32;
        puppet.entry(EntryBody::SetOffer(OfferTerms {
            label: LABEL,
            class,
            units,
            reserve: Price(1),
            buy_price: Some(Price(2)),
            reclaim: Reclaim::None,
            mechanism: Primary::Ausubel,
            node: crate::found::node_key(puppet.node),
        }))
    }
    /// Entries that fail its leases.
    fn failures(&mut self, puppet: &Puppet<'_>) -> Vec<SignedEntry> {
        let state = puppet.state();
        let node = crate::found::node_key(puppet.node);
        self.failed.retain(|lease| state.lease(lease).is_some());
        let leases: Vec<LeaseId> = state.leases_at(&node).map(|(id, _)| *id).collect();
        let mut entries = Vec::new();
        for lease in leases {
            if self.failed.insert(lease) {
                entries.extend(puppet.entry(EntryBody::Fail { lease }));
            }
        }
        entries
    }
    fn report(&self, puppet: &Puppet<'_>, poll: &PollJob) -> JobReport {
        let ended_ms = puppet.clock.read(puppet.now).wall_ms;
        let phase = match self.way {
            Way::Pretends => Phase::Ended {
                exit: JobExit::Code(0),
                started_ms: ended_ms.saturating_sub(1_000),
                ended_ms,
                cpu_ms: u64::MAX,
                rss_kib: u64::MAX,
            },
            _ => Phase::Unknown,
        };
        JobReport {
            job: poll.job,
            phase,
            stdout: vec![],
            stderr: vec![],
            stdout_len: poll.stdout_from,
            stderr_len: poll.stderr_from,
            dropped: 0,
        }
    }
    fn withholds(&self, entry: &EntryBody) -> bool {
        let silent = matches!(self.way, Way::Silent | Way::Fails);
        silent && matches!(entry, EntryBody::Deliver { .. })
    }
    /// The effects of its process for a buyer.
    fn serve(&mut self, puppet: &mut Puppet<'_>, effect: Effect) -> Option<Effect> {
        match (self.way, effect) {
            (Way::Babbles, Effect::Report { token, jobs }) => {
                self.deeds += 1;
                let reply = babble(puppet, &jobs);
                Some(Effect::Answer { token, reply })
            }
            (Way::Forgets | Way::Pretends, Effect::Report { token, jobs }) => {
                self.deeds += 1;
                let reports = jobs.iter().map(|(poll, _)| self.report(puppet, poll));
                let reply = AgentReply::Reports(reports.collect());
                Some(Effect::Answer { token, reply })
            }
            (Way::Forgets | Way::Pretends, Effect::StartJob { .. }) => None,
            (_, effect) => Some(effect),
        }
    }
}

impl Lie for PhantomSeller {
    fn input(&mut self, _puppet: &mut Puppet<'_>, input: Input) -> Option<Input> {
        if let Input::Asked { token, request, .. } = &input
            && self.way == Way::Refuses
            && matches!(request, AgentRequest::Start(_))
            && self.answers.len() < QUESTIONS
        {
            let reply = AgentReply::Refused(StartRefusal::NoUnit);
            self.answers.insert(*token, reply);
            return None;
        }
        Some(input)
    }
    fn effects(&mut self, puppet: &mut Puppet<'_>, effects: Vec<Effect>) -> Vec<Effect> {
        let way = self.way;
        let silent = matches!(way, Way::Silent | Way::Fails);
        let own = puppet.core.account();
        let effects = self.instead.bend(puppet, effects, |puppet, block| {
            let mine = |entry: &gridbay_protocol::entry::Entry| {
                Some(entry.account) == own && matches!(entry.body, EntryBody::Deliver { .. })
            };
            let delivers = silent && block.entries.iter().any(|e| mine(&e.entry));
            let without =
                |draft: &mut gridbay_ledger::Draft| draft.entries.retain(|e| !mine(e.entry()));
            delivers.then(|| puppet.redraft(block, without)).flatten()
        });
        let mut out = Vec::new();
        for effect in effects {
            if let Some(HostMessage::Entries(mut entries)) = said(&effect) {
                let before = entries.len();
                entries.retain(|signed| {
                    Some(signed.entry.account) != own || !self.withholds(&signed.entry.body)
                });
                self.deeds += (before - entries.len()) as u64;
                if !entries.is_empty() {
                    out.push(say_instead(&effect, &HostMessage::Entries(entries)));
                }
                continue;
            }
            out.extend(self.serve(puppet, effect));
        }
        out
    }
    fn whim(&mut self, puppet: &mut Puppet<'_>) -> Vec<Effect> {
        let voters = puppet.voters();
        let mut out = Vec::new();
        for (token, reply) in std::mem::take(&mut self.answers) {
            self.deeds += 1;
            out.push(Effect::Answer { token, reply });
        }
        if puppet.rng.chance(OFTEN) {
            let ways = [
                Way::Silent,
                Way::Fails,
                Way::Refuses,
                Way::Forgets,
                Way::Pretends,
                Way::Babbles,
            ];
            self.way = puppet.rng.pick(&ways).copied().unwrap_or_default();
            let offer = self.offer(puppet);
            out.extend(offer.iter().flat_map(|entry| puppet.tell(&voters, entry)));
        }
        if self.way == Way::Fails {
            for entry in self.failures(puppet) {
                self.deeds += 1;
                out.extend(puppet.tell(&voters, &entry));
            }
        }
        out
    }
    fn deeds(&self) -> u64 {
        self.deeds + self.instead.count
    }
}
