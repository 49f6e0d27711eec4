//! Cases of contracts: admission, payment and scheduling of batches of jobs.
//!
//! The input's `kind` says which part: `admit_contract`, `bias`, `payout`, `utility`,
//! `first_price`, `schedule` or `admit_job`. Times are ticks, alpha parts per million, beta
//! sixteenths, loads thousandths of a CPU.

use super::form::{CaseError, Money, micros, read};
use gridbay_protocol::mechanism::Mechanism;
use gridbay_protocol::mechanism::contract::{
    self, Aggregate, Answer, Batch, Contract, Contracts, CostPolicy, Job, Machine, Period, Policy,
    Provider, Request,
};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Value, json};

/// Name of the mechanism.
pub(super) const NAME: &str = <Contracts<u64> as Mechanism>::NAME;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Case {
    AdmitContract {
        policy: PolicyName,
        cost_policy: String,
        contract: Offer,
        others: Vec<Offer>,
        supply: Vec<(u64, u64, u32, Money)>,
        threshold: Money,
    },
    Bias {
        alpha_ppm: u32,
        beta16: u32,
        total: u32,
        dropped: u32,
        mean_value: Money,
    },
    Payout {
        payments: Vec<Signed>,
        alpha_ppm: u32,
        beta16: u32,
        completed: u32,
        total: u32,
    },
    Utility {
        job: Work,
        times: Vec<u64>,
    },
    FirstPrice {
        jobs: Vec<Priced>,
    },
    Schedule {
        now: u64,
        cost: Money,
        free: Vec<u64>,
        jobs: Vec<Work>,
    },
    AdmitJob {
        now: u64,
        cost: Money,
        free: Vec<u64>,
        pending: Vec<Work>,
        job: Work,
    },
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum PolicyName {
    Oblivious,
    Average,
    Conservative,
    HighValueOnly,
    PreemptConservative,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Offer {
    id: u64,
    start: u64,
    end: u64,
    mean: u64,
    var: u64,
    value: Money,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Work {
    id: u64,
    arrival: u64,
    len: u64,
    value: Money,
    hold: u64,
    decay: u64,
    penalty: Money,
    bias: Signed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Priced {
    id: u64,
    arrival: u64,
    value: Money,
    size: u32,
    len: u64,
}

/// An amount that may be below 0, as a decimal string.
struct Signed(i64);

impl<'de> Deserialize<'de> for Signed {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let digits = text.strip_prefix('-').unwrap_or(&text);
        let amount: u64 = micros::<D::Error>(digits)?;
        let amount = i64::try_from(amount).map_err(de::Error::custom)?;
        Ok(Signed(if digits.len() < text.len() {
            -amount
        } else {
            amount
        }))
    }
}

impl From<Offer> for Contract<u64> {
    fn from(offer: Offer) -> Self {
        Contract {
            id: offer.id,
            start: offer.start,
            end: offer.end,
            mean: offer.mean,
            var: offer.var,
            value: offer.value.0,
            batch: Batch::WHOLE,
        }
    }
}

impl From<Work> for Job<u64> {
    fn from(work: Work) -> Self {
        Job {
            id: work.id,
            arrival: work.arrival,
            len: work.len,
            value: work.value.0,
            hold: work.hold,
            decay: work.decay,
            penalty: work.penalty.0,
            bias: work.bias.0,
        }
    }
}

impl From<Priced> for Request<u64> {
    fn from(priced: Priced) -> Self {
        Request {
            id: priced.id,
            arrival: priced.arrival,
            value: priced.value.0,
            size: priced.size,
            len: priced.len,
        }
    }
}

fn all<A: Into<B>, B>(list: Vec<A>) -> Vec<B> {
    list.into_iter().map(Into::into).collect()
}

/// A refusal of the mechanism. The results have no word for it.
fn refused(error: impl std::error::Error) -> CaseError {
    CaseError::Refused {
        mechanism: NAME,
        reason: error.to_string(),
    }
}

fn provider(
    policy: PolicyName,
    cost_policy: &str,
    supply: Vec<(u64, u64, u32, Money)>,
    threshold: Money,
) -> Provider {
    let policy = match policy {
        PolicyName::Oblivious => Policy::Oblivious,
        PolicyName::Average => Policy::Average,
        PolicyName::Conservative => Policy::Conservative,
        PolicyName::HighValueOnly => Policy::HighValueOnly {
            threshold: threshold.0,
        },
        PolicyName::PreemptConservative => Policy::PreemptConservative,
    };
    let cost_policy = match cost_policy {
        "variable" => CostPolicy::Variable,
        _ => CostPolicy::Any,
    };
    let period = |(start, len, cpus, cost): (u64, u64, u32, Money)| Period {
        start,
        len,
        cpus,
        cost: cost.0,
    };
    Provider {
        policy,
        cost_policy,
        supply: supply.into_iter().map(period).collect(),
    }
}

fn spell_answer(answer: &Answer<u64>) -> Value {
    match answer {
        Answer::Signed => json!({"accept": true, "cancel": null}),
        Answer::InPlaceOf(victim) => json!({"accept": true, "cancel": victim}),
        Answer::Refused(_) => json!({"accept": false, "cancel": null}),
    }
}

fn spell_schedule(schedule: &contract::Schedule<u64>) -> Value {
    let row = |row: &contract::Row<u64>| json!([row.id, row.processor, row.start]);
    json!({
        "order": schedule.order,
        "rows": schedule.rows.iter().map(row).collect::<Vec<Value>>(),
        "dropped": schedule.dropped,
        "total": schedule.total.to_string(),
        "span": schedule.span,
    })
}

/// The result of an input.
pub(super) fn solve(input: Value) -> Result<Value, CaseError> {
    let aggregate = |alpha_ppm, beta16| Aggregate::new(alpha_ppm, beta16).map_err(refused);
    let machine = |now, cost: Money, free| Machine {
        now,
        cost: cost.0,
        free,
    };
    Ok(match read(NAME, input)? {
        Case::AdmitContract {
            policy,
            cost_policy,
            contract,
            others,
            supply,
            threshold,
        } => {
            let provider = provider(policy, &cost_policy, supply, threshold);
            let answer = contract::admit_contract(&provider, &contract.into(), &all(others));
            spell_answer(&answer.map_err(refused)?)
        }
        Case::Bias {
            alpha_ppm,
            beta16,
            total,
            dropped,
            mean_value,
        } => {
            let bias = aggregate(alpha_ppm, beta16)?.bias(total, dropped, mean_value.0);
            json!({"bias": bias.map_err(refused)?.to_string()})
        }
        Case::Payout {
            payments,
            alpha_ppm,
            beta16,
            completed,
            total,
        } => {
            let payments: Vec<i64> = payments.iter().map(|payment| payment.0).collect();
            let aggregate = aggregate(alpha_ppm, beta16)?;
            let payout = contract::payout(&payments, aggregate, completed, total);
            json!({"payout": payout.map_err(refused)?.to_string()})
        }
        Case::Utility { job, times } => utility(&job.into(), &times)?,
        Case::FirstPrice { jobs } => {
            json!({"order": contract::first_price::<u64>(&all(jobs)).map_err(refused)?})
        }
        Case::Schedule {
            now,
            cost,
            free,
            jobs,
        } => {
            let schedule = contract::schedule(&machine(now, cost, free), &all(jobs));
            spell_schedule(&schedule.map_err(refused)?)
        }
        Case::AdmitJob {
            now,
            cost,
            free,
            pending,
            job,
        } => {
            let machine = machine(now, cost, free);
            let accept = contract::admit_job::<u64>(&machine, &all(pending), &job.into());
            json!({"accept": accept.map_err(refused)?})
        }
    })
}

fn utility(job: &Job<u64>, times: &[u64]) -> Result<Value, CaseError> {
    job.check().map_err(refused)?;
    let values: Vec<String> = times
        .iter()
        .map(|t| job.effective(*t).to_string())
        .collect();
    let timed_out: Vec<bool> = times.iter().map(|t| job.timed_out(*t)).collect();
    Ok(json!({"values": values, "timed_out": timed_out}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_may_be_below_zero() {
        let read = |text: &str| serde_json::from_value::<Signed>(json!(text)).map(|s| s.0);
        assert_eq!(read("-7").unwrap(), -7);
        assert_eq!(read("9223372036854775807").unwrap(), i64::MAX);
        for bad in ["--7", "-", "", "+7", "-9223372036854775808", "7-"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_the_mechanism_refuses_is_said_in_its_words() {
        let bias = json!({"kind": "bias", "alpha_ppm": 1, "beta16": 257, "total": 1, "dropped": 0, "mean_value": "1"});
        let error = solve(bias).unwrap_err().to_string();
        assert_eq!(error, "contract refuses the input: beta is out of range");
        let extra = json!({"kind": "payout", "payments": [], "alpha_ppm": 1, "beta16": 1, "completed": 0, "total": 0, "x": 1});
        assert!(matches!(solve(extra), Err(CaseError::Shape { .. })));
    }
}
