//! The node's questions to a way of buying: about a user's wish under it ([`Way`]), and about an
//! order under it ([`Shown`]).

use super::ausubel::JobWorth;
use crate::api::ApiError;
use crate::api::types::{JobReason, JobState, WhyCheck};
use crate::backend::failure::usage;
use crate::cli::text;
use crate::market::Market;
use crate::market::desk::{Answer, Desk};
use crate::order::plan::{Ask, Plan};
use crate::order::quote::Quote;
use gridbay_core::buy::NewOrder;
use gridbay_core::buyer::order::OrderAgent;
use gridbay_ledger::State;
use gridbay_protocol::units::{Credits, Price};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Nodes of another class than the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Also {
    /// Name of the class.
    pub class: String,
    /// How many.
    #[schema(minimum = 1, maximum = 4096)]
    pub nodes: u32,
}

/// A way of buying with what a user asks for under it.
pub(crate) trait Way {
    /// Name of the mechanism, as in JSON.
    fn name(&self) -> &'static str;
    /// Nodes of other classes than the first.
    fn also(&self) -> &[Also] {
        &[]
    }
    /// Whether fewer nodes than asked for are of use too.
    fn is_divisible(&self) -> bool {
        false
    }
    /// The plan of an order: its terms and its cost.
    ///
    /// # Errors
    /// The wish is out of range, or nobody sells it this way.
    fn plan(&self, at: &Desk<'_>, ask: &Ask) -> Answer<Plan>;
    /// The order planned, for a job that is worth something only when it is done.
    ///
    /// # Errors
    /// Orders of this way do not bid by a worth, or the job takes longer than its time.
    fn by_worth(&self, _: Plan, _: &JobWorth, _: &Desk<'_>, _: &Ask) -> Answer<Plan> {
        Err(no_worth())
    }
    /// The line that `run` says before it sends anything.
    fn line(&self, quote: &Quote) -> String {
        let likely = match quote.likely {
            Some(likely) => format!("likely {likely}"),
            None => "no price yet to tell what is likely".to_owned(),
        };
        format!(
            "can cost at most {} credits ({} for {} at up to {} per node-hour); {likely}",
            quote.most,
            text::nodes(quote.nodes),
            span(quote.seconds),
            quote.max_price
        )
    }
    /// Why `run` does not send it, and what to do instead; `None` if it may come to something.
    fn hopeless(&self, quote: &Quote) -> Option<(String, String)> {
        let least = if self.is_divisible() { 1 } else { quote.nodes };
        too_few(quote, least)
            .or_else(|| out_of_reach(quote, self.instead()))
            .or_else(|| too_low(quote))
    }
    /// Advice where too few nodes can be had at once.
    fn instead(&self) -> &'static str {
        "bid for them instead"
    }
    /// Whether a job that is done pays only when the slot of its last task ends.
    fn pays_with_the_slot(&self) -> bool {
        false
    }
}

/// The words for an order of which at least `least` units must be offered, if they are not.
pub(super) fn too_few(quote: &Quote, least: u32) -> Option<(String, String)> {
    (quote.units_offered < least).then(|| {
        let why = format!(
            "{} units of class {} are offered, it needs {least}",
            quote.units_offered, quote.class
        );
        (why, "see other classes: gridbay market prices".to_owned())
    })
}

/// The words for an order that has its nodes at once or never, where too few can be had now; what
/// to do instead is `next`.
pub(super) fn out_of_reach(quote: &Quote, next: &str) -> Option<(String, String)> {
    let in_reach = quote.nodes_in_reach.filter(|reach| *reach < quote.nodes)?;
    let (nodes, class) = (text::nodes(quote.nodes), &quote.class);
    let why = format!("it needs {nodes} of {class} at once, and {in_reach} can be had now");
    Some((why, next.to_owned()))
}

/// The words for an order that offers less than sellers ask, if it does.
fn too_low(quote: &Quote) -> Option<(String, String)> {
    let asked = quote.asked.filter(|_| quote.too_low)?;
    let (allows, raise) = match quote.max_price < asked {
        true => (format!("its limit is {}", quote.max_price), "--max-price"),
        false => (
            "its budget allows less for the whole time".to_owned(),
            "--budget",
        ),
    };
    let why = format!("sellers ask at least {asked} per node-hour, and {allows}");
    let next = format!("raise {raise}, or send it all the same: --anyway");
    Some((why, next))
}

/// The refusal of a worth for an order that does not bid by one.
pub(super) fn no_worth() -> ApiError {
    usage(
        "a worth is for a bid for all nodes or none",
        "leave out --worth, or the other way to get nodes",
    )
}

/// So many seconds, in words.
pub(super) fn span(seconds: u32) -> String {
    text::span(u64::from(seconds) * 1_000)
}

/// An order's terms, in its user's words.
pub(crate) trait Shown {
    /// How it gets its nodes.
    type How
    where
        Self: Sized;
    /// Price limit per node-hour, budget, and how the order gets its nodes.
    fn shown(&self, order: &NewOrder, state: &State) -> (Credits, Credits, Self::How)
    where
        Self: Sized;
    /// The order's terms, in the ledger's units.
    fn asks(&self, order: &NewOrder, at: &Standing<'_>) -> Asks;
    /// The outcomes that only an order of this way can have.
    fn words(&self, _at: &Standing<'_>) -> Words {
        Words::default()
    }
}

/// An order as it stands, for an explanation.
pub(crate) struct Standing<'a> {
    /// The ledger.
    pub(crate) state: &'a State,
    /// The order's class.
    pub(crate) market: &'a Market,
    /// The order's agent.
    pub(crate) agent: &'a OrderAgent,
    /// State and reason of its job.
    pub(crate) judged: (JobState, Option<JobReason>),
}

impl Standing<'_> {
    /// Slot of the next block.
    pub(crate) fn slot(&self) -> u64 {
        let next = self.state.height().saturating_add(1);
        self.state.calendar().slot(next)
    }
}

/// An order's terms.
#[derive(Clone, Debug)]
pub(crate) struct Asks {
    /// Whether all of it is paid or locked beforehand.
    pub(crate) prepaid: bool,
    /// The fewest nodes of use.
    pub(crate) fewest: u32,
    /// Price limit per node and slot.
    pub(crate) limit: Price,
    /// The amount that the next slot, or all of it, locks.
    pub(crate) needed: Credits,
    /// The most that it may pay.
    pub(crate) budget: Credits,
    /// The sellers' price per node and slot, if that can be told.
    pub(crate) price: Option<Price>,
    /// Nodes offered, and those of them that nobody holds.
    pub(crate) offered: u32,
    pub(crate) free: u32,
}

impl Asks {
    /// For an order that locks all that it can cost, whatever sellers ask.
    pub(super) fn at_once(limit: Price, most: Credits, market: &Market) -> Asks {
        Asks {
            prepaid: true,
            fewest: 1,
            limit,
            needed: most,
            budget: most,
            price: None,
            offered: market.supply(),
            free: market.free(),
        }
    }
}

/// The outcomes that only orders of one way can have, in words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    /// State and reason, in place of what is said of any order.
    pub(crate) sentence: Option<String>,
    /// Conditions in place of that for the units of the class.
    pub(crate) units: Option<Vec<WhyCheck>>,
    /// A further condition.
    pub(crate) check: Option<WhyCheck>,
    /// Advice that replaces the usual one for its reason.
    pub(crate) remedies: Option<Vec<String>>,
}
