//! One job: where it is, what it costs, why, what it wrote, and how it got there.

use super::output::{self, End};
use super::timeline::{Times, timeline};
use super::{ran, state};
use crate::api::scope::Scope;
use crate::api::types::{JobRecord, JobState, Why};
use crate::api::{Answer, ApiError};
use crate::backend::{Node, NodeBackend};
use crate::job::dropped;
use crate::web::failure::{Shown, block, sentence};
use crate::web::figures::{NONE, bytes, clock, count, money, money_or_none, short};
use crate::web::parts::{
    Fragment, Panel, check, cli, column, live, pill, row_of_stats, stat, table,
};
use crate::web::session::Who;
use crate::web::shell::{Frame, Page};
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::response::Html;
use maud::{Markup, html};
use serde::Deserialize;

/// Ranks and files shown at the most.
const RANKS: u32 = 16;
const FILES: usize = 50;
/// Characters of a command line shown at the most.
const ARGV: usize = 400;

/// Whose output.
#[derive(Clone, Debug, Default, Deserialize)]
pub(in crate::web) struct Of {
    #[serde(default)]
    pub(in crate::web) rank: u32,
    /// Present for the standard error.
    pub(in crate::web) err: Option<String>,
}

/// What the page shows.
pub(in crate::web) struct Detail {
    job: JobRecord,
    why: Answer<Why>,
    output: Answer<End>,
    times: Times,
    of: Of,
}

/// The handler.
pub(in crate::web) async fn show(
    State(node): State<Node>,
    Extension(who): Extension<Who>,
    Path(id): Path<String>,
    Query(of): Query<Of>,
) -> Shown {
    let (frame, page) = (Frame::of(&node).await?, Detail::of(&node, id, of).await?);
    Ok(Html(page.render(&frame, &who).into_string()))
}

impl Detail {
    /// As things stand.
    pub(in crate::web) async fn of(node: &NodeBackend, id: String, of: Of) -> Answer<Detail> {
        let job = node.job(node.meant_job(id).await?).await?;
        let err = of.err.is_some();
        Ok(Detail {
            why: node.why(job.id.clone()).await,
            output: End::of(node, job.id.clone(), of.rank, err).await,
            times: Times::of(node, &job).await,
            job,
            of,
        })
    }

    /// The places that change.
    pub(in crate::web) fn fragments(&self) -> Vec<Fragment> {
        vec![
            ("state", self.state()),
            ("stats", self.stats()),
            ("why", why(&self.why)),
            ("log", output::lines(&self.output)),
            ("timeline", timeline(&self.job, &self.times)),
            ("ranks", ranks(&self.job)),
            ("files", files(&self.job)),
        ]
    }

    fn render(&self, frame: &Frame, who: &Who) -> Markup {
        let job = &self.job;
        let (name, command) = (
            short(&job.name, 64),
            format!("gridbay job describe {}", job.id),
        );
        let ends = !job.state.is_final() && who.may(Scope::Trade).is_ok();
        let lede = format!(
            "{} of class {} by {}, at most {} per node-hour and {} in all.",
            crate::cli::text::nodes(job.nodes),
            short(&job.class, 40),
            job.how.name(),
            money(job.max_price),
            money(job.budget)
        );
        let err = if self.of.err.is_some() { "&err=1" } else { "" };
        let (id, rank) = (&job.id, self.of.rank);
        let page = Page {
            here: "Jobs",
            title: &name,
            lede: &lede,
            actions: html! {
                @if ends { a.btn.danger href={ "/jobs/" (job.id) "/cancel" } { "Cancel job" } }
            },
            command: &command,
            events: &format!("/events?page=job&id={id}&rank={rank}{err}"),
            body: html! {
                div id="state" data-live="replace" { (self.state()) }
                (row_of_stats(self.stats()))
                (self.why_panel())
                (self.log_panel())
                div.cols.two { (self.timeline_panel()) div.stack { (self.rank_panels()) } }
            },
        };
        page.render(frame, who)
    }

    fn state(&self) -> Markup {
        let (tone, word) = state(self.job.state);
        html! {
            p {
                (pill(tone, word)) " "
                code { (short(&self.job.argv.join(" "), ARGV)) }
            }
        }
    }

    fn stats(&self) -> Markup {
        let job = &self.job;
        let most = format!("credits, of {} at most", money(job.budget));
        let wall = format!("of {} at most", clock(u64::from(job.seconds) * 1_000));
        let waited = job.running_ms.map(|at| at.saturating_sub(job.accepted_ms));
        let waited = waited.map_or(wall.clone(), |ms| format!("{wall}, waited {}", clock(ms)));
        html! {
            (stat("Paid so far", &money(job.paid), "", &most))
            (stat("Locked now", &money(job.locked), "", "credits, paid or given back"))
            (stat("Price", &money_or_none(job.price), "", "per node-hour, the mean of what was paid"))
            (stat("Time", &ran(job), "", &waited))
            (stat("Lost leases", &count(job.preemptions), "so far",
                &format!("{} of work lost", clock(job.lost_seconds.saturating_mul(1_000)))))
        }
    }

    fn why_panel(&self) -> Markup {
        let command = format!("gridbay job why {}", self.job.id);
        let panel = Panel {
            id: "why",
            title: "Why",
            body: html! {
                div.panel-body id="why" data-live="replace" { (why(&self.why)) }
            },
            foot: Some(cli("cli-why", &command)),
            ..Panel::default()
        };
        html! { (panel) }
    }

    fn log_panel(&self) -> Markup {
        let (id, rank) = (&self.job.id, self.of.rank);
        let err = self.of.err.is_some();
        let link = |rank: u32, err: bool| {
            let more = if err { "&err=1" } else { "" };
            format!("/jobs/{id}?rank={rank}{more}")
        };
        let shown = self.job.nodes.min(RANKS);
        let panel = Panel {
            id: "log",
            title: "Output",
            meta: Some(html! { "The end of what rank " (rank) " wrote" }),
            more: Some(html! {
                @if shown > 1 {
                    nav.seg aria-label="Rank" {
                        @for other in 0..shown {
                            a href=(link(other, err))
                                aria-current=[(other == rank).then_some("true")] { (other) }
                        }
                    }
                }
                nav.seg aria-label="Stream" {
                    a href=(link(rank, false)) aria-current=[(!err).then_some("true")] {
                        "Output"
                    }
                    a href=(link(rank, true)) aria-current=[err.then_some("true")] { "Errors" }
                }
            }),
            body: live("log", &output::lines(&self.output)),
            foot: Some(cli(
                "cli-log",
                &format!("gridbay job logs {id} --rank {rank}"),
            )),
        };
        html! { (panel) }
    }

    fn timeline_panel(&self) -> Markup {
        let panel = Panel {
            id: "time",
            title: "Timeline",
            meta: Some(html! { "UTC, newest first" }),
            body: html! {
                div.panel-body id="timeline" data-live="replace" {
                    (timeline(&self.job, &self.times))
                }
            },
            ..Panel::default()
        };
        html! { (panel) }
    }

    fn rank_panels(&self) -> Markup {
        let job = &self.job;
        let ranks = Panel {
            id: "ranks",
            title: "Ranks",
            body: live("ranks", &ranks(job)),
            ..Panel::default()
        };
        let files = Panel {
            id: "files",
            title: "Files",
            body: live("files", &files(job)),
            foot: Some(cli("cli-get", &format!("gridbay job get {}", job.id))),
            ..Panel::default()
        };
        html! { (ranks) (files) }
    }
}

fn why(why: &Result<Why, ApiError>) -> Markup {
    let why = match why {
        Ok(why) => why,
        Err(error) => return block(error),
    };
    html! {
        @if let Some(stall) = &why.stall { p { (sentence(stall)) } }
        p { (sentence(&why.summary)) }
        @if !why.checks.is_empty() {
            ul.checks {
                @for line in &why.checks { (check(line.met, &line.condition, &line.figures)) }
            }
        }
        @if !why.remedies.is_empty() {
            p { "What would help:" }
            @for remedy in &why.remedies { p.muted { (sentence(remedy)) } }
        }
    }
}

fn ranks(job: &JobRecord) -> Markup {
    let exit = |rank: u32| job.exits.iter().find(|exit| exit.rank == rank);
    let seller = |rank: u32| {
        let of = job
            .sellers
            .iter()
            .find(|seller| seller.ranks.contains(&rank))?;
        let name = of.name.as_ref().map(|name| short(name, 40));
        Some(name.unwrap_or_else(|| of.account.to_hex().chars().take(8).collect()))
    };
    let rows = html! {
        @for rank in 0..job.nodes.min(RANKS) {
            tr {
                th scope="row" { (rank) }
                td { (seller(rank).unwrap_or_else(|| NONE.to_owned())) }
                td { (ended(job, exit(rank))) }
            }
        }
    };
    let columns = [column("Rank", ""), column("Seller", ""), column("End", "")];
    let dropped = dropped::in_words(&job.exits);
    html! {
        (table("Ranks", &columns, rows))
        @if let Some(said) = dropped {
            div.panel-body { p { (sentence(&said)) } p.muted { (sentence(dropped::REMEDY)) } }
        }
        @if job.nodes > RANKS {
            div.panel-body { p.muted { (count(job.nodes - RANKS)) " more ranks." } }
        }
    }
}

fn ended(job: &JobRecord, exit: Option<&crate::api::types::RankExit>) -> String {
    use gridbay_protocol::job::JobExit;
    let Some(exit) = exit else {
        let waits = job.state < JobState::Running || job.state.is_final();
        return if waits { NONE } else { "runs" }.to_owned();
    };
    let how = match exit.exit {
        JobExit::Code(code) => format!("code {code}"),
        JobExit::Signal(signal) => format!("signal {signal}"),
        JobExit::TimeLimit => "time limit".to_owned(),
        JobExit::Stopped => "stopped".to_owned(),
        JobExit::Lost => "lost".to_owned(),
        JobExit::DiskLimit => "disk limit".to_owned(),
    };
    match exit.dropped {
        0 => how,
        dropped => format!("{how}, {} of output dropped", bytes(dropped)),
    }
}

fn files(job: &JobRecord) -> Markup {
    if job.files.is_empty() {
        return html! { div.panel-body { p.muted { "No file has come back." } } };
    }
    let rows = html! {
        @for file in job.files.iter().take(FILES) {
            tr {
                th.wrap scope="row" {
                    code { (short(&file.path, 120)) }
                    span.sub { "rank " (file.rank) }
                }
                td.num { (bytes(file.bytes)) }
            }
        }
    };
    let columns = [column("File", ""), column("Size", "num")];
    let more = job.files.len().saturating_sub(FILES);
    html! {
        (table("Files that came back", &columns, rows))
        @if more > 0 { div.panel-body { p.muted { (count(more as u64)) " more files." } } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::command::tests::exist;
    use crate::web::samples;

    fn shown(scope: Scope, end: JobState) -> String {
        let detail = Detail {
            job: JobRecord {
                state: end,
                ..samples::job()
            },
            why: Ok(samples::why()),
            output: Err(ApiError::new(
                crate::api::ErrorCode::NotFound,
                "no <i>rank</i>",
                "",
            )),
            times: Times::default(),
            of: Of::default(),
        };
        let page = detail.render(&samples::frame(), &samples::who(scope));
        for (id, _) in detail.fragments() {
            let place = format!("id=\"{id}\" data-live=\"replace\"");
            assert_eq!(page.0.matches(&place).count(), 1, "{id}");
        }
        page.into_string()
    }

    #[test]
    fn a_page_of_a_hostile_job_has_no_markup_of_it() {
        let page = shown(Scope::Trade, JobState::Running);
        assert!(
            !page.contains("<script>alert") && !page.contains("<i>rank"),
            "{page}"
        );
        assert!(page.contains("&lt;script&gt;alert"));
        assert!(page.contains("Price per node-hour") && page.contains("bid 5, margin 3"));
        assert!(page.contains("gridbay job why 0123456789abcdef"));
        assert!(
            page.contains("4096 bytes of the output were dropped"),
            "{page}"
        );
        assert!(page.contains("--output"));
        assert_eq!(exist(&page), 4);
    }

    #[test]
    fn only_a_trader_is_offered_the_end_of_an_open_job() {
        let link = "/jobs/0123456789abcdef/cancel";
        assert!(shown(Scope::Trade, JobState::Running).contains(link));
        assert!(!shown(Scope::Trade, JobState::Done).contains(link));
        assert!(!shown(Scope::Read, JobState::Running).contains(link));
    }
}
