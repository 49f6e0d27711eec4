//! Projects: what groups of users may spend, and what of it they use. One of them ([`one`]) with
//! its members, forms that change its bounds ([`bounds`]) and members ([`members`]), and its
//! invoice ([`invoice`]), also as a file ([`csv`]).
//!
//! A session sees what the API's addresses give to a token of its scope: users are for admins.

mod bounds;
mod csv;
mod invoice;
mod members;
pub(super) mod one;
mod period;
#[cfg(test)]
pub(super) mod samples;
mod words;

use self::words::{of, percent, place};
use super::failure::Shown;
use super::figures::{NONE, count, money, money_or_none, short};
use super::parts::{Fragment, Panel, cli, column, empty, live, meter, row_of_stats, stat, table};
use super::session::Who;
use super::shell::{Frame, Page};
use crate::api::Answer;
use crate::api::scope::needed;
use crate::api::types::{ProjectRecord, UserRecord};
use crate::backend::{Node, NodeBackend};
use crate::cli::text;
use crate::project::Actor;
use axum::extract::State;
use axum::response::Html;
use axum::routing::{get, post};
use axum::{Extension, Router};
use gridbay_protocol::units::Credits;
use maud::{Markup, html};

/// Users listed at the most; the command lists all of them.
const USERS: usize = 100;
/// Projects of a user named at the most.
const NAMED: usize = 6;

/// Their pages.
pub(super) fn routes() -> Router<Node> {
    Router::new()
        .route("/projects", get(show))
        .route("/projects/{name}", get(one::show))
        .route("/projects/{name}/invoice", get(invoice::show))
        .route("/projects/{name}/statement.csv", get(csv::download))
        .route("/projects/{name}/bounds/ask", post(bounds::ask))
        .route("/projects/{name}/bounds", post(bounds::set))
        .route("/projects/{name}/members/ask", post(members::ask))
        .route("/projects/{name}/members", post(members::set))
}

/// What the page shows.
pub(super) struct Projects(Vec<ProjectRecord>);

/// The handler.
async fn show(State(node): State<Node>, Extension(who): Extension<Who>) -> Shown {
    let (frame, page) = (Frame::of(&node).await?, Projects::of(&node).await?);
    let users = who.may(needed("get", "/users")).is_ok();
    let users = users.then(|| node.users());
    let page = page.render(users.as_deref(), &frame, &who);
    Ok(Html(page.into_string()))
}

impl Projects {
    /// As things stand.
    pub(super) async fn of(node: &NodeBackend) -> Answer<Projects> {
        node.projects(&Actor::Node).await.map(Projects)
    }

    /// The places that change.
    pub(super) fn fragments(&self) -> Vec<Fragment> {
        vec![("stats", self.stats()), ("projects", self.list())]
    }

    fn render(&self, users: Option<&[UserRecord]>, frame: &Frame, who: &Who) -> Markup {
        let projects = Panel {
            id: "all",
            title: "Projects",
            meta: Some(html! {
                "Amounts are credits of this calendar month, UTC. An order is taken if spent, \
                 reserved and the most that it can cost stay within the budget."
            }),
            body: live("projects", &self.list()),
            foot: Some(cli("cli-new", "gridbay project create NAME --budget 500")),
            ..Panel::default()
        };
        let page = Page {
            here: "Projects",
            title: "Projects",
            lede: "Groups of this node’s users, what each may spend in a month, and what it uses.",
            actions: html! {},
            command: "gridbay project list",
            events: "/events?page=projects",
            body: html! {
                (row_of_stats(self.stats()))
                (projects)
                @if let Some(users) = users { (users_panel(users)) }
            },
        };
        page.render(frame, who)
    }

    fn stats(&self) -> Markup {
        let all = &self.0;
        let sum = |of: fn(&ProjectRecord) -> Credits| {
            let add = |sum: Credits, one: &ProjectRecord| {
                sum.checked_add(of(one)).unwrap_or(Credits::MAX)
            };
            money(all.iter().fold(Credits::ZERO, add))
        };
        let jobs: u64 = all.iter().map(|one| u64::from(one.jobs)).sum();
        let nodes: u64 = all.iter().map(|one| u64::from(one.nodes)).sum();
        html! {
            (stat("Projects", &count(all.len() as u64), "", "of this node"))
            (stat("Spent", &sum(|one| one.spent), "", "by orders of this month that are over"))
            (stat("Reserved", &sum(|one| one.reserved), "", "the most that the others can cost"))
            (stat("Jobs", &count(jobs), "", "not over"))
            (stat("Nodes", &count(nodes), "", "of these jobs"))
        }
    }

    fn list(&self) -> Markup {
        if self.0.is_empty() {
            let text = "A project has a budget a month, and users who order for it.";
            let command = "gridbay project create bio --budget 500";
            return empty("There is no project", text, Some(("cli-first", command)));
        }
        let columns = [
            column("Project", ""),
            column("Budget used", "opt"),
            column("Budget", "num"),
            column("Spent", "num"),
            column("Reserved", "num opt2"),
            column("Jobs", "num opt"),
            column("Nodes", "num opt2"),
            column("Members", "num opt"),
        ];
        table(
            "Projects",
            &columns,
            html! { @for one in &self.0 { (row(one)) } },
        )
    }
}

fn row(one: &ProjectRecord) -> Markup {
    html! {
        tr {
            th scope="row" { a href=(place(&one.name)) { (short(&one.name, 40)) } }
            td.opt {
                @match percent(one) {
                    Some(percent) => (meter(percent, "Used of the budget")),
                    None => span.faint { "no bound" },
                }
            }
            td.num { (money_or_none(one.limits.budget)) }
            td.num { (money(one.spent)) }
            td.num.opt2 { (money(one.reserved)) }
            td.num.opt { (of(one.jobs, one.limits.jobs)) }
            td.num.opt2 { (of(one.nodes, one.limits.nodes)) }
            td.num.opt { (count(one.members.len() as u64)) }
        }
    }
}

fn users_panel(users: &[UserRecord]) -> Markup {
    let rows = html! {
        @for user in users.iter().take(USERS) {
            @let more = user.projects.len().saturating_sub(NAMED);
            tr {
                th scope="row" { (short(&user.name, 40)) }
                td.wrap {
                    @for name in user.projects.iter().take(NAMED) {
                        a href=(place(name)) { (short(name, 40)) } " "
                    }
                    @if user.projects.is_empty() { (NONE) }
                    @if more > 0 { "and " (more) " more" }
                }
                td.opt { (text::time(user.made_ms)) }
            }
        }
    };
    let columns = [
        column("User", ""),
        column("Projects", ""),
        column("Since, UTC", "opt"),
    ];
    let more = users.len().saturating_sub(USERS);
    let panel = Panel {
        id: "users",
        title: "Users",
        meta: Some(html! {
            "Each has a token for the API, which is shown once, to whoever makes the user."
        }),
        body: html! {
            @if users.is_empty() {
                (empty("There is no user", "A user is a person with a token of their own.",
                    Some(("cli-user", "gridbay user add ann"))))
            } @else { (table("Users", &columns, rows)) }
            @if more > 0 { div.panel-body { p.muted { (count(more as u64)) " more users." } } }
        },
        foot: Some(cli("cli-users", "gridbay user list")),
        ..Panel::default()
    };
    html! { (panel) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::scope::Scope;
    use crate::web::command::tests::exist;
    use crate::web::samples::{self as shared, HOSTILE};

    #[test]
    fn hostile_names_stay_text_and_users_are_for_admins() {
        let page = Projects(vec![samples::project(HOSTILE)]);
        let users = [UserRecord {
            name: HOSTILE.to_owned(),
            made_ms: 1,
            projects: vec![HOSTILE.to_owned()],
        }];
        let frame = shared::frame();
        let all = page.render(Some(&users), &frame, &shared::who(Scope::Admin));
        let all = all.into_string();
        assert!(!all.contains("<script>alert") && all.contains("&lt;script&gt;alert"));
        assert!(all.contains("id=\"h-users\""), "{all}");
        assert_eq!(exist(&all), 3, "of the page, a new one and users");
        let seen = page.render(None, &frame, &shared::who(Scope::Operate));
        assert!(!seen.into_string().contains("id=\"h-users\""));
    }

    #[test]
    fn a_node_without_projects_says_how_to_begin() {
        let page = Projects(Vec::new());
        let page = page.render(Some(&[]), &shared::frame(), &shared::who(Scope::Admin));
        let page = page.into_string();
        assert!(page.contains("There is no project") && page.contains("There is no user"));
        assert_eq!(exist(&page), 5);
    }
}
