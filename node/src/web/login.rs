//! Signing in with a link, and out.

use super::failure::{Failure, Shown};
use super::form::{Nothing, Sent};
use super::parts::cli;
use super::session::SESSION_TIME;
use super::shell::plain;
use crate::api::{ApiError, ErrorCode, host};
use crate::audit::{self, Action, Outcome};
use crate::backend::Node;
use crate::backend::failure::internal;
use crate::keys::random;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use maud::html;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Instant;

/// Address that takes a link.
pub(super) const ENTER: &str = "/login";
/// Address that ends a session.
pub(super) const LEAVE: &str = "/logout";

#[derive(Deserialize)]
pub(super) struct Link {
    #[serde(default)]
    link: String,
}

/// Name of the cookie: that of each node has its own.
pub(super) fn cookie_name(node: &Node) -> Option<String> {
    let address = node.web.address()?;
    Some(format!("gridbay-{}", address.port()))
}

/// Uses up a link. The answer is a page that leads on: a redirection would belong to the page that
/// showed the link, and the browser would keep the cookie back.
pub(super) async fn enter(
    State(node): State<Node>,
    Query(Link { link }): Query<Link>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let random = random().map_err(|error| internal("no fresh randomness", error))?;
    let host = host::asked(&headers).unwrap_or_default();
    let secret = node.web.enter(&link, host, random, Instant::now());
    let (Some(secret), Some(name)) = (secret, cookie_name(&node)) else {
        let why = "this link was used already, is too old, or has another host name";
        let hint = "open it as it was printed, or make a new one: gridbay web";
        return Err(ApiError::new(ErrorCode::Unauthorised, why, hint).into());
    };
    opened(&node, &secret, host).await;
    let seconds = SESSION_TIME.as_secs();
    let cookie = format!("{name}={secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}");
    let page = plain(
        "Signed in",
        &html! { p { a href="/" { "To the overview" } } },
    );
    let headers = [
        (header::SET_COOKIE, cookie),
        (header::REFRESH, "0;url=/".to_owned()),
    ];
    Ok((headers, Html(page.into_string())).into_response())
}

/// Notes that a session was opened, and which one.
async fn opened(node: &Node, secret: &str, host: &str) {
    if let Some(who) = node.web.who(secret, host, Instant::now()) {
        let written = node.parts.audit.write(Action {
            who: audit::Who::from(&who),
            what: "session begins".to_owned(),
            place: None,
            detail: BTreeMap::new(),
            outcome: Outcome::Done,
            status: None,
        });
        written.await;
    }
}

/// Ends the session.
pub(super) async fn leave(State(node): State<Node>, sent: Sent<Nothing>) -> Shown {
    let Nothing {} = sent.fields;
    node.web.leave(&sent.who);
    Ok(Html(page("Signed out")))
}

/// The answer to those who have not signed in.
pub(super) fn asked() -> (StatusCode, Html<String>) {
    (StatusCode::UNAUTHORIZED, Html(page("Sign in")))
}

fn page(title: &str) -> String {
    let body = html! {
        section.panel aria-labelledby="h-how" {
            header.panel-head { h2 id="h-how" { "Sign in with a link" } }
            div.panel-body {
                p { "On the machine of this node, as the user who runs it, this command prints a \
                     link. It opens one session, within ten minutes:" }
                (cli("cli", "gridbay web"))
                p.muted { "To look and change nothing: " code { "gridbay web --scope read" } }
            }
        }
    };
    plain(title, &body).into_string()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_names_a_command_that_exists() {
        let page = super::page("Sign in");
        assert_eq!(crate::web::command::tests::exist(&page), 1);
    }
}
