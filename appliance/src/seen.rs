//! What one look around the appliance finds, as plain data.
//!
//! Nothing here is a judgement. The shell fills it in, and tests make it up.

use crate::action::Outcome;
use crate::config::{Files, Token};
use crate::image::Image;
use crate::node::{Class, NodeStatus, Offer, Unit};
use crate::state::Fault;
use crate::update::offered::Offered;
use crate::update::record::Record;
use crate::update::trial::Boot;

/// One look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The data partition.
    pub data: Data,
    /// Places that may tell settings, in the order in which they count.
    pub sources: Vec<Source>,
    /// The settings that were accepted last.
    pub kept: Files,
    /// The owner's network settings as they lie in the system now.
    pub network_in_use: Option<Vec<u8>>,
    /// The network.
    pub network: Network,
    /// The clock.
    pub clock: Clock,
    /// The data folder of the node.
    pub folder: Folder,
    /// The node's unit.
    pub unit: Unit,
    /// What the node says of itself, if it answers.
    pub node: Option<NodeStatus>,
    /// All offers of the market, if the node answers.
    pub offers: Option<Vec<Offer>>,
    /// All classes of the market, if the node answers.
    pub classes: Option<Vec<Class>>,
    /// The machine.
    pub machine: Machine,
    /// Whether somebody asked for the node to be drained.
    pub drain_asked: bool,
    /// How this system was started; `None` if the boot settings cannot be had.
    pub boot: Option<Boot>,
    /// The record of the last update.
    pub update: Option<Record>,
    /// What the running image says of itself.
    pub image: Image,
    /// Updates that lie on disks, or that the owner handed over.
    pub offered: Vec<Offered>,
    /// What became of the actions of the last step.
    pub outcomes: Vec<Outcome>,
}

/// The data partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// It cannot be used.
    Broken(Fault),
    /// It is mounted.
    Mounted {
        /// Bytes that are free.
        free: u64,
        /// Bytes in all.
        total: u64,
    },
}

impl Default for Data {
    fn default() -> Data {
        Data::Broken(Fault::new("the data partition was not looked at", ""))
    }
}

/// A place that may tell settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name for people.
    pub origin: String,
    /// Its files, or why they cannot be had.
    pub files: Result<Files, String>,
}

/// The network of the appliance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// Addresses that others might reach.
    pub addresses: Vec<String>,
    /// Whether there is a default route.
    pub route: bool,
}

/// The clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// It stands before the date of the image.
    pub before_image: bool,
    /// A time server was heard.
    pub synchronised: bool,
    /// Minutes since midnight, UTC.
    pub minute: u32,
}

/// The data folder of the node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// It has keys.
    pub keys: bool,
    /// It belongs to a network.
    pub joined: bool,
    /// It has the network's genesis: after an invitation the node has it of another one.
    pub genesis: bool,
    /// The invitation in it.
    pub invitation: Option<Token>,
    /// The node's settings.
    pub settings: Option<Vec<u8>>,
    /// What the owner told the node from afar.
    pub orders: Option<Vec<u8>>,
}

/// What the machine has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Processors.
    pub vcpu: u32,
    /// Memory.
    pub memory_mib: u64,
    /// The data partition as a whole.
    pub disk_mib: u64,
}
