//! What a step asks for, and what became of it.

use crate::config::{Credits, Files, Token};
use crate::node::Failure;
use crate::update::env::Env;
use crate::update::offered::Origin;
use crate::update::record::Stage;

/// What the shell is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Put the owner's network settings in place, and have them read.
    Network(Vec<u8>),
    /// Let the node's program judge an invitation, and take it if the folder has none.
    Join(Token),
    /// Put a judged invitation in the place of one that the ledger refuses.
    Renew(Token),
    /// Write the node's settings file.
    WriteSettings(String),
    /// Start the node.
    StartNode,
    /// Start the node anew, so that it reads its settings.
    RestartNode,
    /// Set an offer.
    SetOffer(NewOffer),
    /// Withdraw an offer by its label.
    Withdraw(u32),
    /// Keep accepted settings.
    Keep(Files),
    /// Write the boot settings, after the stage that the update has come to.
    SetBoot(Env, Option<Stage>),
    /// Check the update that lies there and has this id, and write it beside the running system.
    TakeUpdate(Origin, String),
    /// Remove the update that the owner handed over.
    DropUpdate,
    /// Have the node take no new leases until the next boot.
    Drain,
    /// Have the next boot erase the node's folder, its keys first, and the agent's.
    Reset,
    /// Reboot.
    Reboot,
}

/// An offer to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOffer {
    /// Class.
    pub class: String,
    /// Units, at least one.
    pub units: u32,
    /// Least price per node-hour.
    pub price: Credits,
    /// Buy-it-now price per node-hour.
    pub buy: Option<Credits>,
}

/// The kind of an action, which is tried and told as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are those of the actions")]
pub enum Kind {
    Network,
    Join,
    Renew,
    Settings,
    Node,
    Offer,
    Withdraw,
    Keep,
    Boot,
    TakeUpdate,
    DropUpdate,
    Drain,
    Reset,
    Reboot,
}

impl Action {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Action::Network(_) => Kind::Network,
            Action::Join(_) => Kind::Join,
            Action::Renew(_) => Kind::Renew,
            Action::WriteSettings(_) => Kind::Settings,
            Action::StartNode | Action::RestartNode => Kind::Node,
            Action::SetOffer(_) => Kind::Offer,
            Action::Withdraw(_) => Kind::Withdraw,
            Action::Keep(_) => Kind::Keep,
            Action::SetBoot(..) => Kind::Boot,
            Action::TakeUpdate(..) => Kind::TakeUpdate,
            Action::DropUpdate => Kind::DropUpdate,
            Action::Drain => Kind::Drain,
            Action::Reset => Kind::Reset,
            Action::Reboot => Kind::Reboot,
        }
    }
}

/// What became of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The kind of action.
    pub kind: Kind,
    /// Whether it was done.
    pub result: Result<(), Failure>,
}
