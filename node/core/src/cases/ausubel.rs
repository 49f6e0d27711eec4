//! Cases of the Ausubel auction: one market under all three rules.
//!
//! Input: `m` units, a `reserve`, and bidders with falling unit prices and the least number of
//! units they take. Result: winners by id as `[id, units, pay]`, welfare and revenue under each
//! rule, and under `paper` its price.

use super::form::{CaseError, Money, read};
use gridbay_protocol::mechanism::Mechanism;
use gridbay_protocol::mechanism::ausubel::{Ausubel, Bidder, Error, Input, Rule, clear};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Name of the mechanism.
pub(super) const NAME: &str = <Ausubel<u64> as Mechanism>::NAME;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Market {
    m: u32,
    reserve: Money,
    bidders: Vec<Bid>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bid {
    id: u64,
    time: u64,
    min: u32,
    prices: Vec<Money>,
}

/// The outcome as results spell it.
fn spell(input: &Input<u64>) -> Result<Value, &'static str> {
    let outcome = clear(input).map_err(|error| match error {
        Error::DuplicateId(_) => "duplicate_id",
        Error::NotMonotone(_) => "not_monotone",
    })?;
    let mut awards = outcome.awards;
    awards.sort_by_key(|award| award.id);
    let award = |a: &gridbay_protocol::mechanism::ausubel::Award<u64>| {
        json!([a.id, a.units, a.pay.to_string()])
    };
    let mut spelt = json!({
        "alloc": awards.iter().map(award).collect::<Vec<Value>>(),
        "welfare": outcome.welfare.to_string(),
        "revenue": outcome.revenue.to_string(),
    });
    if let Some(price) = outcome.price {
        spelt["price"] = json!(price.to_string());
    }
    Ok(spelt)
}

/// The result of an input.
pub(super) fn solve(input: Value) -> Result<Value, CaseError> {
    let market: Market = read(NAME, input)?;
    let bidder = |bid: Bid| Bidder {
        id: bid.id,
        time: bid.time,
        min: bid.min,
        prices: bid.prices.iter().map(|price| price.0).collect(),
        sponsor: None,
    };
    let mut input = Input {
        rule: Rule::Exact,
        supply: market.m,
        reserve: market.reserve.0,
        bidders: market.bidders.into_iter().map(bidder).collect(),
    };
    let mut results = Map::new();
    for rule in Rule::ALL {
        input.rule = rule;
        match spell(&input) {
            Ok(result) => results.insert(rule.name().into(), result),
            Err(error) => return Ok(json!({ "error": error })),
        };
    }
    Ok(Value::Object(results))
}
