//! How an order gets its nodes.

use super::ContractHow;
use serde::{Deserialize, Serialize};

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
    /// A contract with a provider: as many jobs as nodes are asked for, each on one node.
    Contract(ContractHow),
}

impl How {
    /// A bid for all nodes or none.
    pub const BID: How = How::Ausubel { divisible: false };

    /// Name of the mechanism, as in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            How::Ausubel { .. } => "ausubel",
            How::Buy => "buy",
            How::Contract(_) => "contract",
        }
    }
    /// Whether fewer nodes than asked for are of use too.
    pub fn is_divisible(&self) -> bool {
        matches!(self, How::Ausubel { divisible: true } | How::Contract(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_tag() {
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
        for how in [How::BID, How::Buy, contract] {
            let json = serde_json::to_value(&how).unwrap();
            assert_eq!(json["mechanism"], how.name());
            assert_eq!(serde_json::from_value::<How>(json).unwrap(), how);
        }
        let strange = serde_json::json!({"mechanism": "buy", "divisible": true});
        assert!(serde_json::from_value::<How>(strange).is_err());
        let strange = serde_json::json!({"mechanism": "contract", "provider": "b"});
        assert!(serde_json::from_value::<How>(strange).is_err());
    }
}
