//! Other bounds of a project: the form, the question with what they become, and the deed.
//! The question carries the bounds that it was asked of: another's change meanwhile is not undone.

use super::one::ADDRESS;
use super::words::{of, place};
use crate::api::scope::needed;
use crate::api::types::{ProjectLimits, ProjectRecord};
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::Node;
use crate::backend::failure::usage;
use crate::config::parse;
use crate::web::command::command;
use crate::web::failure::{Failure, Shown, block};
use crate::web::figures::{count, money_or_none, short};
use crate::web::form::Sent;
use crate::web::parts::{Field, Panel, Tone, notice};
use crate::web::session::Who;
use crate::web::shell::{Frame, Page};
use axum::extract::{Path, State};
use axum::response::{Html, Redirect};
use gridbay_protocol::units::Credits;
use maud::{Markup, html};
use serde::Deserialize;

/// The fields, as texts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct Fields {
    budget: String,
    jobs: String,
    nodes: String,
    /// The bounds as they were when the question was asked.
    was: String,
}

/// The question, of a form that is filled in.
pub(in crate::web) async fn ask(
    State(node): State<Node>,
    Path(name): Path<String>,
    sent: Sent<Fields>,
) -> Shown {
    sent.who.may(needed("put", ADDRESS))?;
    let (one, fields) = (node.project(&name).await?, sent.fields);
    let body = match meant(&fields) {
        Ok(limits) => question(&one, limits, &fields, &sent.who),
        Err(error) => html! { (block(&error)) (panel(&one, &fields, &sent.who)) },
    };
    let line = line(&one, &fields);
    let page = Page {
        here: "Projects",
        title: "Change bounds",
        lede: "Bounds that are lowered stop new orders and end none.",
        actions: html! {},
        command: &line,
        events: "/events?page=frame",
        body,
    };
    let frame = Frame::of(&node).await?;
    Ok(Html(page.render(&frame, &sent.who).into_string()))
}

/// The deed; repeating it changes nothing.
pub(in crate::web) async fn set(
    State(node): State<Node>,
    Path(name): Path<String>,
    sent: Sent<Fields>,
) -> Result<Redirect, Failure> {
    sent.who.may(needed("put", ADDRESS))?;
    let (one, fields) = (node.project(&name).await?, sent.fields);
    let limits = meant(&fields)?;
    if fields.was != mark(one.limits) && one.limits != limits {
        let why = "the bounds have changed since this was asked";
        let hint = "open the project again and look at what they are now";
        return Err(ApiError::new(ErrorCode::Conflict, why, hint).into());
    }
    node.set_project(&one.name, limits).await?;
    Ok(Redirect::to(&place(&one.name)))
}

impl Fields {
    /// The bounds as they are.
    pub(super) fn of(one: &ProjectRecord) -> Fields {
        let text = |n: Option<u32>| n.map_or(String::new(), |n| n.to_string());
        Fields {
            budget: one.limits.budget.map_or(String::new(), |b| b.to_string()),
            jobs: text(one.limits.jobs),
            nodes: text(one.limits.nodes),
            was: String::new(),
        }
    }
}

fn some(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty() && *text != "none")
}

fn number(name: &str, text: &str) -> Answer<Option<u32>> {
    let read = some(text).map(str::parse).transpose();
    read.map_err(|_| {
        let why = format!("{name}: `{}` is no number", short(text, 40));
        usage(why, "write a whole number, or nothing for no bound")
    })
}

fn meant(fields: &Fields) -> Answer<ProjectLimits> {
    let budget = some(&fields.budget).map(parse::credits).transpose();
    let hint = "write credits, such as 2.5, or nothing for no bound";
    Ok(ProjectLimits {
        budget: budget.map_err(|why| usage(format!("Budget: {why}"), hint))?,
        jobs: number("Jobs", &fields.jobs)?,
        nodes: number("Nodes", &fields.nodes)?,
    })
}

/// The bounds in a word.
fn mark(limits: ProjectLimits) -> String {
    let ProjectLimits {
        budget,
        jobs,
        nodes,
    } = limits;
    let text = [budget.map(|b| b.to_string()), jobs.map(|n| n.to_string())];
    let [budget, jobs] = text.map(|text| text.unwrap_or_else(|| "none".to_owned()));
    let nodes = nodes.map_or("none".to_owned(), |n| n.to_string());
    format!("{budget} {jobs} {nodes}")
}

/// The command that does the same, as far as the fields are understood.
fn line(one: &ProjectRecord, fields: &Fields) -> String {
    let marks = meant(fields).map(mark);
    let mut words = vec!["gridbay", "project", "set", &one.name];
    let marks = marks.unwrap_or_default();
    for (option, value) in ["--budget", "--jobs", "--nodes"]
        .iter()
        .zip(marks.split(' '))
    {
        if !value.is_empty() {
            words.extend([*option, value]);
        }
    }
    command(words)
}

/// The panel with the form.
pub(super) fn panel(one: &ProjectRecord, fields: &Fields, who: &Who) -> Markup {
    let field = |name, label, value, hint| Field {
        form: "b",
        name,
        label,
        value,
        hint,
        look: "fig",
        ..Field::default()
    };
    let panel = Panel {
        id: "bounds",
        title: "Bounds",
        meta: Some(html! { "Nothing changes before you have seen what it does." }),
        body: html! {
            form.panel-body method="post" action={ (place(&one.name)) "/bounds/ask" } {
                input type="hidden" name="token" value=(who.token);
                div.fields {
                    (field("budget", "Budget", &fields.budget, "credits a month; none without"))
                    (field("jobs", "Jobs", &fields.jobs, "at once"))
                    (field("nodes", "Nodes", &fields.nodes, "at once"))
                }
                div.actions { button.btn { "Review the bounds" } }
            }
        },
        ..Panel::default()
    };
    html! { (panel) }
}

fn question(one: &ProjectRecord, limits: ProjectLimits, fields: &Fields, who: &Who) -> Markup {
    let was = mark(one.limits);
    let kept = [
        ("token", who.token.as_str()),
        ("budget", &fields.budget),
        ("jobs", &fields.jobs),
        ("nodes", &fields.nodes),
        ("was", &was),
    ];
    let bound = |n: Option<u32>| n.map_or("no bound".to_owned(), count);
    let budget = |b: Option<Credits>| match b {
        None => "no bound".to_owned(),
        some => money_or_none(some),
    };
    let taken = one.spent.checked_add(one.reserved).unwrap_or(Credits::MAX);
    let below = limits.budget.is_some_and(|budget| budget < taken);
    let title = format!("Change the bounds of {}?", short(&one.name, 64));
    let old = one.limits;
    let panel = Panel {
        id: "sure",
        title: &title,
        body: html! {
            div.panel-body {
                dl.kv.left {
                    dt { "Budget" }
                    dd { (budget(old.budget)) " → " strong { (budget(limits.budget)) } }
                    dt { "Taken of it" } dd { (money_or_none(Some(taken))) }
                    dt { "Jobs at once" }
                    dd { (bound(old.jobs)) " → " strong { (bound(limits.jobs)) } }
                    dt { "Jobs now" } dd { (of(one.jobs, None)) }
                    dt { "Nodes at once" }
                    dd { (bound(old.nodes)) " → " strong { (bound(limits.nodes)) } }
                    dt { "Nodes now" } dd { (of(one.nodes, None)) }
                }
                @if below {
                    (notice(Tone::Warn, "That is less than is taken already.",
                        "Its orders go on; new ones are refused until the next month."))
                }
                form.actions method="post" action={ (place(&one.name)) "/bounds" } {
                    @for (name, value) in kept {
                        input type="hidden" name=(name) value=(value);
                    }
                    button.btn.primary { "Change them" }
                    a.btn href=(place(&one.name)) { "Leave them" }
                }
            }
        },
        ..Panel::default()
    };
    html! { (panel) }
}

#[cfg(test)]
mod tests {
    use super::super::samples::project;
    use super::*;
    use crate::api::scope::Scope;
    use crate::web::command::tests::exist;
    use crate::web::parts::cli;
    use crate::web::samples::{self, HOSTILE};

    fn fields(budget: &str, jobs: &str) -> Fields {
        Fields {
            budget: budget.to_owned(),
            jobs: jobs.to_owned(),
            ..Fields::default()
        }
    }

    #[test]
    fn the_question_tells_old_and_new_and_escapes_both() {
        let (one, who) = (project("bio"), samples::who(Scope::Admin));
        let ask =
            |fields: &Fields| question(&one, meant(fields).unwrap(), fields, &who).into_string();
        let page = ask(&fields("4", "none"));
        for told in [
            "20.00 → <strong>4.00</strong>",
            "4 → <strong>no bound</strong>",
            "less than is taken",
            "name=\"was\" value=\"20 4 none\"",
            &who.token,
        ] {
            assert!(page.contains(told), "{told}: {page}");
        }
        assert!(!ask(&fields("5", "")).contains("less than is taken"));
        let form = panel(&one, &fields(HOSTILE, HOSTILE), &who).into_string();
        assert!(
            !form.contains("<script") && form.contains("&lt;script"),
            "{form}"
        );
    }

    #[test]
    fn the_command_is_one_whatever_is_written() {
        let one = project("bio");
        for fields in [fields("4", ""), fields(HOSTILE, "x"), Fields::of(&one)] {
            let page = cli("a", &line(&one, &fields)).into_string();
            assert_eq!(exist(&page), 1, "{page}");
        }
        let line = line(&one, &fields("4", ""));
        assert_eq!(
            line,
            "gridbay project set bio --budget 4 --jobs none --nodes none"
        );
    }

    #[test]
    fn bounds_are_read_or_refused_by_their_field() {
        let limits = meant(&fields(" 2.5 ", "none")).unwrap();
        assert_eq!(mark(limits), "2.5 none none");
        for (wrong, field) in [(fields("x", ""), "Budget"), (fields("", "-1"), "Jobs")] {
            let error = meant(&wrong).unwrap_err();
            assert!(
                error.message.starts_with(field) && !error.hint.is_empty(),
                "{error:?}"
            );
        }
    }
}
