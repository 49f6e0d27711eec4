//! The terms of a buy: the price of the cheapest units, unless the user sets a limit, and the time
//! that it waits. All of it is prepaid, so a budget lowers its limit.
//!
//! A buy of several classes asks for the sum over its classes, and the most per node-hour is the
//! mean over its nodes.

use super::{Also, BuyHow};
use crate::api::{ApiError, ErrorCode};
use crate::backend::failure::usage;
use crate::cli::text;
use crate::market::desk::{Answer, Desk};
use crate::market::price::limit_hourly;
use crate::market::{BETWEEN, Market, class_named, held};
use crate::order::plan::{Ask, Floor, Plan, Said, Shelf, too_much};
use gridbay_core::buy::{BuyTerms, Terms};
use gridbay_ledger::State;
use gridbay_protocol::limits;
use gridbay_protocol::order::BuyPart;
use gridbay_protocol::units::{Credits, Price};

/// The nodes wanted of one class.
struct Part<'m> {
    nodes: u32,
    market: &'m Market,
}

/// The markets of the further classes of a buy, in the order of the user.
fn others(state: &State, how: &BuyHow, nodes: u32, first: &Market) -> Answer<Vec<Market>> {
    let mut others: Vec<Market> = Vec::new();
    let held = held(state);
    for also in &how.also {
        let class = class_named(state, &also.class)?;
        let market = Market::of(state, class, &held);
        let twice = others.iter().chain([first]).any(|m| m.id == market.id);
        if also.nodes == 0 || twice {
            let what = format!("{} of class {}", text::nodes(also.nodes), also.class);
            return Err(usage(what, "name each class once, with 1 node at least"));
        }
        others.push(market);
    }
    let most = limits::ORDER_UNITS;
    let all = how.all_nodes(nodes);
    if others.len() >= limits::BUY_PARTS || all > most {
        let what = format!("{all} nodes of {} classes", others.len() + 1);
        let hint = format!(
            "ask for {most} nodes of {} classes at most",
            limits::BUY_PARTS
        );
        return Err(usage(what, hint));
    }
    Ok(others)
}

impl BuyHow {
    /// Plans a buy of a class, and of others together with it.
    pub(super) fn planned(&self, at: &Desk<'_>, ask: &Ask) -> Answer<Plan> {
        let most = at.market.policy.max_firm_slots;
        if self.also.is_empty() {
            let slots = ask.slots(&at.market, most)?;
            ask.in_range()?;
            return self.of(ask, &at.market, &[], slots);
        }
        let others = others(at.state(), self, ask.nodes, &at.market)?;
        let slots = ask.slots(&at.market, most)?;
        self.of(ask, &at.market, &others, slots)
    }

    fn of(&self, ask: &Ask, market: &Market, others: &[Market], slots: u32) -> Answer<Plan> {
        let parts = parts(ask.nodes, market, &self.also, others);
        let (nodes, surcharge) = (self.all_nodes(ask.nodes), self.surcharge);
        let slot_ms = market.policy.slot_ms();
        let times = u64::from(slots) + 1;
        let asked = sum(&parts, |part| part.market.asked(part.nodes));
        let least = match self.wait_seconds {
            0 => Credits::ZERO,
            _ => sum(&parts, |part| {
                part.market.reference.times(part.nodes.into())
            })
            .ok_or_else(too_much)?,
        };
        let limit = match stated(ask, nodes, &parts, slot_ms)? {
            Some(limit) => limit,
            None => asked.ok_or_else(too_much)?.max(least),
        };
        // All of it is prepaid, so the budget bounds each slot.
        let within = ask.budget.and_then(|budget| {
            let for_slots = budget.saturating_sub(surcharge);
            for_slots.share_floor(1, times)
        });
        let by_price = limit;
        let limit = within.map_or(limit, |within| within.min(limit));
        if limit < least {
            let mean = Price(least.micros().div_ceil(u64::from(nodes.max(1))));
            let hourly = limit_hourly(mean, slot_ms);
            let hint = format!("offer {hourly} per node-hour, or leave --wait out");
            return Err(usage("too little for a place in the queue", hint));
        }
        let most = limit
            .checked_mul(times)
            .and_then(|most| most.checked_add(surcharge))
            .ok_or_else(too_much)?;
        let likely = asked.and_then(|asked| {
            let rest = asked.share_ceil(left(market), market.policy.calendar.slot_heights())?;
            asked.checked_mul(u64::from(slots))?.checked_add(rest)
        });
        // By the price alone: what the budget lacks is no fault of it.
        let per_node = by_price.micros() / u64::from(nodes.max(1));
        Ok(Plan {
            terms: Terms::Buy(BuyTerms {
                parts: by_class(&parts),
                limit,
                patience: heights_of(self.wait_seconds, market.policy.block_interval_ms),
                surcharge,
            }),
            slots,
            max_price: ask
                .max_price
                .unwrap_or_else(|| limit_hourly(Price(per_node), slot_ms)),
            most,
            likely: likely.map(|l| l.min(most)),
            needed_now: most,
            worth: None,
            shelf: Shelf {
                floor: Floor {
                    asked: asked.map(|asked| {
                        let mean = asked.micros().div_ceil(u64::from(nodes.max(1)));
                        limit_hourly(Price(mean), slot_ms)
                    }),
                    // One that waits may meet sellers yet that ask less.
                    missed: self.wait_seconds == 0 && asked.is_some_and(|asked| limit < asked),
                },
                ..self.shelf(&parts)
            },
            said: Said::Nothing,
        })
    }

    /// The supply of all classes together.
    fn shelf(&self, parts: &[Part<'_>]) -> Shelf {
        let (first, others) = (parts[0].market, &parts[1..]);
        let mut shelf = Shelf::of(first);
        for other in others.iter().map(|part| part.market) {
            shelf.class = format!("{}{BETWEEN}{}", shelf.class, other.name);
            shelf.offered += other.supply();
            shelf.free += other.free();
        }
        let evicts = first.policy.buy.evicts() && self.surcharge > Credits::ZERO;
        if self.wait_seconds == 0 && !evicts {
            let reach = |part: &Part<'_>| part.market.in_reach().min(part.nodes);
            shelf.in_reach = Some(parts.iter().map(reach).sum());
        }
        shelf
    }

    fn all_nodes(&self, nodes: u32) -> u32 {
        let also = self.also.iter().map(|also| also.nodes);
        also.fold(nodes, u32::saturating_add)
    }
}

/// The nodes of each class, the first one's first.
fn parts<'m>(nodes: u32, market: &'m Market, also: &[Also], others: &'m [Market]) -> Vec<Part<'m>> {
    let first = Part { nodes, market };
    let others = also.iter().zip(others).map(|(also, market)| Part {
        nodes: also.nodes,
        market,
    });
    [first].into_iter().chain(others).collect()
}

/// The limit per slot that the user states, if any. Units must be for sale: a group that lacks them
/// in one class would lock its money for the others in vain, whatever it pays.
fn stated(ask: &Ask, nodes: u32, parts: &[Part<'_>], slot_ms: u64) -> Answer<Option<Credits>> {
    let lacks = |part: &&Part<'_>| part.market.asked(part.nodes).is_none();
    let lacking = parts.iter().find(lacks);
    match (ask.max_price, lacking) {
        (None, None) => Ok(None),
        (None, Some(lacking)) => Err(nothing_to_buy(lacking)),
        (Some(_), Some(lacking)) if parts.len() > 1 => Err(nothing_to_buy(lacking)),
        (Some(most), _) => {
            let price = Price::from_hourly(most, slot_ms).ok_or_else(too_much)?;
            let limit = price.times(nodes.into());
            Ok(Some(limit.ok_or_else(too_much)?))
        }
    }
}

fn sum(parts: &[Part<'_>], of: impl Fn(&Part<'_>) -> Option<Credits>) -> Option<Credits> {
    let parts = parts.iter().map(of).collect::<Option<Vec<_>>>();
    parts.and_then(Credits::sum)
}

/// Heights of the running slot that are left for an entry of the next block.
fn left(market: &Market) -> u64 {
    let next = market.height.saturating_add(1);
    market.policy.calendar.heights_left(next) + 1
}

fn by_class(parts: &[Part<'_>]) -> Vec<BuyPart> {
    let part = |part: &Part<'_>| BuyPart::anywhere(part.market.id, part.nodes);
    let mut parts: Vec<BuyPart> = parts.iter().map(part).collect();
    parts.sort_unstable_by_key(|part| part.class);
    parts
}

/// Heights that pass in so many seconds, at least one for any.
fn heights_of(seconds: u32, block_interval_ms: u64) -> u64 {
    let heights = (u64::from(seconds) * 1_000).div_ceil(block_interval_ms.max(1));
    heights.min(limits::ORDER_WINDOW - 1)
}

fn nothing_to_buy(part: &Part<'_>) -> ApiError {
    let firm = part
        .market
        .lines
        .iter()
        .filter(|l| l.buy.is_some())
        .map(|l| l.supply)
        .sum::<u32>();
    let hint = match firm {
        0 => "bid instead, or see what is for sale: gridbay market prices",
        _ => "bid instead, or ask for fewer nodes",
    };
    ApiError::new(
        ErrorCode::NoMatch,
        format!(
            "{} of class {}, {firm} can be bought",
            text::nodes(part.nodes),
            part.market.name
        ),
        hint,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::types::Quote;
    use crate::buy::fit;
    use crate::buy::way::Way as _;
    use crate::market::tests::market;
    use gridbay_protocol::ids::{ClassId, Hash32};
    use gridbay_protocol::order::Buy;

    fn ask(nodes: u32, max_price: Option<Credits>) -> Ask {
        Ask {
            nodes,
            max_price,
            seconds: 2,
            budget: None,
        }
    }

    /// Two small nodes and as many large ones, for a slot of two seconds.
    fn group(large: u32, max_price: Option<Credits>, wait_seconds: u32) -> Answer<Plan> {
        let how = BuyHow {
            wait_seconds,
            also: vec![Also {
                class: "large".into(),
                nodes: large,
            }],
            ..BuyHow::AT_ONCE
        };
        let small = market(&[(8, 8, 50, Some(70))]);
        let mut other = market(&[(4, 4, 50, Some(200))]);
        (other.id, other.reference) = (ClassId([0; 32]), Price(500));
        how.of(&ask(2, max_price), &small, &[other], 1)
    }

    #[test]
    fn a_group_pays_the_sum_of_what_is_asked_and_names_its_classes_in_order() {
        let plan = group(3, None, 0).unwrap();
        let Terms::Buy(BuyTerms { parts, limit, .. }) = plan.terms else {
            panic!("a buy");
        };
        let part = BuyPart::anywhere;
        let expected = [part(ClassId([0; 32]), 3), part(ClassId([1; 32]), 2)];
        assert_eq!(parts, expected);
        assert_eq!(limit.micros(), 2 * 70 + 3 * 200);
        assert_eq!(plan.most.micros(), 2 * limit.micros());
        assert_eq!((plan.shelf.offered, plan.shelf.free), (12, 12));
        assert_eq!(plan.shelf.class, "small + small");
        // One that waits offers the sum of the reference prices.
        let plan = group(3, None, 60).unwrap();
        assert_eq!(plan.most.micros(), 2 * (2 * 100 + 3 * 500));
    }

    #[test]
    fn a_group_that_lacks_units_of_a_class_is_told_which() {
        for price in [None, Some("10".parse().unwrap())] {
            let error = group(5, price, 0).unwrap_err();
            assert_eq!(error.code, ErrorCode::NoMatch);
        }
        let stated = Price(300).hourly(2_000);
        let plan = group(3, Some(stated), 0).unwrap();
        assert_eq!(plan.most.micros(), 2 * 5 * 300, "the mean over all nodes");
    }

    fn plan(ask: &Ask, market: &Market, wait_seconds: u32, slots: u32) -> Answer<Plan> {
        let how = BuyHow {
            wait_seconds,
            ..BuyHow::AT_ONCE
        };
        how.of(ask, market, &[], slots)
    }

    fn limit(plan: Plan) -> (u64, u64) {
        match plan.terms {
            Terms::Buy(BuyTerms {
                limit, patience, ..
            }) => (limit.micros(), patience),
            _ => panic!("a buy"),
        }
    }

    #[test]
    fn every_plan_is_a_legal_buy() {
        let market = market(&[(4_096, 4_096, 50, Some(70))]);
        for (nodes, slots) in [1, 3, limits::ORDER_UNITS]
            .iter()
            .flat_map(|nodes| [1, 1_800, 40_000].map(|slots| (*nodes, slots)))
        {
            let Terms::Buy(terms) = plan(&ask(nodes, None), &market, 0, slots).unwrap().terms
            else {
                panic!("a buy")
            };
            let buy = Buy {
                parts: terms.parts,
                slots,
                limit: terms.limit,
                stands_until: terms.patience,
                surcharge: terms.surcharge,
                work: Hash32([2; 32]),
            };
            assert!(buy.check().is_ok());
            assert_eq!(terms.limit.micros(), 70 * u64::from(nodes));
        }
        let many = plan(&ask(limits::ORDER_UNITS + 1, None), &market, 0, 1);
        assert_eq!(many.unwrap_err().code, ErrorCode::NoMatch);
    }

    #[test]
    fn one_that_waits_offers_the_reference_price_at_least() {
        // The reference price is 100, sellers ask 70.
        let market = market(&[(8, 8, 50, Some(70))]);
        let plan = |wait, price: Option<u64>| {
            let price = price.map(|p| Price(p).hourly(2_000));
            plan(&ask(2, price), &market, wait, 9)
        };
        assert_eq!(limit(plan(0, None).unwrap()), (140, 0));
        assert_eq!(limit(plan(60, None).unwrap()), (200, 240));
        assert_eq!(limit(plan(60, Some(150)).unwrap()), (300, 240));
        assert_eq!(plan(60, Some(90)).unwrap_err().code, ErrorCode::Usage);
    }

    #[test]
    fn a_budget_bounds_what_is_spent() {
        let market = market(&[(8, 8, 50, Some(70))]);
        let poor = Ask {
            budget: Credits::from_micros(1_000),
            ..ask(2, None)
        };
        let plan = plan(&poor, &market, 0, 9).unwrap();
        assert_eq!(plan.most.micros(), 1_000, "ten slots at 100");
        let floor = plan.shelf.floor;
        assert!(floor.missed, "sellers ask 140");
        assert_eq!(
            Some(plan.max_price),
            floor.asked,
            "the price is not at fault"
        );
    }

    #[test]
    fn the_rest_of_the_running_slot_is_paid_as_well() {
        let market = market(&[(8, 3, 50, Some(70))]);
        let plan = plan(&ask(2, None), &market, 0, 2).unwrap();
        assert_eq!((plan.shelf.offered, plan.shelf.free), (8, 3));
        // Height 18 is the second of its slot of eight: seven are left.
        let likely = 2 * 140 + (140 * 7u64).div_ceil(8);
        assert_eq!(plan.likely.unwrap().micros(), likely);
        assert_eq!(plan.most.micros(), 3 * 140);
    }

    #[test]
    fn a_buy_that_cannot_have_its_nodes_now_is_hopeless() {
        let told = |market: &Market, how: &BuyHow| {
            let in_reach = how
                .of(&ask(2, None), market, &[], 1)
                .unwrap()
                .shelf
                .in_reach;
            let quote = Quote {
                nodes_in_reach: in_reach,
                ..fit::tests::quote(None, None)
            };
            (in_reach, how.hopeless(&quote).is_some())
        };
        let waits = BuyHow {
            wait_seconds: 60,
            ..BuyHow::AT_ONCE
        };
        let mut busy = market(&[(8, 1, 50, Some(70))]);
        assert_eq!(told(&busy, &BuyHow::AT_ONCE), (Some(1), true));
        assert_eq!(told(&busy, &waits), (None, false), "it waits for units");
        busy.lines[0].yielding = 1;
        let both = (Some(2), false);
        assert_eq!(told(&busy, &BuyHow::AT_ONCE), both, "a bid gives way");
        busy.lines[0].yielding = 0;
        busy.policy.buy.surcharge_ppm = 1;
        let evicts = BuyHow {
            surcharge: Credits::from_micros(1).unwrap(),
            ..BuyHow::AT_ONCE
        };
        assert_eq!(told(&busy, &BuyHow::AT_ONCE), (Some(1), true));
        assert_eq!(told(&busy, &evicts), (None, false), "buys may go");
        // Units of one class are of no use for another one.
        let (small, mut large) = (market(&[(8, 8, 50, Some(70))]), busy);
        large.id = ClassId([0; 32]);
        let group = BuyHow {
            also: vec![Also {
                class: "large".into(),
                nodes: 2,
            }],
            ..BuyHow::AT_ONCE
        };
        let plan = group.of(&ask(2, None), &small, &[large], 1).unwrap();
        assert_eq!(plan.shelf.in_reach, Some(3));
    }

    #[test]
    fn waiting_is_counted_in_blocks_and_bounded() {
        assert_eq!(heights_of(0, 250), 0);
        assert_eq!(heights_of(600, 250), 2_400);
        assert_eq!(heights_of(1, 60_000), 1);
        assert_eq!(heights_of(u32::MAX, 10), limits::ORDER_WINDOW - 1);
    }
}
