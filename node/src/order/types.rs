//! Orders: what is wanted, what it would cost, and what each mechanism would do with a wish.

use crate::api::types::{How, amount, optional_amount};
use gridbay_protocol::ids::{AccountId, OfferId};
use gridbay_protocol::units::Credits;
use serde::{Deserialize, Serialize};

/// What an order asks for, without its job. `POST /quote`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Want {
    /// Name of the class; `None` for the network's only or first class.
    pub class: Option<String>,
    /// Nodes.
    pub nodes: u32,
    /// Most per node-hour; `None` lets the node choose (a buy at the asked prices only).
    #[serde(with = "optional_amount")]
    pub max_price: Option<Credits>,
    /// Hard limit on the running time.
    pub seconds: u32,
    /// Most for the whole order; `None` for nodes x time x price.
    #[serde(with = "optional_amount")]
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

/// What an order would cost, as things stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// Name of the class; of several, all of them.
    pub class: String,
    /// Nodes of all classes.
    pub nodes: u32,
    /// Seconds, rounded up to whole slots.
    pub seconds: u32,
    /// Full slots.
    pub slots: u32,
    /// Price limit per node-hour that the order would carry.
    #[serde(with = "amount")]
    pub max_price: Credits,
    /// The most it can cost: price limit x nodes x slots, or the budget if that is less.
    #[serde(with = "amount")]
    pub most: Credits,
    /// What it likely costs at the last prices; `None` without any to go by.
    #[serde(with = "optional_amount")]
    pub likely: Option<Credits>,
    /// The least that a reservation may bid: the posted price of its node-slots; `None` for other orders.
    #[serde(with = "optional_amount")]
    pub posted: Option<Credits>,
    /// What must be free at once: the deposit, then one slot at the bid; all of a buy or a reservation.
    #[serde(with = "amount")]
    pub needed_now: Credits,
    /// What is free, credit line included.
    #[serde(with = "amount")]
    pub spendable: Credits,
    /// Whether the order can be paid: `most` is at most `spendable`.
    pub funded: bool,
    /// Units of the class offered.
    pub units_offered: u32,
    /// Units of those that nobody holds.
    pub units_free: u32,
    /// What the seller's plan says to a job by a deadline; `None` for other orders.
    pub deadline: Option<DeadlineQuote>,
    /// What a claim on a pool would get; `None` for other orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<ShareOutlook>,
}

/// What a seller's plan would make of a job by a deadline, as things stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadlineQuote {
    /// The offer.
    pub offer: OfferId,
    /// Its seller.
    pub seller: AccountId,
    /// Work declared: nodes times slots.
    pub node_slots: u64,
    /// Seconds after acceptance through which `pay` is paid, whole slots.
    pub soft_seconds: u64,
    /// Seconds after acceptance by which it is done, whole slots.
    pub hard_seconds: u64,
    /// Price until the soft deadline.
    #[serde(with = "amount")]
    pub pay: Credits,
    /// Price at the hard deadline.
    #[serde(with = "amount")]
    pub late_pay: Credits,
    /// What the seller stakes on it, the buyer's if he makes it miss its hard deadline.
    #[serde(with = "amount")]
    pub bond: Credits,
    /// Seconds after acceptance when it would be done; `None` if it would not be taken.
    pub done_seconds: Option<u64>,
    /// Its price then.
    #[serde(with = "optional_amount")]
    pub price: Option<Credits>,
    /// Why it would not be taken.
    pub refused: Option<String>,
}

/// What a claim on a pool would get, by the ledger's rule on the claims that stand now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareOutlook {
    /// The pool.
    pub offer: OfferId,
    /// Its units.
    pub units: u32,
    /// Claims of others on it.
    pub claims: u32,
    /// Whether the weights were learnt from past runs.
    pub learnt: bool,
    /// Nodes to run on at a time, the mean over the slots, in thousandths.
    pub nodes_milli: u64,
    /// The resources of the pool.
    pub resources: Vec<ResourceShare>,
}

/// A claim's share of one resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceShare {
    /// Name.
    pub resource: String,
    /// What it is worth to the job.
    pub weight: u32,
    /// Share of the pool's, millionths.
    pub share_ppm: u32,
}

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
