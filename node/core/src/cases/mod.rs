//! Cases: single markets told in JSON, cleared offline by the mechanisms that the ledger uses.
//!
//! A file names its mechanism under `mechanism` and lists `cases`, each with a `name`, an `input`
//! and, if it is to be checked, what to `expect`. Amounts of money are decimal strings; ids, times
//! and quantities are numbers below 2^53. One file of this module per mechanism knows the shape of
//! its inputs and results.

mod ausubel;
mod bank;
mod contract;
mod deadline;
mod form;
mod reservation;
mod share;

pub use form::CaseError;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Bytes of a file of cases.
pub const FILE_BYTES: usize = 64 * 1024 * 1024;

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
    /// Its name in reports.
    pub name: String,
    /// The mechanism's input.
    pub input: Value,
    /// The result that it should have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Value>,
}

/// The solver of the cases of one mechanism.
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

/// Whether a result is the expected one. Where that names a relative tolerance, its numbers may
/// differ by so much of the largest of them: only estimates, which are no part of any ledger, are
/// in floating point.
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
}
