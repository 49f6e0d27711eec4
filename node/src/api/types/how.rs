//! How an order gets its nodes.

use super::amount;
use gridbay_protocol::ids::OfferId;
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
    Buy,
    /// A claim on a pool: a share of it for a budget per hour.
    Share(Claim),
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

    /// Name of the mechanism, as in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            How::Ausubel { .. } => "ausubel",
            How::Buy => "buy",
            How::Share(_) => "share",
        }
    }
    /// Whether fewer nodes than asked for are of use too.
    pub fn is_divisible(&self) -> bool {
        matches!(self, How::Ausubel { divisible: true } | How::Share(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_tag() {
        let claim = Claim {
            offer: Some(OfferId([7; 32])),
            rate: "2.5".parse().unwrap(),
            utility: Utility::Log,
            weights: Some(BTreeMap::from([("cpu".into(), 3)])),
            program: None,
        };
        for how in [How::BID, How::Buy, How::Share(claim)] {
            let json = serde_json::to_value(&how).unwrap();
            assert_eq!(json["mechanism"], how.name());
            assert_eq!(serde_json::from_value::<How>(json).unwrap(), how);
        }
        let strange = serde_json::json!({"mechanism": "buy", "divisible": true});
        assert!(serde_json::from_value::<How>(strange).is_err());
    }
}
