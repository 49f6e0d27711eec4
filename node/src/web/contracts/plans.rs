//! Plans of jobs by deadlines: a chart of slots and a table for each offer that plans.

use crate::api::types::{PlanJob, PlanView};
use crate::cli::text::span;
use crate::web::figures::{count, counted, money, short};
use crate::web::gantt::{Bar, Gantt, Look, Row, legend};
use crate::web::parts::{Panel, cli, column, empty, table};
use maud::{Markup, html};

/// Plans, and jobs of one, shown at the most.
const PLANS: usize = 6;
const JOBS: usize = 40;
/// Rows of a chart at the most.
const ROWS: usize = 16;

/// A panel for each plan; those of this node first, then those with most jobs.
pub(super) fn panels(plans: &[PlanView]) -> Markup {
    if plans.is_empty() {
        let text = "No offer takes jobs by deadlines now. A seller sets one so:";
        let command = "gridbay offer set --class CLASS --units 1 --reserve 1 --mechanism deadline";
        let panel = Panel {
            id: "plan",
            title: "Plans",
            body: empty("Nothing is planned", text, Some(("cli-set", command))),
            ..Panel::default()
        };
        return html! { (panel) };
    }
    let mut all: Vec<&PlanView> = plans.iter().collect();
    all.sort_by_key(|plan| (!plan.own, std::cmp::Reverse(plan.jobs.len()), plan.offer));
    let more = all.len().saturating_sub(PLANS);
    html! {
        @for (n, plan) in all.into_iter().take(PLANS).enumerate() { (panel(n, plan)) }
        @if more > 0 { p.muted { (count(more as u64)) " more plans: gridbay offer plan" } }
    }
}

fn panel(n: usize, plan: &PlanView) -> Markup {
    let seller = match &plan.name {
        Some(name) => short(name, 40),
        None => plan.account.to_string(),
    };
    let title = format!("Plan of {seller}, {}", short(&plan.class, 40));
    let panel = Panel {
        id: &format!("plan-{n}"),
        title: &title,
        meta: Some(html! {
            "Offer " (plan.label) " with " (counted(plan.units, "unit")) " a slot of "
            (span(plan.slot_ms)) ". Slot " (count(plan.slot)) " runs."
        }),
        body: body(plan),
        foot: (n == 0).then(|| cli("cli-plan", "gridbay offer plan")),
        ..Panel::default()
    };
    html! { (panel) }
}

fn body(plan: &PlanView) -> Markup {
    if plan.jobs.is_empty() {
        let text = "The offer stands, and has taken no job. An order with deadlines asks it:";
        let command = "gridbay run --array 4 --time 1m --soft 10m --hard 20m --pay 2 --late-pay 1 \
                       -- hostname";
        return empty("No job is planned", text, Some(("cli-run", command)));
    }
    let rows = html! { @for job in plan.jobs.iter().take(JOBS) { (row(job)) } };
    let columns = [
        column("Job", ""),
        column("Units now", "num"),
        column("Left", "num opt"),
        column("Slots", "num opt"),
        column("Due", "num opt2"),
        column("Price", "num"),
        column("Stake", "num opt"),
    ];
    let more = plan.jobs.len().saturating_sub(JOBS);
    html! {
        div.panel-body { (chart(plan)) }
        (table("Planned jobs", &columns, rows))
        @if more > 0 { div.panel-body { p.muted { (count(more as u64)) " more jobs." } } }
    }
}

fn chart(plan: &PlanView) -> Markup {
    let row = |job: &PlanJob| Row {
        name: name(job),
        bars: vec![Bar {
            first: job.first_slot,
            last: job.done_slot,
            look: Look::Planned,
            text: format!("{} for {}", count(job.left), money(job.pay)),
        }],
        marks: vec![(job.soft_slot, Look::Soft), (job.hard_slot, Look::Hard)],
    };
    let ends = plan.jobs.iter().map(|job| job.hard_slot.max(job.done_slot));
    let end = ends.max().unwrap_or(plan.slot).max(plan.slot);
    let rows: Vec<Row> = plan.jobs.iter().take(ROWS).map(row).collect();
    let last = plan.jobs.iter().map(|job| job.done_slot).max();
    let says = format!(
        "{} jobs; the last is done in slot {}.",
        plan.jobs.len(),
        last.unwrap_or(plan.slot)
    );
    let gantt = Gantt {
        first: plan.slot,
        slots: end.saturating_sub(plan.slot).saturating_add(1),
        rows: &rows,
        says: &says,
    };
    html! {
        (legend(&[
            (Look::Planned, "Work in node-slots, and its price"),
            (Look::Soft, "Paid in full until"),
            (Look::Hard, "Paid nothing after"),
        ]))
        (gantt.draw())
    }
}

fn name(job: &PlanJob) -> String {
    let name = job.name.as_ref().map(|name| short(name, 40));
    name.unwrap_or_else(|| job.order.to_string())
}

fn row(job: &PlanJob) -> Markup {
    html! {
        tr class=[job.job.is_some().then_some("own")] {
            th.wrap scope="row" {
                @if let Some(id) = &job.job { a href={ "/jobs/" (id) } { (name(job)) } }
                @else { span.id { (job.order) } }
            }
            td.num { (count(job.units)) }
            td.num.opt { (count(job.left)) }
            td.num.opt { (count(job.first_slot)) "–" (count(job.done_slot)) }
            td.num.opt2 { (count(job.soft_slot)) ", at last " (count(job.hard_slot)) }
            td.num { (money(job.pay)) }
            td.num.opt { (money(job.bond)) }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::web::command::tests::exist;
    use crate::web::samples::HOSTILE;
    use serde_json::json;

    /// A plan of so many jobs, with hostile words.
    pub(in crate::web) fn plan(jobs: usize) -> PlanView {
        let job = json!({
            "order": "cd".repeat(32), "job": "0123456789abcdef", "name": HOSTILE, "left": 10,
            "units": 4, "first_slot": 7, "done_slot": 9, "soft_slot": 8, "hard_slot": 16,
            "pay": "0.75", "bond": "0.25",
        });
        serde_json::from_value(json!({
            "offer": "44".repeat(32), "label": 1, "account": "11".repeat(32), "name": HOSTILE,
            "own": false, "class": HOSTILE, "slot": 7, "slot_ms": 60_000, "units": 4,
            "jobs": vec![job; jobs],
        }))
        .unwrap()
    }

    #[test]
    fn plans_are_text_and_have_an_end() {
        let page = panels(&vec![plan(50); 8]).into_string();
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        assert!(
            page.contains("10 more jobs") && page.contains("2 more plans"),
            "{page}"
        );
        let one = panels(&[plan(1)]).into_string();
        // Slots 7 to 16: done in the third of ten, due at the ends of the second and the last.
        assert!(one.contains("width=\"30%\" height=\"24\""), "{one}");
        assert!(
            one.contains("x1=\"20%\"") && one.contains("x1=\"100%\""),
            "{one}"
        );
        assert_eq!(exist(&one), 1);
    }

    #[test]
    fn nothing_planned_says_what_to_do() {
        for page in [panels(&[]).into_string(), panels(&[plan(0)]).into_string()] {
            assert!(page.contains("class=\"empty\""), "{page}");
            assert!(exist(&page) > 0, "{page}");
        }
    }
}
