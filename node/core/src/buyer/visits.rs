//! The networks of others' leases that this node's user was admitted to and wants to be in
//! ([`crate::cluster`], step 5). Kept in memory alone.

use super::Buyer;
use super::ask::Asked;
use super::pace::ANSWER_MS;
use crate::agent::{AgentReply, AgentRequest, StartRefusal};
use crate::cluster::{VISITS, Visit};
use crate::effect::Effect;
use crate::relay::Signed;
use crate::signer::Signer;
use gridbay_ledger::State;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;

/// Milliseconds between two questions of a guest.
const AGAIN_MS: u64 = 8_000;
/// Milliseconds after a question that was refused, or not answered.
const RETRY_MS: u64 = 1_000;

/// What came of the last question for a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Welcome {
    /// No answer yet.
    Asking,
    /// The owner's node does not answer.
    Silent,
    /// The owner's node takes this one in.
    In,
    /// It does not.
    Refused(StartRefusal),
}

/// A network that this node visits.
#[derive(Clone, Copy, Debug)]
pub struct Visited {
    /// The owner's node.
    pub owner: PublicKey,
    /// What it said last.
    pub welcome: Welcome,
    ask_from_ms: u64,
    /// This node's ledger has known the lease.
    was_seen: bool,
}

impl Visited {
    /// Whether the owner has dismissed this node's key.
    pub fn is_dismissed(&self) -> bool {
        self.welcome == Welcome::Refused(StartRefusal::Dismissed)
    }
}

impl Buyer {
    /// This node wants to be in the network of another's lease, or no longer. False if it visits
    /// too many, or is to ask itself.
    pub fn visit(&mut self, lease: LeaseId, owner: Option<PublicKey>) -> bool {
        let Some(owner) = owner else {
            self.visits.remove(&lease);
            return true;
        };
        let room = self.visits.contains_key(&lease) || self.visits.len() < VISITS;
        if owner == self.node || !room {
            return false;
        }
        let visited = Visited {
            owner,
            welcome: Welcome::Asking,
            ask_from_ms: 0,
            was_seen: false,
        };
        self.visits.insert(lease, visited);
        true
    }

    /// A network that this node visits.
    pub fn visited_lease(&self, lease: &LeaseId) -> Option<&Visited> {
        self.visits.get(lease)
    }

    /// The leases whose networks this node visits, but for those whose owners refuse it.
    pub fn visits(&self) -> impl Iterator<Item = &LeaseId> {
        let stays = |v: &Visited| !matches!(v.welcome, Welcome::Refused(_));
        self.visits
            .iter()
            .filter(move |(_, v)| stays(v))
            .map(|(lease, _)| lease)
    }

    /// Asks for places what is due. A lease that is over is visited no longer.
    pub(super) fn ask_visits(
        &mut self,
        state: &State,
        signer: &Signer<'_>,
        now_ms: u64,
        effects: &mut Vec<Effect>,
    ) {
        for (lease, visited) in &mut self.visits {
            visited.was_seen |= state.lease(lease).is_some();
        }
        // A lease may be younger than what this node's ledger knows.
        let over = |lease: &LeaseId, v: &Visited| v.was_seen && state.lease(lease).is_none();
        self.visits.retain(|lease, visited| !over(lease, visited));
        let mut due = Vec::new();
        for (lease, visited) in &mut self.visits {
            if visited.ask_from_ms <= now_ms {
                visited.ask_from_ms = now_ms + ANSWER_MS;
                due.push((*lease, visited.owner));
            }
        }
        for (lease, owner) in due {
            let visit = Visit {
                lease,
                node: self.node,
                owner,
                key: signer.key.public(),
            };
            let signed = Signed::new(&state.network(), visit, signer.key);
            let token = self.token(Asked::Visit(lease));
            let request = AgentRequest::Visit(Box::new(signed));
            effects.push(Effect::Ask {
                token,
                to: owner,
                request,
            });
        }
    }

    /// The owner's node answered, or did not.
    pub(super) fn visit_answered(
        &mut self,
        lease: &LeaseId,
        reply: Option<AgentReply>,
        now_ms: u64,
    ) {
        if let Some(visited) = self.visits.get_mut(lease) {
            visited.welcome = match reply {
                Some(AgentReply::Ok) => Welcome::In,
                // A node that was started anew has forgotten whom it dismissed.
                None | Some(AgentReply::Refused(StartRefusal::NotBuyer))
                    if visited.is_dismissed() =>
                {
                    visited.welcome
                }
                Some(AgentReply::Refused(why)) => Welcome::Refused(why),
                _ => Welcome::Silent,
            };
            let pause = match visited.welcome {
                Welcome::In => AGAIN_MS,
                _ => RETRY_MS,
            };
            visited.ask_from_ms = now_ms + pause;
        }
    }
}
