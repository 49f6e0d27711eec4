//! Explains why so few nodes are found: the effect of each condition on them.
//!
//! The conditions are those joined by `&&` at the top, in the order in which they are written. A
//! node is *left* after one if one of its offers fulfils it and all before it, and it is removed by
//! one *alone* if an offer fulfils all others, before and after, but none fulfils all. Where the
//! condition is on a number, the explanation tells the value that would let in the nearest of
//! these.

use super::Query;
use super::condition::{Condition, Operator};
use super::subject::{Fact, Line, Subject};
use super::truth::truth;
use super::value::Value;

/// The effect of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The condition.
    pub condition: String,
    /// Nodes left after it.
    pub left: usize,
    /// Nodes that fulfil all conditions but this.
    pub alone: usize,
    /// Nodes left before it of which nothing is known that it asks.
    pub unknown: usize,
    /// The nearest value among the nodes that it alone removed.
    pub nearest: Option<Value>,
}

/// The effects of a query's conditions on some nodes.
pub fn explain(query: &Query, subjects: &[Subject<'_>]) -> Vec<Step> {
    let conditions = query.conjuncts();
    let step = |condition: &Condition| Step {
        condition: match condition {
            Condition::Any(_) if conditions.len() > 1 => format!("({condition})"),
            condition => condition.to_string(),
        },
        left: 0,
        alone: 0,
        unknown: 0,
        nearest: None,
    };
    let mut steps: Vec<Step> = conditions.iter().map(step).collect();
    for subject in subjects {
        add(conditions, subject, &mut steps);
    }
    steps
}

/// The truth of all conditions for one line: bits of those that hold, and of those that are
/// unknown.
struct Row<'s, 'a> {
    line: &'s Line<'a>,
    holds: u64,
    unknown: u64,
}

/// The lowest `n` bits.
fn low(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

fn add(conditions: &[Condition], subject: &Subject<'_>, steps: &mut [Step]) {
    let row = |line| {
        let mut row = Row {
            line,
            holds: 0,
            unknown: 0,
        };
        for (bit, condition) in conditions.iter().enumerate() {
            match truth(condition, subject, line) {
                Some(true) => row.holds |= 1 << bit,
                Some(false) => {}
                None => row.unknown |= 1 << bit,
            }
        }
        row
    };
    let rows: Vec<Row<'_, '_>> = subject.lines.iter().map(row).collect();
    let all = low(conditions.len());
    let fits = rows.iter().any(|row| row.holds == all);
    for (index, (step, condition)) in steps.iter_mut().zip(conditions).enumerate() {
        let (bit, before) = (1u64 << index, low(index));
        let mut reach = rows.iter().filter(|row| row.holds & before == before);
        let mut still = reach.clone();
        step.left += usize::from(still.any(|row| row.holds & bit != 0));
        let reached = reach.clone().next().is_some();
        step.unknown += usize::from(reached && reach.all(|row| row.unknown & bit != 0));
        let removed = rows.iter().filter(|row| row.holds | bit == all && !fits);
        let mut any = false;
        for row in removed {
            any = true;
            nearer(&mut step.nearest, condition, subject, row.line);
        }
        step.alone += usize::from(any);
    }
}

/// Keeps the nearer of the value found before and that of a line.
fn nearer(
    nearest: &mut Option<Value>,
    condition: &Condition,
    subject: &Subject<'_>,
    line: &Line<'_>,
) {
    let Condition::Compare(attribute, operator, _) = condition else {
        return;
    };
    let Some(Fact::Amount(amount, kind)) = subject.fact(line, attribute) else {
        return;
    };
    let before = nearest.as_ref().and_then(Value::amount);
    let best = match operator {
        Operator::Above | Operator::AtLeast => before.map_or(amount, |b| b.max(amount)),
        Operator::Below | Operator::AtMost => before.map_or(amount, |b| b.min(amount)),
        Operator::Equal | Operator::Unequal => return,
    };
    *nearest = Some(Value::of_amount(best, kind));
}
