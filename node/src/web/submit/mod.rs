//! An order by a form.
//!
//! 1. The form is checked as often as its writer likes: what its terms mean ([`terms`]), who could
//!    run it ([`sellers`]), and what each way to buy would cost ([`quotes`]). Nothing is sent.
//! 2. An order is sent only as it was checked last: a form whose fields have changed since is
//!    checked again. What the check told to be the most is what the order may cost.
//! 3. A file that goes along is kept by this node when the form brings it ([`upload`]), and stays
//!    with the form from then on ([`file`]).
//! 4. The form carries the id of the job to be, so that sending it twice makes one job.

mod fields;
mod file;
mod form;
mod quotes;
mod sellers;
mod terms;
mod upload;

pub(super) use quotes::hopeless;

use super::failure::Failure;
use super::session::Who;
use super::shell::{Frame, Page};
use crate::api::scope::Scope;
use crate::api::types::{JobId, JobRequest};
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::failure::internal;
use crate::backend::{Node, NodeBackend};
use crate::keys::random;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use fields::Fields;
use futures::{StreamExt as _, stream};
use gridbay_protocol::job::InputFile;
use maud::Markup;
use quotes::Quotes;
use sellers::Sellers;
use terms::{SCRIPT, Terms, choice};
use upload::Order;

/// The form with what was found out about it.
struct Checked {
    fields: Fields,
    /// `None` for a form that nobody has filled in.
    terms: Option<Answer<Terms>>,
    classes: Vec<String>,
    /// Of terms that are understood.
    looked: Option<(Sellers, Quotes)>,
    /// Why the order was not sent.
    refused: Option<ApiError>,
}

/// The form, with the fields that the address names.
pub(super) async fn show(
    State(node): State<Node>,
    Extension(who): Extension<Who>,
    Query(fields): Query<Fields>,
) -> Result<Response, Failure> {
    // An address may come from anywhere: it names no job to be, and no file of this node.
    let mut fields = Fields {
        key: fresh()?,
        ..fields
    };
    fields.forget_file();
    let checked = Checked::of(&node, fields, None).await?;
    checked.answer(&node, &who).await
}

/// The form as it was sent: to be checked, or to become an order.
pub(super) async fn send(State(node): State<Node>, sent: Order) -> Result<Response, Failure> {
    let Order { who, fields, told } = sent;
    let mut answer = answered(&node, &who, fields).await?;
    if let Some(told) = told {
        answer.extensions_mut().insert(told);
    }
    Ok(answer)
}

async fn answered(node: &NodeBackend, who: &Who, fields: Fields) -> Result<Response, Failure> {
    who.may(Scope::Trade)?;
    let refused = match fields.wants_to_send() {
        false => None,
        true => match order(node, &fields).await {
            Ok(id) => return Ok(Redirect::to(&format!("/jobs/{id}")).into_response()),
            Err(error) => Some(error),
        },
    };
    let checked = Checked::of(node, fields, refused).await?;
    checked.answer(node, who).await
}

impl Checked {
    async fn of(
        node: &NodeBackend,
        mut fields: Fields,
        refused: Option<ApiError>,
    ) -> Answer<Checked> {
        let prices = node.prices().await?;
        let terms = match fields.is_blank() {
            true => None,
            // The order that was not sent is checked anew, with another class maybe.
            false => {
                fields.deed.clear();
                let choice = choice(node, &fields, prices.clone()).await;
                Some(Terms::of(&fields, &choice))
            }
        };
        let looked = match &terms {
            Some(Ok(terms)) => {
                let sellers = Sellers::of(node, terms).await;
                Some((sellers, Quotes::of(node, terms).await))
            }
            _ => None,
        };
        if let Some((_, quotes)) = &looked {
            quotes.tell(&mut fields);
        }
        // The key stays, for an order that failed may be on its way all the same.
        if JobId::try_from(fields.key.clone()).is_err() {
            fields.key = fresh()?;
        }
        Ok(Checked {
            fields,
            terms,
            classes: prices.into_iter().map(|price| price.class).collect(),
            looked,
            refused,
        })
    }

    async fn answer(self, node: &NodeBackend, who: &Who) -> Result<Response, Failure> {
        let frame = Frame::of(node).await?;
        let page = self.render(&frame, who).into_string();
        let wrong = self.refused.as_ref();
        let wrong = wrong.or(self.terms.as_ref().and_then(|terms| terms.as_ref().err()));
        Ok(match wrong {
            Some(error) => (error.code.status(), Html(page)).into_response(),
            None => Html(page).into_response(),
        })
    }

    fn render(&self, frame: &Frame, who: &Who) -> Markup {
        let command = match &self.terms {
            Some(Ok(terms)) => terms.quote_command(),
            _ => "gridbay market quote".to_owned(),
        };
        let page = Page {
            here: "Submit",
            title: "Submit a job",
            lede: "Say what the work needs, and check what it costs. Nothing is sent before you \
                   send it.",
            actions: maud::html! {},
            command: &command,
            events: "/events?page=frame",
            body: form::shown(self, who),
        };
        page.render(frame, who)
    }
}

/// Sends the order that was checked; its job's id. An order that was sent is the same job, whatever
/// the form says by now.
async fn order(node: &NodeBackend, fields: &Fields) -> Answer<JobId> {
    let id = JobId::try_from(fields.key.clone())
        .map_err(|_| ApiError::new(ErrorCode::Usage, "the form has no id", "open it again"))?;
    if let Ok(job) = node.job(id.clone()).await {
        return Ok(job.id);
    }
    if !fields.is_as_checked() {
        let why = "the order has changed since it was checked";
        let hint = "look at what it costs now, then send it";
        return Err(ApiError::new(ErrorCode::Conflict, why, hint));
    }
    let choice = choice(node, fields, node.prices().await?).await;
    let terms = Terms::of(fields, &choice)?;
    let want = terms.told(fields);
    let quote = node.quote(want.clone()).await?;
    if let Some(error) = hopeless(&want, &quote) {
        return Err(error);
    }
    let mut inputs: Vec<InputFile> = terms.file.iter().cloned().collect();
    if let Some(text) = &terms.script {
        inputs.push(staged(node, text).await?);
    }
    inputs.sort_by(|a, b| a.path.cmp(&b.path));
    let request = JobRequest {
        project: None,
        name: terms.name,
        want,
        worth: None,
        argv: terms.argv,
        env: Vec::new(),
        inputs,
        outputs: terms.outputs,
        network: false,
        internet: false,
        relays: Default::default(),
        checkpoint: None,
    };
    node.submit(id, request).await.map(|job| job.id)
}

/// Keeps a script on this node, for sellers to fetch.
async fn staged(node: &NodeBackend, text: &str) -> Answer<InputFile> {
    node.acknowledges()?;
    let bytes = text.len() as u64;
    let piece = axum::body::Bytes::copy_from_slice(text.as_bytes());
    let pieces = stream::once(async move { Ok(piece) }).boxed();
    let staged = node.uploads.take(bytes, pieces).await?;
    Ok(InputFile {
        path: SCRIPT.to_owned(),
        content: staged.content,
        bytes,
        executable: true,
    })
}

/// The id of a job to be.
pub(super) fn fresh() -> Answer<String> {
    let random = random().map_err(|error| internal("no fresh randomness", error))?;
    let [a, b, c, d, e, f, g, h, ..] = random;
    Ok(JobId::from_bytes([a, b, c, d, e, f, g, h]).to_string())
}
