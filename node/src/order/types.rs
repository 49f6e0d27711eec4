//! Orders: their terms, and the prospects of a wish under each mechanism.

use crate::api::types::{How, optional_amount};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The terms of an order, without its job. `POST /quote`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Want {
    /// Name of the class; `None` for the cheapest that fits.
    pub class: Option<String>,
    /// Nodes.
    #[schema(minimum = 1, maximum = 4096)]
    pub nodes: u32,
    /// Most per node-hour; `None` lets the node choose (a buy at the asked prices only).
    #[serde(default, with = "optional_amount")]
    pub max_price: Option<Credits>,
    /// Hard limit on the running time.
    #[schema(minimum = 1)]
    pub seconds: u32,
    /// Most for the whole order; `None` for nodes x time x price.
    #[serde(default, with = "optional_amount")]
    pub budget: Option<Credits>,
    /// How it gets its nodes.
    pub how: How,
}

impl Want {
    /// Nodes of all classes.
    pub fn all_nodes(&self) -> u32 {
        let also = self.how.also().iter().map(|also| also.nodes);
        also.fold(self.nodes, u32::saturating_add)
    }
}

/// `POST /prospects`: a wish, for any mechanism.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    /// Name of the class; `None` for the cheapest that fits.
    pub class: Option<String>,
    /// Nodes, all or none.
    #[schema(minimum = 1, maximum = 4096)]
    pub nodes: u32,
    /// For how long, seconds.
    #[schema(minimum = 1)]
    pub seconds: u32,
    /// By when it must be done, seconds from now; `None` if it does not matter.
    pub within_seconds: Option<u32>,
    /// Most for all of it; `None` lets the node suggest.
    #[serde(default, with = "optional_amount")]
    pub budget: Option<Credits>,
}

/// One mechanism's answer, as things stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Prospect {
    /// Its name.
    pub mechanism: String,
    /// The likely cost; `None` if nothing tells.
    #[serde(with = "optional_amount")]
    pub likely: Option<Credits>,
    /// The most it can cost; `None` if the mechanism cannot serve the wish now.
    #[serde(with = "optional_amount")]
    pub most: Option<Credits>,
    /// How likely it is filled, percent; `None` if nothing tells.
    pub odds: Option<u32>,
    /// One sentence: the units to be had or why there are none, and the basis of the odds.
    pub note: String,
    /// Options of `gridbay run` for it.
    pub options: String,
}
