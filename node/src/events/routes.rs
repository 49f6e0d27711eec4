//! The stream of events.

use super::buffer::Happened;
use super::kept::Told;
use super::sight::Sight;
use super::teller;
use crate::api::document::Routes;
use crate::api::document::parts::Telling;
use crate::api::extract::Params;
use crate::api::server::Ending;
use crate::api::{ApiError, Bearer};
use crate::backend::Node;
use crate::project::Actor;
use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse as _, Sse};
use futures::stream;
use serde::Deserialize;
use serde_json::json;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use utoipa::IntoParams;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("events").get(
        "/events",
        "Tells what changes, as server-sent events: order, clearing, lease, job, payment, peer; \
         a reader that names the last id it saw in Last-Event-ID goes on behind it, or is told to \
         begin anew by the event reset",
        events,
    )
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Since {
    /// Id of the last event seen, where the header Last-Event-ID cannot be sent.
    since: Option<String>,
}

/// How long a stream lasts: its reader comes back with the last id it saw, and with a token that is
/// still good.
const LASTS: Duration = Duration::from_secs(600);
/// Name of the header.
const LAST: &str = "last-event-id";

async fn events(
    State(node): State<Node>,
    Extension(ending): Extension<Ending>,
    bearer: Option<Extension<Bearer>>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
    Params(Since { since }): Params<Since>,
) -> Result<Telling, ApiError> {
    let last = headers.get(LAST).and_then(|value| value.to_str().ok());
    let bearer = bearer.as_deref();
    let (reader, reset) = teller::read(&node, bearer, last.or(since.as_deref())).await?;
    let begin = match reset {
        Some(id) => Some(reset_to(&id)),
        // Without data it is no event, but a reader that sees none can come back with it.
        None => reader.place().map(|id| Event::default().id(id)),
    };
    let waiting: VecDeque<Event> = begin.into_iter().collect();
    let sight = Sight::new(actor, node.project_book());
    let start = (reader, ending, waiting, sight);
    let end = Instant::now() + LASTS;
    let all = stream::unfold(
        start,
        move |(mut reader, mut ending, mut waiting, mut sight)| async move {
            while waiting.is_empty() {
                tokio::select! {
                    () = ending.ended() => return None,
                    () = sight.ended() => return None,
                    () = sleep_until(end) => return None,
                    told = reader.next() => waiting.extend(shown(told?, &sight)),
                }
            }
            if sight.is_over() {
                return None;
            }
            let event = waiting.pop_front()?;
            Some((Ok::<_, Infallible>(event), (reader, ending, waiting, sight)))
        },
    );
    let stream = Sse::new(all).keep_alive(KeepAlive::default());
    Ok(Telling(stream.into_response()))
}

fn shown(told: Told, sight: &Sight) -> Vec<Event> {
    match told {
        Told::Reset(id) => vec![reset_to(&id)],
        Told::Events(events) => {
            let event = |(id, happened): (String, Happened)| {
                let data = &*happened.data;
                Event::default().id(id).event(happened.kind).data(data)
            };
            let seen = events
                .into_iter()
                .filter(|(_, happened)| sight.sees(happened));
            seen.map(event).collect()
        }
    }
}

/// Tells a reader that it missed something: what it knows is to be asked for anew.
fn reset_to(id: &str) -> Event {
    let data = json!({"next": id}).to_string();
    Event::default().id(id).event("reset").data(data)
}
