//! Liars: nodes that do what the rules forbid. One lie per file, a line in [`LIES`].
//!
//! A liar is a whole honest node with a lie wrapped around it: the lie sees all inputs and effects,
//! has the node's keys, and may change, drop and add as it likes.

mod account_conspirators;
mod beacon_grinder;
mod censor;
mod clock_liar;
mod complaining_buyer;
mod craft;
mod deliverer_of_nothing;
mod double_spender;
mod early_starter;
mod equivocator_proposals;
mod equivocator_votes;
mod flooder;
mod forger;
mod front_runner;
mod late_opener;
mod phantom_seller;
mod replayer;
mod selective_sender;
mod silent_proposer;
mod spammer;
mod sync_poisoner;
mod wrong_clearing;

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

/// A kind of liar.
pub struct Kind {
    /// Its name in plans.
    pub name: &'static str,
    /// Whether it needs a validator's node.
    pub votes: bool,
    make: fn() -> Box<dyn Lie>,
}

/// All kinds.
pub const LIES: &[Kind] = &[
    kind::<account_conspirators::AccountConspirators>("account_conspirators", false),
    kind::<beacon_grinder::BeaconGrinder>("beacon_grinder", true),
    kind::<censor::Censor>("censor", true),
    kind::<clock_liar::ClockLiar>("clock_liar", true),
    kind::<complaining_buyer::ComplainingBuyer>("complaining_buyer", false),
    kind::<deliverer_of_nothing::DelivererOfNothing>("deliverer_of_nothing", false),
    kind::<double_spender::DoubleSpender>("double_spender", false),
    kind::<early_starter::EarlyStarter>("early_starter", true),
    kind::<equivocator_proposals::EquivocatorProposals>("equivocator_proposals", true),
    kind::<equivocator_votes::EquivocatorVotes>("equivocator_votes", true),
    kind::<flooder::Flooder>("flooder", false),
    kind::<forger::Forger>("forger", false),
    kind::<front_runner::FrontRunner>("front_runner", true),
    kind::<late_opener::LateOpener>("late_opener", false),
    kind::<phantom_seller::PhantomSeller>("phantom_seller", false),
    kind::<replayer::Replayer>("replayer", false),
    kind::<selective_sender::SelectiveSender>("selective_sender", true),
    kind::<silent_proposer::SilentProposer>("silent_proposer", true),
    kind::<spammer::Spammer>("spammer", false),
    kind::<sync_poisoner::SyncPoisoner>("sync_poisoner", false),
    kind::<wrong_clearing::WrongClearing>("wrong_clearing", true),
];

const fn kind<L: Lie + Default + 'static>(name: &'static str, votes: bool) -> Kind {
    let make = || -> Box<dyn Lie> { Box::<L>::default() };
    Kind { name, votes, make }
}

/// The lie of a name; `None` if there is no such lie.
pub fn make(name: &str) -> Option<Box<dyn Lie>> {
    let kind = LIES.iter().find(|kind| kind.name == name)?;
    Some((kind.make)())
}
