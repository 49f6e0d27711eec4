//! What each mechanism would do with a wish.

use super::optional_amount;
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// `POST /prospects`: what is wished for, whatever the mechanism.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    /// Name of the class; `None` for the network's only or first class.
    pub class: Option<String>,
    /// Nodes, all or none.
    pub nodes: u32,
    /// For how long, seconds.
    pub seconds: u32,
    /// By when it must be done, seconds from now; `None` if it does not matter.
    pub within_seconds: Option<u32>,
    /// Most for all of it; `None` lets the node suggest.
    #[serde(with = "optional_amount")]
    pub budget: Option<Credits>,
}

/// One mechanism's answer, as things stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prospect {
    /// Its name.
    pub mechanism: String,
    /// What it likely costs; `None` if nothing tells.
    #[serde(with = "optional_amount")]
    pub likely: Option<Credits>,
    /// The most it can cost; `None` if the mechanism cannot serve the wish now.
    #[serde(with = "optional_amount")]
    pub most: Option<Credits>,
    /// How likely it is filled, percent; `None` if nothing tells.
    pub odds: Option<u32>,
    /// In a sentence, what one gets or why not, and what the odds rest on.
    pub note: String,
    /// Options of `gridbay run` for it.
    pub options: String,
}
