//! Cases of deadline planning: the jobs of one seller and, perhaps, a new one.
//!
//! Input: `K` units per interval, `jobs`, a `new` job if one asks to be accepted, and
//! `min_gain_ppm` if more than any gain is needed. Result: the `plan` with its order, and
//! completions and allocations by id; the order by hard deadline as `edf`; of a new job whether it
//! is accepted, and the revenues without and with it. No plan is `null`.

use super::form::{CaseError, Money, read};
use gridbay_protocol::mechanism::Mechanism;
use gridbay_protocol::mechanism::deadline::{Deadline, Input, Job, Plan, Shape, clear};
use serde::Deserialize;
use serde_json::{Value, json};

/// Name of the mechanism.
pub(super) const NAME: &str = <Deadline<u64> as Mechanism>::NAME;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Market {
    #[serde(rename = "K")]
    capacity: i64,
    jobs: Vec<Wish>,
    new: Option<Wish>,
    #[serde(default)]
    min_gain_ppm: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    id: u64,
    r: u64,
    elapsed: u32,
    soft: u32,
    hard: u32,
    pmax: Money,
    pmin: Money,
    shape: Shape,
}

impl Wish {
    fn job(self) -> Job<u64> {
        Job {
            id: self.id,
            work: self.r,
            elapsed: self.elapsed,
            soft: self.soft,
            hard: self.hard,
            pmax: self.pmax.0,
            pmin: self.pmin.0,
            shape: self.shape,
        }
    }
}

/// The plan as results spell it.
fn spell(capacity: u64, plan: &Plan<u64>) -> Value {
    let order: Vec<u64> = plan.stints.iter().map(|stint| stint.id).collect();
    let mut stints: Vec<_> = plan.stints.iter().collect();
    stints.sort_by_key(|stint| stint.id);
    let runs = |stint: &gridbay_protocol::mechanism::deadline::Stint<u64>| {
        json!([stint.id, stint.allocation(capacity).collect::<Vec<_>>()])
    };
    json!({
        "revenue": plan.revenue.to_string(),
        "order": order,
        "completion": stints.iter().map(|s| (s.id, s.completion)).collect::<Vec<_>>(),
        "allocation": stints.iter().map(|s| runs(s)).collect::<Vec<_>>(),
    })
}

/// The result of an input.
pub(super) fn solve(input: Value) -> Result<Value, CaseError> {
    let market: Market = read(NAME, input)?;
    let input = Input {
        // A negative capacity does as much as none.
        capacity: u64::try_from(market.capacity).unwrap_or(0),
        jobs: market.jobs.into_iter().map(Wish::job).collect(),
        new: market.new.map(Wish::job),
        min_gain_ppm: market.min_gain_ppm,
    };
    let outcome = clear(&input).map_err(|error| CaseError::Refused {
        mechanism: NAME,
        reason: error.to_string(),
    })?;
    let revenue = |plan: &Option<Plan<u64>>| plan.as_ref().map(|plan| plan.revenue.to_string());
    let mut result = json!({
        "plan": outcome.plan.as_ref().map(|plan| spell(input.capacity, plan)),
        "edf": outcome.edf,
    });
    if let Some(admission) = &outcome.admission {
        result["admit"] = json!({
            "accept": admission.accept,
            "old": revenue(&outcome.plan),
            "new": revenue(&admission.plan),
        });
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_and_least_gains_are_told() {
        let job = |id: u64, soft: u32| {
            json!({"id": id, "r": 10, "elapsed": 0, "soft": soft, "hard": 4,
                   "pmax": "10", "pmin": "4", "shape": "linear"})
        };
        let market = |ppm: u32, soft: u32| {
            let new = job(2, soft);
            json!({"K": 10, "jobs": [job(1, 1)], "new": new, "min_gain_ppm": ppm})
        };
        // The new job is done in the second interval: the others' 10 and its own 8.
        for (ppm, accept) in [(0, true), (800_000, true), (800_001, false)] {
            let admit = json!({"accept": accept, "old": "10", "new": "18"});
            assert_eq!(solve(market(ppm, 1)).unwrap()["admit"], admit);
        }
        let error = solve(market(0, 5)).unwrap_err().to_string();
        assert!(error.contains("soft deadline of job 2"), "{error}");
        assert!(solve(json!({"K": 1, "jobs": [], "more": 1})).is_err());
    }
}
