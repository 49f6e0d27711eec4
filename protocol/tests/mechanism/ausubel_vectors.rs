//! The 60 published cases of the Ausubel auction, bit for bit, under all three rules.

use crate::support::Dice;
use gridbay_protocol::mechanism::ausubel::{Bidder, Error, Input, Rule, clear};
use serde_json::{Value, json};

const RULES: [(Rule, &str); 3] = [
    (Rule::Exact, "exact"),
    (Rule::Floor, "floor"),
    (Rule::Paper, "paper"),
];

fn cases() -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("../vectors/ausubel.json")).unwrap();
    file["cases"].as_array().unwrap().clone()
}

fn money(value: &Value) -> u64 {
    value.as_str().unwrap().parse().unwrap()
}

fn input(case: &Value, rule: Rule) -> Input<u64> {
    let bidder = |bidder: &Value| Bidder {
        id: bidder["id"].as_u64().unwrap(),
        time: bidder["time"].as_u64().unwrap(),
        min: bidder["min"].as_u64().unwrap().try_into().unwrap(),
        prices: bidder["prices"]
            .as_array()
            .unwrap()
            .iter()
            .map(money)
            .collect(),
    };
    let market = &case["input"];
    Input {
        rule,
        supply: market["m"].as_u64().unwrap().try_into().unwrap(),
        reserve: money(&market["reserve"]),
        bidders: market["bidders"]
            .as_array()
            .unwrap()
            .iter()
            .map(bidder)
            .collect(),
    }
}

/// The outcome as the vectors spell it.
fn spell(input: &Input<u64>) -> Value {
    let outcome = match clear(input) {
        Err(Error::DuplicateId(_)) => return json!({"error": "duplicate_id"}),
        Err(Error::NotMonotone(_)) => return json!({"error": "not_monotone"}),
        Ok(outcome) => outcome,
    };
    let mut awards = outcome.awards;
    awards.sort_by_key(|award| award.id);
    let awards: Vec<Value> = awards
        .iter()
        .map(|a| json!([a.id, a.units, a.pay.to_string()]))
        .collect();
    let mut spelt = json!({
        "alloc": awards,
        "welfare": outcome.welfare.to_string(),
        "revenue": outcome.revenue.to_string(),
    });
    if let Some(price) = outcome.price {
        spelt["price"] = json!(price.to_string());
    }
    spelt
}

fn expected<'a>(case: &'a Value, rule: &str) -> &'a Value {
    let expect = &case["expect"];
    if expect.get("error").is_some() {
        expect
    } else {
        &expect[rule]
    }
}

#[test]
fn all_cases_under_all_rules() {
    let cases = cases();
    assert_eq!(cases.len(), 60);
    for case in &cases {
        for (rule, name) in RULES {
            assert_eq!(
                &spell(&input(case, rule)),
                expected(case, name),
                "{} {name}",
                case["name"]
            );
        }
    }
}

#[test]
fn the_order_of_the_input_does_not_matter() {
    let mut dice = Dice(5);
    for case in &cases() {
        for (rule, name) in RULES {
            let mut market = input(case, rule);
            for _ in 0..4 {
                dice.shuffle(&mut market.bidders);
                assert_eq!(
                    &spell(&market),
                    expected(case, name),
                    "{} {name}",
                    case["name"]
                );
            }
        }
    }
}
