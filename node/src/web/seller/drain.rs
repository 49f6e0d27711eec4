//! Draining: taking no new leases. It is asked first, and taken back by one button.

use crate::api::scope::Scope;
use crate::api::types::{NodeState, NodeStatus};
use crate::backend::Node;
use crate::web::failure::{Failure, Shown};
use crate::web::figures::count;
use crate::web::form::{Nothing, Sent};
use crate::web::parts::{Panel, Tone, cli, notice};
use crate::web::session::Who;
use crate::web::shell::{Frame, Page};
use axum::Extension;
use axum::extract::State;
use axum::response::{Html, Redirect};
use maud::{Markup, html};

/// The page that asks, or that offers to take leases again.
pub(in crate::web) async fn ask(State(node): State<Node>, Extension(who): Extension<Who>) -> Shown {
    who.may(Scope::Operate)?;
    let frame = Frame::of(&node).await?;
    let drains = frame.status.state == NodeState::Draining;
    let page = Page {
        here: "Seller",
        title: if drains { "Resume" } else { "Drain" },
        lede: "A node that drains takes no new leases.",
        actions: html! {},
        command: command(drains),
        events: "/events?page=frame",
        body: question(&frame.status, &who),
    };
    Ok(Html(page.render(&frame, &who).into_string()))
}

/// Begins to drain; repeating it changes nothing.
pub(in crate::web) async fn drain(
    State(node): State<Node>,
    sent: Sent<Nothing>,
) -> Result<Redirect, Failure> {
    let Nothing {} = sent.fields;
    sent.who.may(Scope::Operate)?;
    node.drain().await?;
    Ok(Redirect::to("/seller"))
}

/// Takes leases again; repeating it changes nothing.
pub(in crate::web) async fn resume(
    State(node): State<Node>,
    sent: Sent<Nothing>,
) -> Result<Redirect, Failure> {
    let Nothing {} = sent.fields;
    sent.who.may(Scope::Operate)?;
    node.resume().await?;
    Ok(Redirect::to("/seller"))
}

fn command(drains: bool) -> &'static str {
    match drains {
        true => "gridbay node resume",
        false => "gridbay node drain",
    }
}

/// The panel on the page of the seller.
pub(super) fn panel(state: NodeState, sets: bool) -> Markup {
    let drains = state == NodeState::Draining;
    let panel = Panel {
        id: "drain",
        title: "Drain",
        body: html! {
            div.panel-body {
                @if drains {
                    (notice(Tone::Warn, "This node drains.", "It takes no new leases, and holds \
                        its offers back until it resumes."))
                } @else {
                    p.muted {
                        "Takes no new leases and holds the offers back. Bids that run on them end \
                         at the next slot."
                    }
                }
                @if sets {
                    div.actions {
                        a.btn href="/seller/drain" { (if drains { "Resume…" } else { "Drain…" }) }
                    }
                }
            }
        },
        foot: Some(cli("cli-drain", command(drains))),
        ..Panel::default()
    };
    html! { (panel) }
}

fn question(status: &NodeStatus, who: &Who) -> Markup {
    let drains = status.state == NodeState::Draining;
    let (title, action, class, word) = match drains {
        true => (
            "Take leases again?",
            "/seller/resume",
            "btn primary",
            "Resume",
        ),
        false => (
            "Drain this node?",
            "/seller/drain",
            "btn danger",
            "Drain this node",
        ),
    };
    let panel = Panel {
        id: "sure",
        title,
        body: html! {
            div.panel-body {
                @if drains {
                    p { "Offers that are held back are set again, as they were." }
                } @else {
                    p {
                        (count(status.units_offered)) " units are offered, "
                        (count(status.units_leased)) " are leased and "
                        (count(status.jobs_hosted)) " jobs run. The offers are held back until it \
                        resumes or starts again, and bids that run on them end at the next slot."
                    }
                }
                form.actions method="post" action=(action) {
                    input type="hidden" name="token" value=(who.token);
                    button class=(class) { (word) }
                    a.btn href="/seller" { "Leave it" }
                }
            }
        },
        ..Panel::default()
    };
    html! { (panel) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::command::tests::exist;
    use crate::web::samples;

    #[test]
    fn the_question_fits_the_state() {
        let who = samples::who(Scope::Operate);
        let mut status = samples::frame().status;
        let ready = question(&status, &who).into_string();
        assert!(ready.contains("action=\"/seller/drain\"") && ready.contains(&who.token));
        status.state = NodeState::Draining;
        let drains = question(&status, &who).into_string();
        assert!(drains.contains("action=\"/seller/resume\""), "{drains}");
        for state in [NodeState::Ready, NodeState::Draining] {
            assert_eq!(exist(&panel(state, true).into_string()), 1);
            assert!(
                !panel(state, false).into_string().contains("href"),
                "for operators"
            );
        }
    }
}
