//! Liars: nodes that do what the rules forbid. One lie per file, a line in [`LIES`].
//!
//! A liar is a whole honest node with a lie wrapped around it: the lie sees all inputs and effects,
//! has the node's keys, and may change, drop and add as it likes.

mod account_conspirators;
mod beacon_grinder;
mod censor;
mod clock_liar;
mod complaining_buyer;
mod copied_card;
mod craft;
mod deliverer_of_nothing;
mod double_spender;
mod early_starter;
mod equivocator_proposals;
mod equivocator_votes;
mod false_relay;
mod flooder;
mod forger;
mod front_runner;
mod intruding_buyer;
mod late_opener;
mod lie;
mod phantom_seller;
mod replayer;
mod selective_sender;
mod silent_proposer;
mod spammer;
mod sync_poisoner;
mod wrong_clearing;

pub use lie::{Lie, Puppet};

/// A kind of liar.
pub struct Kind {
    /// Its name in plans.
    pub name: &'static str,
    /// Whether it needs a validator's node.
    pub votes: bool,
    /// Whether it is drawn by a stream of its own, beside the others: those of a seed are then as
    /// they were before it came.
    pub beside: bool,
    make: fn() -> Box<dyn Lie>,
}

/// All kinds. A new one comes by `beside`.
pub const LIES: &[Kind] = &[
    kind::<account_conspirators::AccountConspirators>("account_conspirators", false),
    kind::<beacon_grinder::BeaconGrinder>("beacon_grinder", true),
    kind::<censor::Censor>("censor", true),
    kind::<clock_liar::ClockLiar>("clock_liar", true),
    kind::<complaining_buyer::ComplainingBuyer>("complaining_buyer", false),
    beside::<copied_card::CopiedCard>("copied_card"),
    kind::<deliverer_of_nothing::DelivererOfNothing>("deliverer_of_nothing", false),
    kind::<double_spender::DoubleSpender>("double_spender", false),
    kind::<early_starter::EarlyStarter>("early_starter", true),
    kind::<equivocator_proposals::EquivocatorProposals>("equivocator_proposals", true),
    kind::<equivocator_votes::EquivocatorVotes>("equivocator_votes", true),
    kind::<false_relay::FalseRelay>("false_relay", false),
    kind::<flooder::Flooder>("flooder", false),
    kind::<forger::Forger>("forger", false),
    kind::<front_runner::FrontRunner>("front_runner", true),
    kind::<intruding_buyer::IntrudingBuyer>("intruding_buyer", false),
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
    Kind {
        name,
        votes,
        beside: false,
        make,
    }
}

/// One that needs no vote, and leaves the plans alone that were drawn without it.
const fn beside<L: Lie + Default + 'static>(name: &'static str) -> Kind {
    Kind {
        beside: true,
        ..kind::<L>(name, false)
    }
}

/// The lie of a name; `None` if there is no such lie.
pub fn make(name: &str) -> Option<Box<dyn Lie>> {
    let kind = LIES.iter().find(|kind| kind.name == name)?;
    Some((kind.make)())
}
