//! One project: its bounds and what it uses of them, its members, ways to its invoices.

use super::words::{about, of, percent, place};
use super::{bounds, members};
use crate::api::Answer;
use crate::api::scope::needed;
use crate::api::types::ProjectRecord;
use crate::backend::{Node, NodeBackend};
use crate::cli::text;
use crate::web::failure::Shown;
use crate::web::figures::{counted, money, money_or_none, short};
use crate::web::parts::{Fragment, Panel, cli, column, empty, live, row_of_stats, stat, table};
use crate::web::session::Who;
use crate::web::shell::{Frame, Page};
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Html;
use maud::{Markup, html};

/// The address of the API whose scope a change of bounds asks for.
pub(super) const ADDRESS: &str = "/projects/{name}";

/// The handler.
pub(in crate::web) async fn show(
    State(node): State<Node>,
    Extension(who): Extension<Who>,
    Path(name): Path<String>,
) -> Shown {
    let one = node.project(&name).await?;
    let frame = Frame::of(&node).await?;
    let changes = who.may(needed("put", ADDRESS)).is_ok();
    let names = || node.users().into_iter().map(|user| user.name).collect();
    let users: Option<Vec<String>> = changes.then(names);
    Ok(Html(
        render(&one, users.as_deref(), &frame, &who).into_string(),
    ))
}

/// The places that change.
pub(in crate::web) async fn fragments(node: &NodeBackend, name: &str) -> Answer<Vec<Fragment>> {
    let one = node.project(name).await?;
    Ok(vec![("stats", stats(&one)), ("members", listed(&one))])
}

/// The page; with forms, if there are users to choose members from.
fn render(one: &ProjectRecord, users: Option<&[String]>, frame: &Frame, who: &Who) -> Markup {
    let title = format!("Project {}", short(&one.name, 64));
    let command = about(&one.name, &["project", "show"], &[]);
    let page = Page {
        here: "Projects",
        title: &title,
        lede: "What it may spend in a calendar month and have at once, and who orders for it.",
        actions: html! {
            a.btn href={ (place(&one.name)) "/invoice" } { "Invoice of this month" }
            a.btn href="/jobs" { "Jobs" }
        },
        command: &command,
        events: &format!("/events?page=project&id={}", one.name),
        body: html! {
            (row_of_stats(stats(one)))
            div.cols.two {
                (members_panel(one))
                @if let Some(users) = users {
                    div.stack {
                        (bounds::panel(one, &bounds::Fields::of(one), who))
                        (members::panel(one, &members::Fields::default(), users, who))
                    }
                }
            }
        },
    };
    page.render(frame, who)
}

fn stats(one: &ProjectRecord) -> Markup {
    let used = match percent(one) {
        Some(percent) => format!("{percent} % of it spent or reserved"),
        None => "no bound".to_owned(),
    };
    let since = text::time(one.since_ms);
    let since = format!("since {}, UTC", since.get(..10).unwrap_or_default());
    html! {
        (stat("Budget a month", &money_or_none(one.limits.budget), "", &used))
        (stat("Spent", &money(one.spent), "", &since))
        (stat("Reserved", &money(one.reserved), "", "the most that open orders can cost"))
        (stat("Jobs", &of(one.jobs, one.limits.jobs), "", "not over"))
        (stat("Nodes", &of(one.nodes, one.limits.nodes), "", "of these jobs"))
    }
}

fn members_panel(one: &ProjectRecord) -> Markup {
    let panel = Panel {
        id: "who",
        title: "Members",
        meta: Some(html! {
            "A reader sees the project and its jobs, a member also sends and ends them, a manager \
             also chooses the members."
        }),
        body: live("members", &listed(one)),
        foot: Some(cli(
            "cli-add",
            &about(
                &one.name,
                &["project", "member", "add"],
                &["USER", "--role", "member"],
            ),
        )),
        ..Panel::default()
    };
    html! { (panel) }
}

fn listed(one: &ProjectRecord) -> Markup {
    if one.members.is_empty() {
        let text = "Only who runs this node orders for it, with --project.";
        return empty("It has no members", text, None);
    }
    let rows = html! {
        @for member in &one.members {
            tr {
                th scope="row" { (short(&member.user, 64)) }
                td { (member.role.name()) }
            }
        }
    };
    let name = counted(one.members.len() as u64, "member");
    table(&name, &[column("User", ""), column("Role", "")], rows)
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::api::scope::Scope;
    use crate::web::command::tests::exist;
    use crate::web::samples::{self as shared, HOSTILE};

    #[test]
    fn a_project_shows_its_use_and_forms_are_for_admins() {
        let (one, frame) = (samples::project("bio"), shared::frame());
        let users = [HOSTILE.to_owned()];
        let page = render(&one, Some(&users), &frame, &shared::who(Scope::Admin)).into_string();
        assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
        for told in [
            "25 % of it",
            "1 of 4",
            "2026-11-01",
            "action=\"/projects/bio/bounds/ask\"",
        ] {
            assert!(page.contains(told), "{told}: {page}");
        }
        assert!(exist(&page) >= 2);
        let seen = render(&one, None, &frame, &shared::who(Scope::Operate)).into_string();
        assert!(!seen.contains("action=\"/projects"), "{seen}");
        let mut lonely = samples::project("bio");
        lonely.members.clear();
        assert!(listed(&lonely).into_string().contains("no members"));
    }
}
