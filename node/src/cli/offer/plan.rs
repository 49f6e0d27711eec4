//! `offer plan`: jobs by deadlines, and when their sellers do them.

use crate::api::types::{PlanJob, PlanView};
use crate::cli::context::Context;
use crate::cli::error::{CliError, During as _};
use crate::ui::{Table, clean};

pub(super) async fn plans(at: &Context) -> Result<(), CliError> {
    let plans = at.client()?.get("/plans").await;
    let plans: Vec<PlanView> = plans.during("no list of plans")?;
    at.tell(&plans, |plans| text(plans))
}

fn text(plans: &[PlanView]) -> String {
    if plans.is_empty() {
        return "no offer takes jobs by deadlines\n".to_owned();
    }
    let all = plans.iter().map(|plan| head(plan) + &table(&plan.jobs));
    all.collect::<Vec<_>>().join("\n")
}

fn head(plan: &PlanView) -> String {
    let seller = match &plan.name {
        Some(name) => clean(name),
        None => plan.account.to_string(),
    };
    format!(
        "offer {} of {seller}, {}: {} units a slot, slot {} runs\n",
        plan.offer,
        clean(&plan.class),
        plan.units,
        plan.slot
    )
}

fn table(jobs: &[PlanJob]) -> String {
    if jobs.is_empty() {
        return "no job is planned\n".to_owned();
    }
    Table::of(
        jobs,
        &[
            ("ORDER", &|j| j.order.to_string()),
            ("JOB", &|j| j.name.clone().unwrap_or_else(|| "-".to_owned())),
            (">UNITS", &|j| j.units.to_string()),
            (">LEFT", &|j| j.left.to_string()),
            (">FIRST", &|j| j.first_slot.to_string()),
            (">DONE", &|j| j.done_slot.to_string()),
            (">SOFT", &|j| j.soft_slot.to_string()),
            (">HARD", &|j| j.hard_slot.to_string()),
            (">PAY", &|j| j.pay.to_string()),
            (">STAKE", &|j| j.bond.to_string()),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plans_are_told_with_their_jobs() {
        let id = "11".repeat(32);
        let job = json!({
            "order": id, "job": "0123456789abcdef", "name": "render", "left": 10, "units": 4,
            "first_slot": 2, "done_slot": 4, "soft_slot": 3, "hard_slot": 6, "pay": "0.73",
            "bond": "0.25",
        });
        let plan = |jobs: Vec<serde_json::Value>| -> PlanView {
            serde_json::from_value(json!({
                "offer": id, "label": 1, "account": id, "name": "uni-a", "own": false,
                "class": "small", "slot": 2, "slot_ms": 2_000, "units": 4, "jobs": jobs,
            }))
            .unwrap()
        };
        let told = text(&[plan(vec![job]), plan(Vec::new())]);
        for part in [
            "of uni-a, small: 4 units a slot",
            "render",
            "0.73",
            "no job is planned",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert_eq!(text(&[]), "no offer takes jobs by deadlines\n");
    }
}
