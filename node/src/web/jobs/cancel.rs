//! The end of a job by its user: what it costs is said first, since it cannot be undone.

use crate::api::scope::needed;
use crate::api::types::{JobRecord, JobState};
use crate::backend::Node;
use crate::web::failure::{Failure, Shown};
use crate::web::figures::{money, short};
use crate::web::form::{Nothing, Sent};
use crate::web::parts::{Panel, Tone, notice};
use crate::web::session::Who;
use crate::web::shell::{Frame, Page};
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{Html, Redirect};
use maud::{Markup, html};

/// The page that asks.
pub(in crate::web) async fn ask(
    State(node): State<Node>,
    Extension(who): Extension<Who>,
    Path(id): Path<String>,
) -> Shown {
    who.may(needed("post", "/jobs/{id}/cancel"))?;
    let frame = Frame::of(&node).await?;
    let job = node.job(node.meant_job(id).await?).await?;
    let command = format!("gridbay job cancel {}", job.id);
    let page = Page {
        here: "Jobs",
        title: "Cancel a job",
        lede: "What has been paid stays paid; the rest comes back.",
        actions: html! {},
        command: &command,
        events: "/events?page=frame",
        body: question(&job, &who),
    };
    Ok(Html(page.render(&frame, &who).into_string()))
}

/// The deed; repeating it changes nothing.
pub(in crate::web) async fn cancel(
    State(node): State<Node>,
    Path(id): Path<String>,
    sent: Sent<Nothing>,
) -> Result<Redirect, Failure> {
    let Nothing {} = sent.fields;
    sent.who.may(needed("post", "/jobs/{id}/cancel"))?;
    let job = node.cancel(node.meant_job(id).await?).await?;
    Ok(Redirect::to(&format!("/jobs/{}", job.id)))
}

fn question(job: &JobRecord, who: &Who) -> Markup {
    let name = short(&job.name, 64);
    let back = html! { a.btn href={ "/jobs/" (job.id) } { "Keep it" } };
    if job.state.is_final() {
        return html! { (notice(Tone::Idle, "It has ended already.", "")) (back) };
    }
    let what = match job.state {
        JobState::Queued | JobState::Bidding | JobState::Requeued => {
            "It has no nodes now. Its order ends at once."
        }
        _ => "Its ranks stop, and its lease ends with the running slot, which is paid for.",
    };
    let body = html! {
        div.panel-body {
            p { (what) }
            p.muted {
                (money(job.paid)) " credits are paid, " (money(job.locked))
                " are locked for its order now."
            }
            form.actions method="post" action={ "/jobs/" (job.id) "/cancel" } {
                input type="hidden" name="token" value=(who.token);
                button.btn.danger { "Cancel " (name) }
                (back)
            }
        }
    };
    let title = format!("End {name}?");
    html! {
        (Panel { id: "end", title: &title, body, ..Panel::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::scope::Scope;
    use crate::web::samples;

    #[test]
    fn the_question_names_job_and_cost_and_carries_the_token() {
        let (mut job, who) = (samples::job(), samples::who(Scope::Trade));
        assert!(question(&job, &who).into_string().contains("ended already"));
        job.state = JobState::Running;
        let shown = question(&job, &who).into_string();
        assert!(
            shown.contains("End &lt;script&gt;") && !shown.contains("<script"),
            "{shown}"
        );
        assert!(
            shown.contains(&format!("value=\"{}\"", who.token)),
            "{shown}"
        );
        assert!(shown.contains("running slot, which is paid for"));
    }
}
