//! A plan: everything that a seed decides about a world before it begins.
//!
//! A plan is data. A failing one is shrunk by leaving parts of it out, and kept as a file.

mod beside;
mod draw;

use crate::fault::Timed;
use gridbay_protocol::mechanism::ausubel::Rule;
use serde::{Deserialize, Serialize};

/// The preset of the federation's policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// Blocks every 250 ms.
    Local,
    /// Blocks every second.
    WideArea,
}

/// The preset of the federation's bank policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bank {
    /// Revenue to the owners, no tax.
    #[default]
    Owners,
    /// Revenue by shares, savings taxed.
    Mirage,
    /// Revenue to the owners, savings taxed.
    Bellagio,
}

/// How the network treats every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weather {
    /// Least delay of a message.
    pub least_ms: u64,
    /// Longest delay of a message; different delays reorder.
    pub most_ms: u64,
    /// Messages lost, of a million.
    pub loss_ppm: u64,
    /// Messages that arrive twice, of a million.
    pub twice_ppm: u64,
}

/// A node that lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lying {
    /// The node.
    pub node: usize,
    /// Name of the lie, see [`crate::liar::LIES`].
    pub lie: String,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Seed of all that happens by chance in the world.
    pub seed: u64,
    /// Nodes that vote: the first ones.
    pub validators: usize,
    /// Members that do not vote: the next ones.
    pub others: usize,
    /// Nodes that are not members when the world begins and join by invitation: the last ones.
    pub guests: usize,
    /// Policy.
    pub pace: Pace,
    /// The bank's policy.
    #[serde(default)]
    pub bank: Bank,
    /// The auction's rule.
    #[serde(default)]
    pub rule: Rule,
    /// The worth above its reserve that a unit must have which nobody holds, micro-credits a slot.
    #[serde(default)]
    pub switch_cost: u64,
    /// The surcharge of an evicted buy on top of its remainder, in millionths of it; 0 if nobody is
    /// evicted.
    #[serde(default)]
    pub surcharge_ppm: u32,
    /// Whether users sell and hire at posted prices as well.
    #[serde(default)]
    pub hires: bool,
    /// Whether some jobs keep their progress.
    #[serde(default)]
    pub progress: bool,
    /// Whether a house floods in the calm, and another account hands in a few entries meanwhile.
    #[serde(default)]
    pub crowd: bool,
    /// Milliseconds of the world with faults and load.
    pub active_ms: u64,
    /// Milliseconds after that with neither, in which all must come to rest.
    pub calm_ms: u64,
    /// While the world is active.
    pub weather: Weather,
    /// Mean milliseconds between two deeds of users.
    pub deed_ms: u64,
    /// Who lies.
    pub liars: Vec<Lying>,
    /// The faults, ascending by time.
    pub faults: Vec<Timed>,
}

impl Plan {
    /// A plan without faults and liars, in fair weather.
    pub fn calm(seed: u64, validators: usize) -> Plan {
        Plan {
            seed,
            validators,
            others: 2,
            guests: 1,
            pace: Pace::Local,
            bank: Bank::Owners,
            rule: Rule::Exact,
            switch_cost: 0,
            surcharge_ppm: 0,
            hires: false,
            progress: false,
            crowd: false,
            active_ms: 40_000,
            calm_ms: 20_000,
            weather: Weather::FAIR,
            deed_ms: 400,
            liars: Vec::new(),
            faults: Vec::new(),
        }
    }
    /// All nodes.
    pub fn nodes(&self) -> usize {
        self.validators + self.others + self.guests
    }
    /// Validators that may lie without harm.
    pub fn tolerated(&self) -> usize {
        self.validators.saturating_sub(1) / 3
    }
    /// The lie of a node.
    pub fn lie_of(&self, node: usize) -> Option<&str> {
        let lying = self.liars.iter().find(|l| l.node == node);
        lying.map(|l| l.lie.as_str())
    }
}

impl Weather {
    /// A good network.
    pub const FAIR: Weather = Weather {
        least_ms: 1,
        most_ms: 5,
        loss_ppm: 0,
        twice_ppm: 0,
    };
}
