//! Own jobs: the list, one job ([`detail`]), and its end ([`cancel`]).

pub(super) mod cancel;
pub(super) mod detail;
mod output;
mod timeline;

use super::failure::Shown;
use super::figures::{NONE, clock, count, money, money_or_none, short};
use super::parts::Fragment;
use super::parts::{self, Panel, Tone, column, empty, live, pill};
use super::session::Who;
use super::shell::{Frame, Page};
use crate::api::Answer;
use crate::api::types::{JobRecord, JobState};
use crate::backend::{Node, NodeBackend, wall_ms};
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Html;
use maud::{Markup, html};
use serde::Deserialize;

/// Jobs of one page.
const LINES: usize = 50;

/// Which part of the list.
#[derive(Deserialize)]
pub(in crate::web) struct Part {
    #[serde(default)]
    page: usize,
}

/// The list.
pub(in crate::web) async fn show(
    State(node): State<Node>,
    Extension(who): Extension<Who>,
    Query(Part { page }): Query<Part>,
) -> Shown {
    let frame = Frame::of(&node).await?;
    let list = List::of(&node, page).await?;
    Ok(Html(list.render(&frame, &who).into_string()))
}

/// A part of the list of jobs.
pub(in crate::web) struct List {
    jobs: Vec<JobRecord>,
    in_all: usize,
    page: usize,
}

impl List {
    /// As things stand.
    pub(in crate::web) async fn of(node: &NodeBackend, page: usize) -> Answer<List> {
        let before = page.saturating_mul(LINES);
        let (in_all, jobs) = node.some_jobs(true, before, LINES).await?;
        Ok(List { jobs, in_all, page })
    }
    /// The places that change, by their ids.
    pub(in crate::web) fn fragments(&self) -> Vec<Fragment> {
        vec![("jobs", self.jobs())]
    }
    fn jobs(&self) -> Markup {
        match (self.in_all, self.jobs.as_slice()) {
            (0, _) => none(),
            (_, []) => empty("There is no such page", "The list is shorter by now.", None),
            (_, jobs) => html! {
                p.meta.panel-body { (count(self.in_all as u64)) " in all, newest first" }
                (table(jobs))
            },
        }
    }
    fn render(&self, frame: &Frame, who: &Who) -> Markup {
        let last = self.in_all.saturating_sub(1) / LINES;
        let panel = Panel {
            id: "all",
            title: "All jobs",
            body: live("jobs", &self.jobs()),
            foot: (last > 0).then(|| parts::pages("/jobs?page=", self.page, last)),
            ..Panel::default()
        };
        let page = Page {
            here: "Jobs",
            title: "Jobs",
            lede: "What this node had run by others, and what it paid.",
            actions: html! {},
            command: "gridbay job list --all",
            events: &format!("/events?page=jobs&part={}", self.page),
            body: html! { (panel) },
        };
        page.render(frame, who)
    }
}

/// No job yet, and how to begin.
pub(super) fn none() -> Markup {
    let text = "A job runs on leased nodes of others. This command buys one for a minute:";
    let command = "gridbay run --time 1m -- uname -a";
    empty("No jobs yet", text, Some(("cli-run", command)))
}

/// The tone and the word of a state.
pub(super) fn state(state: JobState) -> (Tone, &'static str) {
    match state {
        JobState::Queued => (Tone::Idle, "Queued"),
        JobState::Bidding => (Tone::Idle, "Bidding"),
        JobState::Won => (Tone::Live, "Won"),
        JobState::Staging => (Tone::Live, "Staging"),
        JobState::Running => (Tone::Live, "Running"),
        JobState::Ending => (Tone::Warn, "Ending"),
        JobState::Requeued => (Tone::Warn, "Requeued"),
        JobState::Done => (Tone::Ok, "Done"),
        JobState::Failed => (Tone::Bad, "Failed"),
        JobState::Cancelled => (Tone::Idle, "Cancelled"),
        JobState::Expired => (Tone::Idle, "Expired"),
    }
}

/// The time since the first instruction of a job, or from there to its end.
pub(super) fn ran(job: &JobRecord) -> String {
    let Some(from) = job.running_ms else {
        return NONE.to_owned();
    };
    clock(job.ended_ms.unwrap_or_else(wall_ms).saturating_sub(from))
}

/// Why a job is in its state, or who runs it.
fn about(job: &JobRecord) -> String {
    if let Some(reason) = job.reason {
        return reason.name().replace('_', " ");
    }
    let names = job.sellers.iter().map(|seller| match &seller.name {
        Some(name) => short(name, 24),
        None => seller.account.to_hex().chars().take(8).collect(),
    });
    let names: Vec<String> = names.take(4).collect();
    let more = job.sellers.len().saturating_sub(names.len());
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// The table.
pub(super) fn table(jobs: &[JobRecord]) -> Markup {
    let rows = html! {
        @for job in jobs {
            @let (tone, word) = state(job.state);
            tr {
                th.wrap scope="row" { a href={ "/jobs/" (job.id) } { (short(&job.name, 40)) } }
                td { (pill(tone, word)) }
                td.opt.wrap { span.muted { (about(job)) } }
                td.opt2 { (short(&job.class, 40)) }
                td.num.opt { (count(job.nodes)) }
                td.num.opt2 { (money_or_none(job.price)) }
                td.num.opt { (ran(job)) }
                td.num { (money(job.paid)) }
            }
        }
    };
    let columns = [
        column("Job", ""),
        column("State", ""),
        column("Reason or sellers", "opt wrap"),
        column("Class", "opt2"),
        column("Nodes", "num opt"),
        column("Price/h", "num opt2"),
        column("Time", "num opt"),
        column("Paid", "num"),
    ];
    parts::table("Own jobs", &columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::scope::Scope;
    use crate::web::samples;

    #[test]
    fn a_list_escapes_names_and_has_pages() {
        let list = List {
            jobs: vec![samples::job()],
            in_all: 120,
            page: 1,
        };
        let page = list
            .render(&samples::frame(), &samples::who(Scope::Admin))
            .into_string();
        assert!(
            page.contains("&lt;script&gt;alert") && !page.contains("<script>alert"),
            "{page}"
        );
        assert!(page.contains("/jobs?page=0") && page.contains("/jobs?page=2"));
        assert!(page.contains("href=\"/jobs/0123456789abcdef\""));
    }

    #[test]
    fn an_empty_list_says_how_to_begin() {
        let list = |in_all, page| List {
            jobs: Vec::new(),
            in_all,
            page,
        };
        let page = list(0, 0).jobs().into_string();
        assert!(page.contains("No jobs yet") && page.contains("gridbay run"));
        let beyond = list(3, 9).jobs().into_string();
        assert_eq!(crate::web::command::tests::exist(&page), 1);
        assert!(beyond.contains("no such page"));
    }
}
