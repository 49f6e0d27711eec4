//! How an order gets its nodes.

use super::{ContractHow, amount};
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::mechanism::reservation::Channels;
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The mechanism that an order uses, with what it alone asks for: `{"mechanism": "ausubel", "divisible": false}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mechanism", rename_all = "snake_case", deny_unknown_fields)]
pub enum How {
    /// A sealed bid in the auction of its class.
    Ausubel {
        /// Whether fewer nodes are of use too (an array of tasks).
        divisible: bool,
    },
    /// Buy-it-now: at once, dearer, not preempted.
    Buy {
        /// Seconds to wait for nodes if there are not enough; 0 for not at all.
        #[serde(default)]
        wait_seconds: u32,
        /// Most to pay on top, once, to those whose buys are evicted for it, where the federation's policy evicts.
        #[serde(default, with = "amount")]
        surcharge: Credits,
        /// Nodes of other classes, with them all or none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        also: Vec<Also>,
    },
    /// A bag of tasks by a deadline, on as many nodes as one seller's plan gives it from slot to slot.
    Deadline {
        /// Seconds after acceptance through which `pay` is paid.
        soft_seconds: u32,
        /// Seconds after acceptance by which it is done, or costs nothing.
        hard_seconds: u32,
        /// Price of all of it until the soft deadline.
        #[serde(with = "amount")]
        pay: Credits,
        /// Price at the hard deadline.
        #[serde(with = "amount")]
        late_pay: Credits,
        /// How the price falls in between.
        shape: Shape,
        /// The id of the seller's offer, or how it begins; `None` for the offer with the most room.
        offer: Option<String>,
        /// Name or account of the seller, if no offer is named.
        seller: Option<String>,
    },
    /// A contract with a provider: as many jobs as nodes are asked for, each on one node.
    Contract(ContractHow),
    /// All nodes together, ahead of time, for all of it; a winner pays his bid.
    Reservation(Ahead),
    /// A claim on a pool: a share of it for a budget per hour.
    Share(Claim),
}

/// Nodes of another class than the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Also {
    /// Name of the class.
    pub class: String,
    /// How many.
    pub nodes: u32,
}

/// What is reserved, and when it may start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ahead {
    /// Nodes of certain offers; what the groups lack of the nodes asked for is of any offer.
    pub groups: Vec<NodeGroup>,
    /// Earliest start.
    pub from: Start,
    /// Latest start; the last one for sale if `None`.
    pub until: Option<Start>,
    /// Channels of which the job needs one for itself.
    pub channels: Option<Channels>,
}

/// Some of the nodes, of certain offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeGroup {
    /// How many.
    pub nodes: u32,
    /// Of which offers; of any if empty.
    pub offers: Vec<OfferId>,
}

/// A time in the market: `{"in": 3600}` or `{"slot": 123}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Seconds from now.
    In(u32),
    /// A slot.
    Slot(u64),
}

/// What a claim on a pool asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The pool; `None` for the one of the class that gives most.
    #[serde(default)]
    pub offer: Option<OfferId>,
    /// Most per hour, for all that it gets.
    #[serde(with = "amount")]
    pub rate: Credits,
    /// What the job makes of its shares.
    pub utility: Utility,
    /// Worth of the resources by name (`cpu`, `memory`, `disk`, `gpu`), those not named nothing; `None` for what past
    /// runs of the program tell, or else all alike.
    #[serde(default)]
    pub weights: Option<BTreeMap<String, u32>>,
    /// The program whose past runs tell.
    #[serde(default)]
    pub program: Option<String>,
}

impl How {
    /// A bid for all nodes or none.
    pub const BID: How = How::Ausubel { divisible: false };

    /// Buy-it-now, or not at all.
    pub const BUY: How = How::Buy {
        wait_seconds: 0,
        surcharge: Credits::ZERO,
        also: Vec::new(),
    };

    /// Name of the mechanism, as in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            How::Ausubel { .. } => "ausubel",
            How::Buy { .. } => "buy",
            How::Deadline { .. } => "deadline",
            How::Contract(_) => "contract",
            How::Reservation(_) => "reservation",
            How::Share(_) => "share",
        }
    }
    /// Nodes of other classes than the first.
    pub fn also(&self) -> &[Also] {
        match self {
            How::Buy { also, .. } => also,
            _ => &[],
        }
    }
    /// Whether fewer nodes than asked for are of use too.
    pub fn is_divisible(&self) -> bool {
        matches!(
            self,
            How::Ausubel { divisible: true }
                | How::Deadline { .. }
                | How::Contract(_)
                | How::Share(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_tag() {
        let deadline = How::Deadline {
            soft_seconds: 60,
            hard_seconds: 600,
            pay: "2".parse().unwrap(),
            late_pay: "0.5".parse().unwrap(),
            shape: Shape::Concave,
            offer: None,
            seller: Some("beta".into()),
        };
        let contract = How::Contract(ContractHow {
            provider: "b".into(),
            value: "2".parse().unwrap(),
            penalty: "0.5".parse().unwrap(),
            hold_seconds: 60,
            decay_seconds: 60,
            alpha_ppm: 1_000_000,
            beta16: 16,
            window_seconds: 120,
        });
        let group = How::Buy {
            wait_seconds: 60,
            surcharge: Credits::ZERO,
            also: vec![Also {
                class: "large".into(),
                nodes: 3,
            }],
        };
        let ahead = Ahead {
            groups: vec![],
            from: Start::In(60),
            until: Some(Start::Slot(9)),
            channels: None,
        };
        let ahead = How::Reservation(ahead);
        let claim = Claim {
            offer: Some(OfferId([7; 32])),
            rate: "2.5".parse().unwrap(),
            utility: Utility::Log,
            weights: Some(BTreeMap::from([("cpu".into(), 3)])),
            program: None,
        };
        for how in [
            How::BID,
            How::BUY,
            group,
            deadline,
            contract,
            ahead,
            How::Share(claim),
        ] {
            let json = serde_json::to_value(&how).unwrap();
            assert_eq!(json["mechanism"], how.name());
            assert_eq!(serde_json::from_value::<How>(json).unwrap(), how);
        }
        let strange = serde_json::json!({"mechanism": "ausubel", "divisible": true, "limit": 1});
        assert!(serde_json::from_value::<How>(strange).is_err());
        let strange = serde_json::json!({"mechanism": "contract", "provider": "b"});
        assert!(serde_json::from_value::<How>(strange).is_err());
    }
}
