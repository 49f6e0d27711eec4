//! Changes of a page as it is shown: a stream of fragments, each the new content of one element.
//!
//! 1. The page is looked at once a second, and what changed since the last look is sent. The first
//!    look sends everything: the reader may come back after a pause.
//! 2. No more than [`STREAMS`] run at a time; a browser tries again by itself.
//! 3. A stream ends with its session, and with the node.

use super::contracts;
use super::failure::Failure;
use super::federation;
use super::jobs::List;
use super::jobs::detail::{Detail, Of};
use super::leases;
use super::ledger;
use super::market::{self, Market};
use super::network::Network;
use super::overview::Overview;
use super::parts::Fragment;
use super::pools;
use super::projects::{self, Projects};
use super::reservations;
use super::seller::Seller;
use super::session::Who;
use super::shell::Frame;
use crate::api::limits::STREAMS;
use crate::api::server::Ending;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::{Node, NodeBackend};
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures::{Stream, stream};
use serde::Deserialize;
use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Interval, MissedTickBehavior, interval};

/// Between two looks.
const LOOK: Duration = Duration::from_secs(1);

/// Streams at a time.
#[derive(Clone)]
pub(super) struct Streams(Arc<Semaphore>);

impl Default for Streams {
    fn default() -> Streams {
        Streams(Arc::new(Semaphore::new(STREAMS)))
    }
}

/// Which page.
#[derive(Clone, Deserialize)]
pub(super) struct Which {
    page: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    part: usize,
    #[serde(default)]
    rank: u32,
    err: Option<String>,
    #[serde(default)]
    class: String,
    #[serde(default)]
    span: String,
}

/// The stream of a page.
pub(super) async fn events(
    State(node): State<Node>,
    Extension(streams): Extension<Streams>,
    Extension(seen): Extension<Arc<market::Seen>>,
    Extension(who): Extension<Who>,
    Extension(ending): Extension<Ending>,
    Query(which): Query<Which>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    let permit = streams.0.try_acquire_owned().map_err(|_| {
        let why = format!("{STREAMS} pages are open and live already");
        ApiError::new(ErrorCode::Busy, why, "close one of them")
    })?;
    let mut ticks = interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let watch = Watch {
        node,
        seen,
        who,
        ending,
        which,
        ticks,
        shown: BTreeMap::new(),
        waiting: VecDeque::new(),
        _permit: permit,
    };
    let changes = stream::unfold(watch, |mut watch| async move {
        let event = watch.next().await?;
        Some((Ok(event), watch))
    });
    Ok(Sse::new(changes).keep_alive(KeepAlive::default()))
}

/// One stream.
struct Watch {
    node: Node,
    seen: Arc<market::Seen>,
    who: Who,
    ending: Ending,
    which: Which,
    ticks: Interval,
    /// What the page shows, by the ids of its places.
    shown: BTreeMap<&'static str, String>,
    waiting: VecDeque<Event>,
    _permit: OwnedSemaphorePermit,
}

impl Watch {
    /// The next change; `None` at the end.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            tokio::select! {
                () = self.ending.ended() => return None,
                _ = self.ticks.tick() => {}
            }
            if !self.node.web.is_open(&self.who, Instant::now()) {
                return None;
            }
            // What cannot be told now stays as it is shown.
            for (id, content) in fragments(&self.node, &self.seen, &self.which)
                .await
                .unwrap_or_default()
            {
                self.change(id, content.into_string());
            }
        }
    }
    fn change(&mut self, id: &'static str, content: String) {
        if self.shown.get(id) == Some(&content) {
            return;
        }
        self.waiting.push_back(event(id, &content));
        self.shown.insert(id, content);
    }
}

/// A line break would end the id or be one of the stream's own, so each is told as a blank.
fn event(id: &str, content: &str) -> Event {
    let content = content.replace(['\r', '\n'], " ");
    Event::default()
        .event("fragment")
        .data(format!("{id}\n{content}"))
}

async fn fragments(
    node: &NodeBackend,
    seen: &market::Seen,
    which: &Which,
) -> Answer<Vec<Fragment>> {
    let frame = Frame::of(node).await?;
    let mut all = frame.fragments();
    all.extend(match which.page.as_str() {
        "overview" => Overview::of(node, &frame).await?.fragments(&frame),
        "jobs" => List::of(node, which.part).await?.fragments(),
        "market" => {
            let of = market::Of {
                class: which.class.clone(),
                span: which.span.clone(),
                q: None,
            };
            Market::of(node, seen, of, &frame).await?.fragments()
        }
        "ledger" => ledger::fragments(node).await?,
        "seller" => Seller::of(node).await?.fragments(&frame),
        "network" => Network::of(node).await?.fragments(),
        "leases" => leases::fragments(node, which.part).await?,
        "lease" => leases::detail::fragments(node, which.id.clone(), &frame).await?,
        "contracts" => contracts::fragments(node, frame.status.slot).await?,
        "pools" => pools::fragments(node).await?,
        "reservations" => reservations::fragments(node).await?,
        "federation" => federation::fragments(node).await?,
        "projects" => Projects::of(node).await?.fragments(),
        "project" => projects::one::fragments(node, &which.id).await?,
        "job" => {
            let of = Of {
                rank: which.rank,
                err: which.err.clone(),
            };
            Detail::of(node, which.id.clone(), of).await?.fragments()
        }
        _ => Vec::new(),
    });
    Ok(all)
}
