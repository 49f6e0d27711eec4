//! Cases of proportional shares.
//!
//! Kind `auction`: `m` types, the exponent in sixteenths `a16`, `eps`, `max_rounds`, `inner`, and
//! jobs, whose places in the list are their ids. Result: the rounds, whether they converged, the
//! split `b` of each budget and the Q32 shares `s`. Kind `estimate`: observations, each `[shares,
//! utility]`. Result: the weights `w`, `null` if they are not determined, and the tolerance
//! `rel_tol` within which another machine may differ.

use super::form::{CaseError, Money, read};
use crate::learn::{Observation, least_squares};
use gridbay_protocol::mechanism::Mechanism;
use gridbay_protocol::mechanism::share::{Input, Job, Share, Terms, Utility, clear};
use serde::Deserialize;
use serde_json::{Value, json};

/// Name of the mechanism.
pub(super) const NAME: &str = <Share<u64> as Mechanism>::NAME;

/// How far estimates may lie apart, relative to the largest weight.
const TOLERANCE: f64 = 1e-9;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Question {
    Auction {
        m: usize,
        a16: u32,
        eps: Money,
        max_rounds: u32,
        inner: u32,
        jobs: Vec<Bid>,
    },
    Estimate {
        obs: Vec<(Vec<f64>, f64)>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bid {
    budget: Money,
    kind: Utility,
    w: Vec<u32>,
}

fn refused(reason: impl ToString) -> CaseError {
    CaseError::Refused {
        mechanism: NAME,
        reason: reason.to_string(),
    }
}

fn auction(terms: Terms, bids: Vec<Bid>) -> Result<Value, CaseError> {
    let job = |(id, bid): (u64, Bid)| Job {
        id,
        budget: bid.budget.0,
        utility: bid.kind,
        weights: bid.w,
    };
    let jobs = (0..).zip(bids).map(job).collect();
    let outcome = clear(&Input { terms, jobs }).map_err(refused)?;
    let (mut splits, mut shares) = (Vec::new(), Vec::new());
    for award in outcome.awards {
        let parts = award.parts.iter().map(u64::to_string);
        splits.push(parts.collect::<Vec<String>>());
        shares.push(award.shares);
    }
    Ok(json!({
        "rounds": outcome.rounds,
        "converged": outcome.converged,
        "b": splits,
        "s": shares,
    }))
}

fn estimate(obs: Vec<(Vec<f64>, f64)>) -> Result<Value, CaseError> {
    let observation = |(given, result)| Observation { given, result };
    let rows: Vec<Observation> = obs.into_iter().map(observation).collect();
    if rows
        .windows(2)
        .any(|pair| pair[0].given.len() != pair[1].given.len())
    {
        return Err(refused("the observations have different numbers of shares"));
    }
    Ok(json!({ "w": least_squares(&rows), "rel_tol": TOLERANCE }))
}

/// The result of an input.
pub(super) fn solve(input: Value) -> Result<Value, CaseError> {
    match read(NAME, input)? {
        Question::Auction {
            m,
            a16,
            eps,
            max_rounds,
            inner,
            jobs,
        } => {
            let terms = Terms {
                types: m,
                sixteenths: a16,
                eps: eps.0,
                max_rounds,
                inner,
            };
            auction(terms, jobs)
        }
        Question::Estimate { obs } => estimate(obs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_cleared_is_refused_in_words() {
        let none = json!({"kind": "auction", "m": 0, "a16": 8, "eps": "1", "max_rounds": 1, "inner": 1, "jobs": []});
        assert!(matches!(solve(none), Err(CaseError::Refused { .. })));
        let ragged = json!({"kind": "estimate", "obs": [[[1.0], 2.0], [[1.0, 2.0], 2.0]]});
        assert!(matches!(solve(ragged), Err(CaseError::Refused { .. })));
        let more = json!({"kind": "estimate", "obs": [], "jobs": []});
        assert!(matches!(solve(more), Err(CaseError::Shape { .. })));
    }
}
