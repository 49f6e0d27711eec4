//! The conditions that every outcome must satisfy.

use std::collections::BTreeMap;

use super::{Input, Job, Outcome, Plan, admit};

type Jobs<'a, K> = BTreeMap<&'a K, &'a Job<K>>;

/// See [`super::Mechanism::audit`].
pub(super) fn audit<K: Ord>(input: &Input<K>, outcome: &Outcome<K>) -> Result<(), &'static str> {
    let mut jobs: Jobs<'_, K> = input.jobs.iter().map(|job| (&job.id, job)).collect();
    if outcome.plan.is_some() != outcome.edf.is_some() {
        return Err("a plan exists without the order by deadline, or the other way round");
    }
    if let (Some(plan), Some(edf)) = (&outcome.plan, &outcome.edf) {
        check_plan(input.capacity, &jobs, plan)?;
        if plan.revenue < revenue_of(input.capacity, &jobs, edf)? {
            return Err("the order by deadline would pay more");
        }
    }
    let old = outcome.plan.as_ref().map(|plan| plan.revenue);
    match (&input.new, &outcome.admission) {
        (None, None) => Ok(()),
        (Some(new), Some(admission)) => {
            jobs.insert(&new.id, new);
            let with = admission.plan.as_ref();
            if let Some(plan) = with {
                check_plan(input.capacity, &jobs, plan)?;
            }
            let with = with.map(|plan| plan.revenue);
            let accept = admit::accepts(old, with, new.pmax, input.min_gain_ppm);
            (accept == admission.accept)
                .then_some(())
                .ok_or("the gain says otherwise")
        }
        _ => Err("an answer without a question, or the other way round"),
    }
}

/// Every job once, without gaps, on time, at its price.
fn check_plan<K: Ord>(
    capacity: u64,
    jobs: &Jobs<'_, K>,
    plan: &Plan<K>,
) -> Result<(), &'static str> {
    let mut open = jobs.clone();
    let (mut end, mut revenue) = (0u64, 0u128);
    for stint in &plan.stints {
        let job = open
            .remove(&stint.id)
            .ok_or("a job runs twice or is not known")?;
        if stint.from != end || stint.to.checked_sub(stint.from) != Some(job.work) {
            return Err(
                "a job does not begin where the one before it ends, or not all its work is done",
            );
        }
        end = stint.to;
        if end.checked_next_multiple_of(capacity) != stint.completion.checked_mul(capacity) {
            return Err("a completion is not that of the order");
        }
        if job.price(stint.completion) != Some(stint.pay) {
            return Err("a job is late, or does not pay its price");
        }
        if stint.pay < job.pmin || stint.pay > job.pmax {
            return Err("a job pays a price outside its range");
        }
        revenue += u128::from(stint.pay);
    }
    match (open.is_empty(), revenue == plan.revenue) {
        (true, true) => Ok(()),
        (false, _) => Err("a job is left out"),
        (_, false) => Err("the sum does not add up"),
    }
}

/// The revenue of the order by deadline, which is checked on the way.
fn revenue_of<K: Ord>(capacity: u64, jobs: &Jobs<'_, K>, edf: &[K]) -> Result<u128, &'static str> {
    let left = |id: &K| {
        jobs.get(id)
            .map(|job| i64::from(job.hard) - i64::from(job.elapsed))
    };
    if edf.len() != jobs.len() || !edf.is_sorted_by(|a, b| (left(a), a) < (left(b), b)) {
        return Err("the order by deadline is another one");
    }
    let mut end = 0u64;
    edf.iter().try_fold(0u128, |revenue, id| {
        let job = jobs.get(id).ok_or("a job by deadline is not known")?;
        end += job.work;
        let completion = end
            .checked_next_multiple_of(capacity)
            .ok_or("no capacity")?
            / capacity;
        let pay = job.price(completion).ok_or("a job by deadline is late")?;
        Ok(revenue + u128::from(pay))
    })
}
