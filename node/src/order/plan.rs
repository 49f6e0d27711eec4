//! Plans: the terms of an order and their cost. A quote and an order are both made of a plan, so an
//! order costs as much as was quoted.
//!
//! 1. Time becomes whole slots, rounded up. An order that starts inside a slot also pays the rest
//!    of that one, so its most is reckoned with one slot more.
//! 2. The rest depends on the way of buying: see `Way::plan` of each.

use super::quote::Quote;
use crate::api::ApiError;
use crate::backend::failure::usage;
use crate::buy::{DeadlineQuote, ShareOutlook};
use crate::market::Market;
use crate::market::desk::{Answer, Desk};
use gridbay_core::buy::{NewOrder, Relaying, Terms, Worth};
use gridbay_core::key::OrderKey;
use gridbay_protocol::ids::Hash32;
use gridbay_protocol::job::JobSpec;
use gridbay_protocol::limits;
use gridbay_protocol::units::{Credits, MS_PER_HOUR};

/// For how long an order stands without running before it gives up, in milliseconds.
const PATIENCE_MS: u64 = MS_PER_HOUR;

/// The demand, whatever the way of buying.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    /// Nodes of the class.
    pub(crate) nodes: u32,
    /// Most per node-hour, if the user says.
    pub(crate) max_price: Option<Credits>,
    /// Hard limit on the running time.
    pub(crate) seconds: u32,
    /// Most for the whole order, if the user says.
    pub(crate) budget: Option<Credits>,
}

impl Ask {
    /// Whole slots that cover the seconds wanted.
    ///
    /// # Errors
    /// There are none, or more than `most`.
    pub(crate) fn slots(&self, market: &Market, most: u32) -> Answer<u32> {
        let slot_ms = market.policy.slot_ms().max(1);
        let wide = (u64::from(self.seconds) * 1_000).div_ceil(slot_ms);
        match u32::try_from(wide) {
            Ok(slots) if (1..=most).contains(&slots) => Ok(slots),
            _ => {
                let longest = u64::from(most).saturating_mul(slot_ms) / 1_000;
                let why = match self.seconds {
                    0 => "an order for no time at all".to_owned(),
                    asked => format!(
                        "the order is for {asked} seconds, and such an order runs for {longest} \
                         seconds here at the most"
                    ),
                };
                Err(usage(
                    why,
                    format!("ask for 1 to {longest} seconds: --time"),
                ))
            }
        }
    }
    /// Refuses more nodes than an order may have, and none.
    pub(crate) fn in_range(&self) -> Answer<()> {
        if (1..=limits::ORDER_UNITS).contains(&self.nodes) {
            return Ok(());
        }
        let most = limits::ORDER_UNITS;
        let hint = format!("ask for 1 to {most} nodes");
        let why = format!(
            "the order is for {} nodes, and one has 1 to {most}",
            self.nodes
        );
        Err(usage(why, hint))
    }
}

/// Heights for which an order stands without running before it gives up.
pub(crate) fn patience(market: &Market) -> u64 {
    let heights = PATIENCE_MS / market.policy.block_interval_ms.max(1);
    heights.clamp(
        market.policy.calendar.slot_heights(),
        limits::ORDER_WINDOW - 1,
    )
}

/// The refusal of sums that cannot be told.
pub(crate) fn too_much() -> ApiError {
    usage(
        "amounts beyond the range of money",
        "lower the price, the nodes or the time",
    )
}

/// The terms of an order, and their cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// How units are bought.
    pub(crate) terms: Terms,
    /// Full slots.
    pub(crate) slots: u32,
    /// Its worth, if it bids by that.
    pub(crate) worth: Option<Worth>,
    /// Price limit per node-hour.
    pub(crate) max_price: Credits,
    /// The most it can cost.
    pub(crate) most: Credits,
    /// The likely cost.
    pub(crate) likely: Option<Credits>,
    /// The money that must be free at once.
    pub(crate) needed_now: Credits,
    /// The supply for it.
    pub(crate) shelf: Shelf,
    /// Notes of its way of buying.
    pub(crate) said: Said,
}

/// The supply for an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shelf {
    /// Name of the class; of several, all of them.
    pub(crate) class: String,
    /// Units offered.
    pub(crate) offered: u32,
    /// Units of those that nobody holds.
    pub(crate) free: u32,
    /// Nodes that can be had now; `None` for orders that wait for them.
    pub(crate) in_reach: Option<u32>,
    /// What the order must offer.
    pub(crate) floor: Floor,
}

/// What sellers ask of an order at least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Floor {
    /// Per node-hour; `None` if too few nodes are offered, or if a plan is refused below it.
    pub(crate) asked: Option<Credits>,
    /// Whether the order offers less and has no chance until sellers ask less.
    pub(crate) missed: bool,
}

impl Shelf {
    /// All that is offered of a class.
    pub(crate) fn of(market: &Market) -> Shelf {
        Shelf {
            class: market.name.clone(),
            offered: market.supply(),
            free: market.free(),
            in_reach: None,
            floor: Floor::default(),
        }
    }
}

/// Notes that only orders of one way have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// Nothing.
    Nothing,
    /// The place of a job by a deadline in the seller's plan.
    Deadline(DeadlineQuote),
    /// The least that a reservation may bid.
    Least(Credits),
    /// The grant that a claim would get.
    Pool(ShareOutlook),
}

/// The parts of an order beside its plan.
pub(crate) struct Job {
    /// The order's local name.
    pub(crate) key: OrderKey,
    /// Mark of the request.
    pub(crate) request: Hash32,
    /// Fresh randomness for its salts.
    pub(crate) entropy: [u8; 32],
    /// Name for people.
    pub(crate) name: String,
    /// When it was accepted, milliseconds since 1970.
    pub(crate) accepted_ms: u64,
    /// Nodes of all classes.
    pub(crate) nodes: u32,
    /// How its network is relayed.
    pub(crate) relay: Relaying,
    /// What runs.
    pub(crate) spec: JobSpec,
}

impl Plan {
    /// Its cost, for `nodes` nodes of all classes.
    ///
    /// # Errors
    /// The node has no account.
    pub(crate) fn quote(&self, at: &Desk<'_>, nodes: u32) -> Answer<Quote> {
        let spendable = at.spendable()?;
        let (mut deadline, mut posted, mut share) = (None, None, None);
        match &self.said {
            Said::Nothing => {}
            Said::Deadline(said) => deadline = Some(said.clone()),
            Said::Least(least) => posted = Some(*least),
            Said::Pool(said) => share = Some(said.clone()),
        }
        Ok(Quote {
            class: self.shelf.class.clone(),
            among: at.among,
            nodes,
            seconds: at.market.seconds(self.slots),
            slots: self.slots,
            max_price: self.max_price,
            most: self.most,
            likely: self.likely,
            posted,
            needed_now: self.needed_now,
            spendable,
            funded: self.most <= spendable,
            units_offered: self.shelf.offered,
            units_free: self.shelf.free,
            nodes_in_reach: self.shelf.in_reach,
            asked: self.shelf.floor.asked,
            // Where too few can be had, no price helps.
            too_low: self.shelf.floor.missed
                && self.shelf.in_reach.is_none_or(|reach| reach >= nodes),
            deadline,
            share,
        })
    }
    /// The order for a job.
    pub(crate) fn order(self, at: &Desk<'_>, job: Job) -> NewOrder {
        NewOrder {
            worth: self.worth,
            relay: job.relay,
            key: job.key,
            request: Some(job.request),
            entropy: job.entropy,
            name: job.name,
            accepted_ms: job.accepted_ms,
            class: at.market.id,
            terms: self.terms,
            slots: self.slots,
            tasks: job.nodes,
            spec: job.spec,
        }
    }
}
