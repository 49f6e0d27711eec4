//! A lie, and the node around which it is wrapped.

use crate::clock::Clock;
use crate::found;
use crate::plan::Plan;
use crate::rng::Rng;
use gridbay_core::Core;
use gridbay_core::effect::Effect;
use gridbay_core::input::Input;
use gridbay_host::message::HostMessage;
use gridbay_ledger::State;
use gridbay_protocol::keys::SecretKey;

/// A liar's own node as its lie sees it.
pub struct Puppet<'a> {
    /// Number of the node.
    pub node: usize,
    /// The world's plan.
    pub plan: &'a Plan,
    /// The process, honest by itself.
    pub core: &'a Core,
    /// World time.
    pub now: u64,
    /// Its clocks.
    pub clock: Clock,
    /// Chance.
    pub rng: &'a mut Rng,
}

impl Puppet<'_> {
    /// Its ledger.
    pub fn state(&self) -> &State {
        self.core.state()
    }
    /// Whether its node is a validator.
    pub fn votes(&self) -> bool {
        self.node < self.plan.validators
    }
    /// Its consensus key.
    pub fn consensus_key(&self) -> SecretKey {
        found::validator_key(self.node)
    }
    /// The key of its account.
    pub fn account_key(&self) -> SecretKey {
        found::account_key(self.node)
    }
    /// Says something to one node.
    pub fn send(&self, to: usize, message: &HostMessage) -> Effect {
        Effect::Send {
            to: *found::node_key(to).as_bytes(),
            bytes: message.encode(),
        }
    }
    /// Says something to all validators.
    pub fn broadcast(&self, message: &HostMessage) -> Effect {
        Effect::Broadcast {
            bytes: message.encode(),
        }
    }
}

/// A lie.
pub trait Lie: Send {
    /// The input as the node's process is to see it; `None` hides it.
    fn input(&mut self, _puppet: &mut Puppet<'_>, input: Input) -> Option<Input> {
        Some(input)
    }
    /// The node's effects in place of those that its process asked for.
    fn effects(&mut self, _puppet: &mut Puppet<'_>, effects: Vec<Effect>) -> Vec<Effect> {
        effects
    }
    /// Its own effects, twice a second.
    fn whim(&mut self, _puppet: &mut Puppet<'_>) -> Vec<Effect> {
        Vec::new()
    }
    /// How often it lied: a lie that never happened proves nothing.
    fn deeds(&self) -> u64;
}
