//! The same by other means: negations are pushed down to the comparisons, then everything unknown
//! is simply false.
//!
//! It shares the facts of a subject with the evaluator and nothing else.

use crate::query::Query;
use crate::query::attribute::Attribute;
use crate::query::condition::{Condition, Operator};
use crate::query::explain::explain;
use crate::query::order::Direction;
use crate::query::subject::{Fact, Line, Subject};
use crate::query::value::{Kind, Value};
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::keys::PublicKey;

/// A fact as a number, or as a text.
enum Plain {
    Number(u128),
    Text(String),
}

fn plain(fact: Fact<'_>, kind: Kind) -> Option<Plain> {
    let said = match fact {
        Fact::Amount(amount, _) => return Some(Plain::Number(amount.into())),
        Fact::Switch(on) => return Some(Plain::Number(on.into())),
        Fact::Text(text) => return Some(Plain::Text(text.to_lowercase())),
        Fact::Said(said) => said,
    };
    let scaled = |units: &[(&str, u128)]| {
        let unit = units.iter().find(|(u, _)| {
            said.strip_suffix(u)
                .is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
        })?;
        let digits: u128 = said.strip_suffix(unit.0)?.parse().ok()?;
        Some(Plain::Number(digits * unit.1))
    };
    match kind {
        Kind::Text => Some(Plain::Text(said.to_lowercase())),
        Kind::Switch => ["false", "true"]
            .iter()
            .position(|w| *w == said)
            .map(|n| Plain::Number(n as u128)),
        Kind::Number => {
            let float: f64 = said.parse().ok()?;
            (float >= 0.0).then(|| Plain::Number((float * 1e6).round() as u128))
        }
        Kind::Size => scaled(&[("GiB", 1 << 30), ("MiB", 1 << 20)]),
        Kind::Duration => scaled(&[("ms", 1_000)]),
    }
}

fn like(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => {
            let rest = text.strip_prefix(head);
            rest.is_some_and(|rest| (0..=rest.len()).any(|cut| like(tail, &rest[cut..])))
        }
    }
}

/// Whether a comparison is known to have this outcome.
fn is(s: &Subject<'_>, l: &Line<'_>, a: &Attribute, o: Operator, v: &Value, wanted: bool) -> bool {
    let known = s.fact(l, a).and_then(|fact| plain(fact, v.kind()));
    let right = match v {
        Value::Text(text) => Plain::Text(text.to_lowercase()),
        Value::Switch(on) => Plain::Number((*on).into()),
        Value::Number(n) | Value::Size(n) | Value::Duration(n) => Plain::Number((*n).into()),
    };
    let outcome = match (known, right) {
        (Some(Plain::Number(a)), Plain::Number(b)) => match o {
            Operator::Equal => a == b,
            Operator::Unequal => a != b,
            Operator::Below => a < b,
            Operator::AtMost => a <= b,
            Operator::Above => a > b,
            Operator::AtLeast => a >= b,
        },
        (Some(Plain::Text(a)), Plain::Text(b)) => like(&b, &a) == (o == Operator::Equal),
        _ => return false,
    };
    outcome == wanted
}

/// Whether a condition is known to be `wanted`.
fn holds(condition: &Condition, s: &Subject<'_>, l: &Line<'_>, wanted: bool) -> bool {
    match (condition, wanted) {
        (Condition::Not(denied), _) => holds(denied, s, l, !wanted),
        (Condition::All(parts), true) | (Condition::Any(parts), false) => {
            parts.iter().all(|part| holds(part, s, l, wanted))
        }
        (Condition::All(parts), false) | (Condition::Any(parts), true) => {
            parts.iter().any(|part| holds(part, s, l, wanted))
        }
        (Condition::Compare(a, o, v), _) => is(s, l, a, *o, v, wanted),
        (Condition::On(a), _) => is(s, l, a, Operator::Equal, &Value::Switch(true), wanted),
        (Condition::In(a, values), true) => {
            values.iter().any(|v| is(s, l, a, Operator::Equal, v, true))
        }
        (Condition::In(a, values), false) => {
            let known = values
                .iter()
                .any(|v| is(s, l, a, Operator::Equal, v, false));
            known && !values.iter().any(|v| is(s, l, a, Operator::Equal, v, true))
        }
    }
}

fn fits(query: &Query, s: &Subject<'_>, l: &Line<'_>) -> bool {
    query
        .condition
        .as_ref()
        .is_none_or(|c| holds(c, s, l, true))
}

/// By what a line is sorted: one tuple a key, smaller first.
fn keys(query: &Query, s: &Subject<'_>, l: &Line<'_>) -> Vec<(bool, i128, Vec<i32>)> {
    let price = [(Attribute::Price, Direction::Up)];
    let given: Vec<_> = query
        .keys
        .iter()
        .map(|k| (k.attribute.clone(), k.direction))
        .collect();
    let keys = if given.is_empty() {
        price.to_vec()
    } else {
        given
    };
    let key = |(attribute, direction): &(Attribute, Direction)| {
        let sign = if *direction == Direction::Up { 1 } else { -1 };
        match s.fact(l, attribute) {
            None => (true, 0, vec![]),
            Some(Fact::Amount(n, _)) => (false, i128::from(n) * sign, vec![]),
            Some(Fact::Switch(on)) => (false, i128::from(on) * sign, vec![]),
            Some(Fact::Text(t)) => {
                // A shorter text sorts before what it begins: it ends in what is smaller than all
                // bytes.
                let sign = sign as i32;
                let end = std::iter::once(0);
                let bytes = t.bytes().map(|b| i32::from(b) + 1).chain(end);
                (false, 0, bytes.map(|b| b * sign).collect())
            }
            Some(Fact::Said(_)) => unreachable!("nothing sorts by what owners say"),
        }
    };
    keys.iter().map(key).collect()
}

pub(super) fn find(query: &Query, subjects: &[Subject<'_>]) -> Vec<(PublicKey, Vec<OfferId>)> {
    let mut nodes: Vec<_> = subjects
        .iter()
        .filter_map(|s| {
            let mut lines: Vec<_> = s.lines.iter().filter(|l| fits(query, s, l)).collect();
            lines.sort_by_key(|l| (keys(query, s, l), l.offer));
            let first = keys(query, s, lines.first()?);
            let offers = lines.iter().map(|l| l.offer).collect();
            Some((first, s.node, offers))
        })
        .collect();
    nodes.sort();
    nodes
        .into_iter()
        .map(|(_, node, offers)| (node, offers))
        .collect()
}

/// The explanation's numbers from their definitions.
pub(super) fn check_explanation(query: &Query, subjects: &[Subject<'_>]) {
    let conditions = query.conjuncts();
    let steps = explain(query, subjects);
    assert_eq!(steps.len(), conditions.len());
    let count = |fulfils: &dyn Fn(&Subject<'_>, &Line<'_>) -> bool| {
        let node = |s: &&Subject<'_>| s.lines.iter().any(|l| fulfils(s, l));
        subjects.iter().filter(node).count()
    };
    let whole = count(&|s, l| fits(query, s, l));
    for (index, step) in steps.iter().enumerate() {
        let left = count(&|s, l| conditions[..=index].iter().all(|c| holds(c, s, l, true)));
        assert_eq!(step.left, left, "{query}: {}", step.condition);
        let others = count(&|s, l| {
            let others = conditions.iter().enumerate().filter(|(i, _)| *i != index);
            others.map(|(_, c)| c).all(|c| holds(c, s, l, true))
        });
        assert_eq!(step.alone, others - whole, "{query}: {}", step.condition);
        let before = count(&|s, l| conditions[..index].iter().all(|c| holds(c, s, l, true)));
        assert!(step.unknown <= before - left, "{query}: {}", step.condition);
    }
    if let Some(last) = steps.last() {
        assert_eq!(last.left, whole);
    }
}
