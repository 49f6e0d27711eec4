//! Members of a project: the form, the question, and the deed, which gives a user a role or takes
//! the user out.

use super::words::place;
use crate::api::Answer;
use crate::api::scope::{Role, needed};
use crate::api::types::ProjectRecord;
use crate::backend::Node;
use crate::backend::failure::{not_found, usage};
use crate::web::command::command;
use crate::web::failure::{Failure, Shown, block};
use crate::web::figures::short;
use crate::web::form::Sent;
use crate::web::parts::{Panel, empty};
use crate::web::session::Who;
use crate::web::shell::{Frame, Page};
use axum::extract::{Path, State};
use axum::response::{Html, Redirect};
use maud::{Markup, html};
use serde::Deserialize;

/// The address of the API whose scope a change of members asks for.
const ADDRESS: &str = "/projects/{name}/members/{user}";
/// The word for no role.
const NONE: &str = "none";

/// The fields, as texts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct Fields {
    user: String,
    /// A role, or [`NONE`].
    role: String,
}

/// The question, of a form that is filled in.
pub(in crate::web) async fn ask(
    State(node): State<Node>,
    Path(name): Path<String>,
    sent: Sent<Fields>,
) -> Shown {
    sent.who.may(needed("put", ADDRESS))?;
    let (one, fields) = (node.project(&name).await?, sent.fields);
    let users: Vec<String> = node.users().into_iter().map(|user| user.name).collect();
    let body = match meant(&one, &fields, &users) {
        Ok(role) => question(&one, &fields, role, &sent.who),
        Err(error) => html! { (block(&error)) (panel(&one, &fields, &users, &sent.who)) },
    };
    let line = line(&one, &fields);
    let page = Page {
        here: "Projects",
        title: "Change a member",
        lede: "What a user may do in a project counts from the next request on.",
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
    let is_member = one.members.iter().any(|member| member.user == fields.user);
    match role(&fields)? {
        Some(role) => _ = node.set_member(&one.name, &fields.user, role).await?,
        None if is_member => _ = node.remove_member(&one.name, &fields.user).await?,
        None => {}
    }
    Ok(Redirect::to(&place(&one.name)))
}

fn role(fields: &Fields) -> Answer<Option<Role>> {
    if fields.role == NONE {
        return Ok(None);
    }
    let role = Role::parse(&fields.role);
    let hint = "choose a role, or none to take the user out";
    role.map(Some)
        .map_err(|why| usage(format!("Role: {why}"), hint))
}

/// The role, for a user whom it changes something for.
fn meant(one: &ProjectRecord, fields: &Fields, users: &[String]) -> Answer<Option<Role>> {
    let role = role(fields)?;
    if !users.contains(&fields.user) {
        let why = format!("there is no user {}", short(&fields.user, 64));
        return Err(not_found(why, "make one: gridbay user add"));
    }
    if role == now(one, &fields.user) {
        let why = "that is so already";
        return Err(usage(why, "choose another user or another role"));
    }
    Ok(role)
}

/// The role of a user in a project, if any.
fn now(one: &ProjectRecord, user: &str) -> Option<Role> {
    let mut members = one.members.iter();
    let member = members.find(|member| member.user == user);
    member.map(|member| member.role)
}

/// The command that does the same, as far as the fields are understood.
fn line(one: &ProjectRecord, fields: &Fields) -> String {
    let user = some(&fields.user).unwrap_or("USER");
    match role(fields) {
        Ok(None) => command([
            "gridbay", "project", "member", "remove", &one.name, "--", user,
        ]),
        role => {
            let role = role.ok().flatten().unwrap_or(Role::Member).name();
            command([
                "gridbay", "project", "member", "add", &one.name, "--role", role, "--", user,
            ])
        }
    }
}

fn some(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// The panel with the form.
pub(super) fn panel(one: &ProjectRecord, fields: &Fields, users: &[String], who: &Who) -> Markup {
    let panel = Panel {
        id: "change",
        title: "Change a member",
        body: html! {
            @if users.is_empty() {
                (empty("There is no user", "Whoever is to be a member needs a token of their own.",
                    Some(("cli-user", "gridbay user add NAME"))))
            } @else {
                form.panel-body method="post" action={ (place(&one.name)) "/members/ask" } {
                    input type="hidden" name="token" value=(who.token);
                    div.fields {
                        div.field {
                            label for="m-user" { "User" }
                            select.input id="m-user" name="user" {
                                @for user in users {
                                    option value=(user) selected[*user == fields.user] {
                                        (short(user, 64))
                                    }
                                }
                            }
                        }
                        div.field {
                            label for="m-role" { "Role" }
                            select.input id="m-role" name="role" {
                                @for role in Role::ALL.iter().map(|role| role.name()) {
                                    option value=(role) selected[role == fields.role] { (role) }
                                }
                                option value=(NONE) selected[fields.role == NONE] {
                                    "none: no member"
                                }
                            }
                        }
                    }
                    div.actions { button.btn { "Review the change" } }
                }
            }
        },
        ..Panel::default()
    };
    html! { (panel) }
}

fn question(one: &ProjectRecord, fields: &Fields, role: Option<Role>, who: &Who) -> Markup {
    let kept = [
        ("token", who.token.as_str()),
        ("user", &fields.user),
        ("role", &fields.role),
    ];
    let word = |role: Option<Role>| role.map_or("no member", Role::name);
    let user = short(&fields.user, 64);
    let title = match role {
        Some(_) => format!("Change the role of {user}?"),
        None => format!("Take {user} out of the project?"),
    };
    let panel = Panel {
        id: "sure",
        title: &title,
        body: html! {
            div.panel-body {
                dl.kv.left {
                    dt { "Project" } dd { (short(&one.name, 64)) }
                    dt { "User" } dd { (user) }
                    dt { "Role" }
                    dd { (word(now(one, &fields.user))) " → " strong { (word(role)) } }
                }
                @if role.is_none() { p.muted { "Jobs that the user has sent go on." } }
                form.actions method="post" action={ (place(&one.name)) "/members" } {
                    @for (name, value) in kept {
                        input type="hidden" name=(name) value=(value);
                    }
                    button.btn.primary { "Change it" }
                    a.btn href=(place(&one.name)) { "Leave it" }
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

    fn fields(user: &str, role: &str) -> Fields {
        Fields {
            user: user.to_owned(),
            role: role.to_owned(),
        }
    }

    #[test]
    fn a_change_is_of_a_user_and_changes_something() {
        let (one, users) = (project("bio"), [HOSTILE.to_owned(), "ann".to_owned()]);
        let of = |user, role| meant(&one, &fields(user, role), &users);
        assert_eq!(of("ann", "member").unwrap(), Some(Role::Member));
        assert_eq!(of(HOSTILE, "none").unwrap(), None);
        for (user, role, told) in [
            ("bob", "member", "no user"),
            (HOSTILE, "manager", "so already"),
            ("ann", "none", "so already"),
            ("ann", "king", "Role"),
        ] {
            let error = of(user, role).unwrap_err();
            assert!(error.message.contains(told), "{error:?}");
        }
    }

    #[test]
    fn the_question_escapes_what_it_tells() {
        let (one, who) = (project("bio"), samples::who(Scope::Admin));
        let page = question(&one, &fields(HOSTILE, "none"), None, &who).into_string();
        assert!(
            !page.contains("<script") && page.contains("&lt;script"),
            "{page}"
        );
        assert!(
            page.contains("manager → <strong>no member</strong>"),
            "{page}"
        );
        assert!(page.contains(&who.token) && page.contains("Jobs that the user has sent"));
    }

    #[test]
    fn the_command_is_one_whatever_is_written() {
        let one = project("bio");
        for fields in [
            fields("ann", "reader"),
            fields("ann", "none"),
            fields(HOSTILE, "x"),
            fields("", ""),
        ] {
            let page = cli("a", &line(&one, &fields)).into_string();
            assert_eq!(exist(&page), 1, "{page}");
        }
    }
}
