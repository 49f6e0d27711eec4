//! Cases: single markets told in JSON, cleared offline by the mechanisms that the ledger uses.
//!
//! A file names its mechanism under `mechanism` and lists `cases`, each with a `name`, an `input` and, if it is to
//! be checked, what to `expect`. Amounts of money are decimal strings; ids, times and quantities are numbers
//! below 2^53. One file of this module per mechanism knows the shape of its inputs and results.

mod ausubel;
mod bank;
mod contract;
mod deadline;
mod reservation;
mod share;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Bytes of a file of cases.
pub const FILE_BYTES: usize = 64 * 1024 * 1024;

/// Why a case cannot be cleared at all. What a mechanism refuses is a result, not an error.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The input does not have the mechanism's shape.
    #[error("the input is not one of {mechanism}: {source}")]
    Shape {
        /// Name of the mechanism.
        mechanism: &'static str,
        /// What is wrong where.
        source: serde_json::Error,
    },
    /// The mechanism refuses the input for a reason that the shape of results has no word for.
    #[error("{mechanism} refuses the input: {reason}")]
    Refused {
        /// Name of the mechanism.
        mechanism: &'static str,
        /// The mechanism's own words.
        reason: String,
    },
}

/// A file of cases.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseFile {
    /// Name of the mechanism, one of [`names`].
    pub mechanism: String,
    /// The cases.
    pub cases: Vec<Case>,
}

/// One market.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it is called in reports.
    pub name: String,
    /// What the mechanism gets.
    pub input: Value,
    /// The result that it should have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Value>,
}

/// What clears the cases of one mechanism.
struct Solver {
    name: &'static str,
    solve: fn(Value) -> Result<Value, CaseError>,
}

/// By name, ascending.
const SOLVERS: &[Solver] = &[
    Solver {
        name: ausubel::NAME,
        solve: ausubel::solve,
    },
    Solver {
        name: bank::NAME,
        solve: bank::solve,
    },
    Solver {
        name: contract::NAME,
        solve: contract::solve,
    },
    Solver {
        name: deadline::NAME,
        solve: deadline::solve,
    },
    Solver {
        name: reservation::NAME,
        solve: reservation::solve,
    },
    Solver {
        name: share::NAME,
        solve: share::solve,
    },
];

/// Names of the mechanisms that cases can be told of, ascending.
pub fn names() -> impl Iterator<Item = &'static str> {
    SOLVERS.iter().map(|solver| solver.name)
}

/// The result of an input; `None` if there is no mechanism of that name.
///
/// # Errors
/// The input has another shape, or numbers beyond the mechanism's range.
pub fn solve(mechanism: &str, input: Value) -> Option<Result<Value, CaseError>> {
    let solver = SOLVERS.iter().find(|solver| solver.name == mechanism)?;
    Some((solver.solve)(input))
}

/// Whether a result is the expected one. Where that names a relative tolerance, its numbers may differ by so much of
/// the largest of them: only estimates, which are no part of any ledger, are in floating point.
#[must_use]
pub fn matches(result: &Value, expect: &Value) -> bool {
    let Some(tolerance) = expect.get("rel_tol").and_then(Value::as_f64) else {
        return result == expect;
    };
    let numbers = |value: &Value| -> Option<Vec<f64>> {
        let list = value.get("w")?.as_array()?;
        list.iter().map(Value::as_f64).collect()
    };
    match (numbers(result), numbers(expect)) {
        (Some(a), Some(b)) if a.len() == b.len() => {
            let largest = b.iter().fold(0.0, |most: f64, n| most.max(n.abs()));
            a.iter()
                .zip(&b)
                .all(|(a, b)| (a - b).abs() <= tolerance * largest)
        }
        // Neither has an estimate.
        (None, None) => result.get("w") == expect.get("w"),
        _ => false,
    }
}

/// Reads the input of a mechanism.
fn read<T: serde::de::DeserializeOwned>(
    mechanism: &'static str,
    input: Value,
) -> Result<T, CaseError> {
    serde_json::from_value(input).map_err(|source| CaseError::Shape { mechanism, source })
}

/// Amounts of money as decimal strings, for `#[serde(with = "money")]`.
mod money {
    use serde::{Deserialize, Deserializer, Serializer, de};

    /// An amount of micro-credits below 2^63, as a string of digits and nothing else.
    pub(super) fn parse<E: de::Error>(text: &str) -> Result<u64, E> {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let amount = text.parse::<u64>().ok().filter(|n| *n < 1 << 63);
        let amount = amount.filter(|_| digits);
        amount.ok_or_else(|| E::custom(format_args!("not an amount of micro-credits: {text:?}")))
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<u64, D::Error> {
        let text = String::deserialize(d)?;
        parse(&text)
    }
    pub(super) fn serialize<S: Serializer>(amount: &u64, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(amount)
    }
}

/// An amount of money as a decimal string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct Money(#[serde(with = "money")] u64);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_sorted() {
        assert!(names().is_sorted() && names().count() >= 1);
        assert!(solve("no-such-mechanism", json!({})).is_none());
    }

    #[test]
    fn estimates_match_within_their_tolerance() {
        let expect = json!({"w": [2.0, 4.0], "rel_tol": 0.01});
        assert!(matches(&json!({"w": [2.03, 4.0]}), &expect));
        assert!(!matches(&json!({"w": [2.05, 4.0]}), &expect));
        assert!(!matches(&json!({"w": [2.0]}), &expect));
        assert!(!matches(&json!({"w": null}), &expect));
        let none = json!({"w": null, "rel_tol": 0.01});
        assert!(matches(&json!({"w": null}), &none));
        assert!(!matches(&json!({"w": [1.0]}), &none));
        assert!(!matches(&json!({"a": 1}), &json!({"a": 2})));
    }

    #[test]
    fn amounts_are_digits_in_range() {
        for good in ["0", "007", "9223372036854775807"] {
            assert!(serde_json::from_value::<Money>(json!(good)).is_ok());
        }
        let bad = [
            json!("-1"),
            json!("+1"),
            json!("9223372036854775808"),
            json!(""),
            json!("1.5"),
            json!(1),
        ];
        for bad in bad {
            assert!(serde_json::from_value::<Money>(bad).is_err());
        }
    }
}
