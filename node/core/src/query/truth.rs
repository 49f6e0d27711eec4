//! Whether a condition holds of a line of a node: true, false, or unknown (`None`).
//!
//! An unknown condition stays so under `!`; `&&` is false if one part is, `||` true if one part is,
//! whatever the others are (Kleene's logic). Only conditions that are true count.

use super::attribute::Attribute;
use super::condition::{Condition, Operator};
use super::pattern;
use super::subject::{Fact, Line, Subject};
use super::value::Value;

/// The truth of a condition; `None` if it is unknown.
pub fn truth(condition: &Condition, subject: &Subject<'_>, line: &Line<'_>) -> Option<bool> {
    match condition {
        Condition::All(parts) => joined(parts, subject, line, false),
        Condition::Any(parts) => joined(parts, subject, line, true),
        Condition::Not(denied) => truth(denied, subject, line).map(|held| !held),
        Condition::Compare(attribute, operator, value) => {
            compare(&subject.fact(line, attribute)?, *operator, value)
        }
        Condition::In(attribute, values) => {
            let fact = subject.fact(line, attribute)?;
            let mut known = None;
            for value in values {
                match compare(&fact, Operator::Equal, value) {
                    Some(true) => return Some(true),
                    Some(false) => known = Some(false),
                    None => {}
                }
            }
            known
        }
        Condition::On(attribute) => on(attribute, subject, line),
    }
}

fn on(attribute: &Attribute, subject: &Subject<'_>, line: &Line<'_>) -> Option<bool> {
    let fact = subject.fact(line, attribute)?;
    compare(&fact, Operator::Equal, &Value::Switch(true))
}

/// The parts joined by `||` if `decisive` is true, else by `&&`: one part that is `decisive`
/// decides.
fn joined(
    parts: &[Condition],
    subject: &Subject<'_>,
    line: &Line<'_>,
    decisive: bool,
) -> Option<bool> {
    let mut known = Some(!decisive);
    for part in parts {
        match truth(part, subject, line) {
            Some(held) if held == decisive => return Some(decisive),
            Some(_) => {}
            None => known = None,
        }
    }
    known
}

fn compare(fact: &Fact<'_>, operator: Operator, value: &Value) -> Option<bool> {
    let equal = |same: bool| match operator {
        Operator::Unequal => !same,
        _ => same,
    };
    match (fact, value) {
        (Fact::Amount(amount, _), value) => Some(operator.holds(*amount, value.amount()?)),
        (Fact::Text(text), Value::Text(pattern)) => Some(equal(pattern::fits(pattern, text))),
        (Fact::Switch(on), Value::Switch(wanted)) => Some(equal(on == wanted)),
        (Fact::Said(said), Value::Text(pattern)) => Some(equal(pattern::fits(pattern, said))),
        (Fact::Said(said), value) => match Value::of_text(said, value.kind())? {
            Value::Switch(on) => Some(equal(Value::Switch(on) == *value)),
            read => Some(operator.holds(read.amount()?, value.amount()?)),
        },
        (Fact::Text(_) | Fact::Switch(_), _) => None,
    }
}
