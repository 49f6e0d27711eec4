//! Hires: units at the price that their sellers post, for a time that is paid slot by slot.
//!
//! The limit is what the dearest of the cheapest units asks, unless the user says how much a node
//! may cost. All slots are locked at the limit, so a budget lowers it. A limit below what is asked
//! now is refused at once: a hire does not wait for lower prices.

use super::way::{Asks, Shown, Standing, Way, Words};
use super::wish::ask;
use crate::api::types::{JobReason, Prospect, Wish};
use crate::api::{ApiError, ErrorCode};
use crate::market::desk::{Answer, Desk};
use crate::market::price::limit_hourly;
use crate::market::{Line, Market, cheapest_of};
use crate::order::plan::{Ask, Floor, Plan, Said, Shelf, too_much};
use clap::Args;
use gridbay_core::buy::{NewOrder, PostedTerms, Terms};
use gridbay_ledger::State;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::units::{Credits, Price};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Its name.
pub(super) const NAME: &str = "posted";

/// A hire; it asks for nothing of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PostedHow {}

/// Hiring.
#[derive(Clone, Debug, Args)]
pub(super) struct PostedFlags {
    /// Hire at the price that sellers post, first come, first served: at once or not at all
    #[arg(long, conflicts_with = "array")]
    posted: bool,
}

impl PostedFlags {
    pub(super) fn how(&self) -> Option<PostedHow> {
        self.posted.then_some(PostedHow {})
    }
}

/// Prices per unit and slot, and how many units are sold at each: free ones, or all.
fn shelf(market: &Market, free: bool) -> Vec<(Price, u32)> {
    let lines = market.lines.iter();
    let posted = lines.filter(|line| line.mechanism == Primary::Posted);
    let units = |line: &Line| if free { line.free } else { line.supply };
    posted.map(|line| (line.reserve, units(line))).collect()
}

/// Units that are sold at a posted price.
fn count(market: &Market, free: bool) -> u32 {
    shelf(market, free).iter().map(|(_, units)| units).sum()
}

/// The cost of units for whole slots and the rest of the running one.
fn for_slots(slot: Credits, slots: u32) -> Option<Credits> {
    slot.checked_mul(u64::from(slots) + 1)
}

/// The most that a hire can cost.
fn most(terms: &PostedTerms, slots: u32) -> Option<Credits> {
    for_slots(terms.limit.times(u64::from(terms.units))?, slots)
}

impl PostedHow {
    fn planned(ask: &Ask, market: &Market) -> Answer<Plan> {
        let slots = ask.slots(market, market.policy.max_firm_slots)?;
        ask.in_range()?;
        let slot_ms = market.policy.slot_ms();
        let asked = cheapest_of(shelf(market, true), ask.nodes)
            .or_else(|| cheapest_of(shelf(market, false), ask.nodes));
        let limit = match (ask.max_price, asked) {
            (Some(most), _) => Price::from_hourly(most, slot_ms).ok_or_else(too_much)?,
            (None, Some((_, dearest))) => dearest,
            (None, None) => return Err(nothing_posted(ask.nodes, market)),
        };
        let within = ask.budget.and_then(|budget| {
            let units = u64::from(ask.nodes).max(1) * (u64::from(slots) + 1);
            Some(Price(budget.share_floor(1, units)?.micros()))
        });
        let limit = within.map_or(limit, |within| within.min(limit));
        if let Some((_, dearest)) = asked.filter(|(_, dearest)| limit < *dearest) {
            return Err(too_dear(ask.nodes, dearest, limit, slot_ms));
        }
        let terms = PostedTerms {
            units: ask.nodes,
            limit,
        };
        let most = most(&terms, slots).ok_or_else(too_much)?;
        let likely = asked.and_then(|(sum, _)| for_slots(sum, slots));
        Ok(Plan {
            terms: Terms::Posted(terms),
            slots,
            worth: None,
            max_price: limit_hourly(limit, slot_ms),
            most,
            likely,
            needed_now: most,
            shelf: Shelf {
                class: market.name.clone(),
                offered: count(market, false),
                free: count(market, true),
                in_reach: Some(count(market, true).min(ask.nodes)),
                floor: Floor::default(),
            },
            said: Said::Nothing,
        })
    }
}

fn nothing_posted(nodes: u32, market: &Market) -> ApiError {
    let units = count(market, false);
    ApiError::new(
        ErrorCode::NoMatch,
        format!(
            "{units} units of class {} are sold at posted prices, {nodes} are wanted",
            market.name
        ),
        "bid for them instead, without --posted; see gridbay offer list",
    )
}

fn too_dear(nodes: u32, asked: Price, limit: Price, slot_ms: u64) -> ApiError {
    let (asked, limit) = (limit_hourly(asked, slot_ms), limit_hourly(limit, slot_ms));
    ApiError::new(
        ErrorCode::NoMatch,
        format!(
            "{nodes} nodes cost up to {asked} credits per node-hour at the prices posted; \
             the limit, or the budget for the whole time, allows {limit}"
        ),
        "raise --max-price or --budget, take fewer nodes or less --time, or bid without --posted",
    )
}

impl Way for PostedHow {
    fn name(&self) -> &'static str {
        NAME
    }
    fn plan(&self, at: &Desk<'_>, ask: &Ask) -> Answer<Plan> {
        PostedHow::planned(ask, &at.market)
    }
}

impl Shown for PostedTerms {
    type How = PostedHow;
    fn shown(&self, order: &NewOrder, state: &State) -> (Credits, Credits, PostedHow) {
        let price = limit_hourly(self.limit, state.policy().slot_ms());
        (
            price,
            most(self, order.slots).unwrap_or(Credits::MAX),
            PostedHow {},
        )
    }
    fn asks(&self, order: &NewOrder, at: &Standing<'_>) -> Asks {
        let asked = cheapest_of(shelf(at.market, false), self.units);
        Asks {
            fewest: self.units,
            price: asked.map(|(_, dearest)| dearest),
            offered: count(at.market, false),
            free: count(at.market, true),
            ..Asks::at_once(
                self.limit,
                most(self, order.slots).unwrap_or(Credits::MAX),
                at.market,
            )
        }
    }
    fn words(&self, at: &Standing<'_>) -> Words {
        let late = matches!(at.judged.1, Some(JobReason::TooDear | JobReason::NoUnits));
        let slot_ms = at.state.policy().slot_ms();
        let asked = cheapest_of(shelf(at.market, true), self.units);
        let advice = || match asked {
            Some((_, dearest)) => format!(
                "hire again with a price limit of {} or more",
                limit_hourly(dearest, slot_ms)
            ),
            None => "bid for the units instead: a hire does not wait for them".to_owned(),
        };
        Words {
            remedies: late.then(|| vec![advice()]),
            ..Words::default()
        }
    }
}

/// The prospect of a hire for a wish now.
pub(super) fn outlook(at: &Desk<'_>, wish: &Wish) -> Answer<Prospect> {
    at.account()?;
    let any = Ask {
        budget: None,
        ..ask(wish)
    };
    let plan = PostedHow::planned(&any, &at.market)?;
    let free = count(&at.market, true);
    let within = wish.budget.is_none_or(|budget| plan.most <= budget);
    let (odds, note) = match (within, free >= wish.nodes) {
        (false, _) => (0, "the prices posted exceed the budget".to_owned()),
        (true, true) => (100, "at once, and kept for the whole time".to_owned()),
        (true, false) => (0, format!("{free} units are free, and nobody gives way")),
    };
    Ok(Prospect {
        mechanism: NAME.to_owned(),
        likely: plan.likely,
        most: Some(plan.most),
        odds: Some(odds),
        note,
        options: format!("-n {} --posted", wish.nodes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::market::tests::market;

    /// Two cheap units of which one is free, three dear ones, and one that is auctioned.
    fn posted() -> Market {
        let mut market = market(&[(2, 1, 10, None), (3, 3, 30, None), (1, 1, 1, None)]);
        for line in &mut market.lines[..2] {
            line.mechanism = Primary::Posted;
        }
        market
    }

    fn plan(nodes: u32, max_price: Option<&str>, budget: Option<&str>) -> Answer<Plan> {
        let ask = Ask {
            nodes,
            max_price: max_price.map(|text| text.parse().unwrap()),
            seconds: 4,
            budget: budget.map(|text| text.parse().unwrap()),
        };
        PostedHow::planned(&ask, &posted())
    }

    #[test]
    fn the_limit_is_the_price_of_the_dearest_unit_needed() {
        for (nodes, limit, likely) in [(1, 10, 10), (2, 30, 40), (4, 30, 100)] {
            let plan = plan(nodes, None, None).unwrap();
            let terms = PostedTerms {
                units: nodes,
                limit: Price(limit),
            };
            assert_eq!(plan.terms, Terms::Posted(terms));
            // Two slots, and the rest of the running one.
            assert_eq!(plan.likely.unwrap().micros(), likely * 3);
            assert_eq!(plan.most.micros(), limit * u64::from(nodes) * 3);
            assert_eq!(plan.needed_now, plan.most);
        }
        let most = plan(5, None, None).unwrap();
        assert_eq!(most.shelf.offered, 5, "the auctioned one is not for hire");
        assert_eq!((most.shelf.free, most.likely.unwrap().micros()), (4, 330));
    }

    #[test]
    fn what_nobody_posts_or_at_another_price_is_no_match() {
        let error = plan(6, None, None).unwrap_err();
        assert_eq!(error.code, ErrorCode::NoMatch);
        assert!(
            error.message.starts_with("5 units of class small"),
            "{}",
            error.message
        );
        let enough = plan(2, None, Some("0.00018")).unwrap();
        assert_eq!(enough.most.micros(), 180);
        for (max_price, budget) in [
            (None, Some("0.00012")),
            (Some("0"), None),
            (Some("0.05"), None),
        ] {
            let error = plan(2, max_price, budget).unwrap_err();
            assert_eq!(error.code, ErrorCode::NoMatch);
            assert!(error.message.contains("at the prices posted"), "{error:?}");
        }
        assert!(
            plan(2, Some("0.054"), None).is_ok(),
            "30 millionths for 2 s"
        );
    }
}
