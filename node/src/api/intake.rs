//! The checks of a request before any work on it.
//!
//! 1. A body that announces more than an address takes is refused before it is sent.
//! 2. The bearer of a token asks so many times a second ([`Rates`]), also for what takes no turn.
//! 3. So many requests are worked on at once, as many more wait for their turn ([`TURN_TIME`]); the
//!    next ones are refused at once, and those of one token before it has a quarter of all turns
//!    ([`Shares`]). Whether the process answers is told without a turn. The turn lasts until
//!    the system has the last byte of the answer.
//! 4. A request that waits for a block works on nothing: it rests, and another has its turn
//!    ([`rest`]). So twice as many requests rest at the most as are worked on; those that find no
//!    room to rest keep their turn.
//! 5. A body that stops or drips is broken off. One that is no upload has come as a whole before
//!    its request has a turn, so that slow senders wait for themselves; pages, whose callers are
//!    known only later, read it themselves.

use super::bearer::Bearer;
use super::held::hold;
use super::limits::{BODY_BYTES, BODY_PACE, BODY_TIME, PIECE_TIME, TURN_TIME};
use super::peer::Caller;
use super::rates::Rates;
use super::shares::Shares;
use super::{ApiError, ErrorCode};
use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::Response;
use futures::stream::{self, StreamExt as _};
use http_body_util::LengthLimitError;
use std::error::Error;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task_local;
use tokio::time::{Instant, timeout, timeout_at};

/// Whether the process answers.
pub(crate) const HEALTH: &str = "/healthz";
/// Changes to web pages, for as long as they are open: the pages bound them.
pub(crate) const EVENTS: &str = "/events";
/// Changes at the node, likewise: the API bounds them.
const CHANGES: &str = "/api/v1/events";
/// The form of an order, which may bring a file.
pub(crate) const FORM: &str = "/submit";
/// Uploads, which have a bound of their own.
const UPLOADS: [&str; 3] = ["/api/v1/content", "/api/v1/content/update", FORM];

/// How many requests of a listener are worked on.
#[derive(Clone)]
pub(super) struct Turns {
    most: usize,
    shares: Shares,
    rates: Rates,
    /// At work, or waiting for it.
    in_all: Arc<Semaphore>,
    at_work: Arc<Semaphore>,
    resting: Arc<Semaphore>,
}

/// The turn of a request at work.
#[derive(Clone)]
struct Turn {
    /// Its place and its turn; once it rests, its place for that.
    held: Arc<Mutex<Vec<OwnedSemaphorePermit>>>,
    resting: Arc<Semaphore>,
}

task_local! {
    static TURN: Turn;
}

/// Step 4, for the request that this is done for, if there is one.
pub(crate) fn rest() {
    let _none = TURN.try_with(|turn| {
        // Nothing panics while it is locked.
        let mut held = turn.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() > 1
            && let Ok(place) = Arc::clone(&turn.resting).try_acquire_owned()
        {
            *held = vec![place];
        }
    });
}

/// Work of the request that this is called for, to be done by a task of its own: it keeps the turn
/// that the request has, also when its caller is gone.
pub(super) fn in_its_turn<T>(work: impl Future<Output = T>) -> impl Future<Output = T> {
    let turn = TURN.try_with(Turn::clone).ok();
    async {
        match turn {
            Some(turn) => TURN.scope(turn, work).await,
            None => work.await,
        }
    }
}

/// Marks the answer of a request that has a turn.
#[derive(Clone, Copy)]
pub(super) struct HasTurn;

impl Turns {
    pub(super) fn new(most: usize) -> Turns {
        Turns {
            most,
            shares: Shares::new(most, "requests at work"),
            rates: Rates::default(),
            in_all: Arc::new(Semaphore::new(2 * most)),
            at_work: Arc::new(Semaphore::new(most)),
            resting: Arc::new(Semaphore::new(2 * most)),
        }
    }
    /// Requests at work, waiting and resting at the most.
    pub(super) fn in_all(&self) -> usize {
        4 * self.most
    }
    fn none_left(&self) -> ApiError {
        let why = format!("the node is busy with {} requests", self.most);
        let hint = "ask again in a moment, or raise api.connections";
        ApiError::new(ErrorCode::Busy, why, hint)
    }
}

/// The middleware.
pub(super) async fn pass(
    State(turns): State<Turns>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let announced = announced(request.headers());
    let path = request.uri().path();
    if !UPLOADS.contains(&path) && announced.is_some_and(|bytes| bytes > BODY_BYTES as u64) {
        return Err(too_large());
    }
    turns.rates.count(request.extensions().get::<Bearer>())?;
    if [HEALTH, EVENTS, CHANGES].contains(&path) {
        return Ok(next.run(request).await);
    }
    let extensions = request.extensions();
    let bearer = extensions.get::<Bearer>();
    let is_known = bearer.is_some() || extensions.get::<Caller>().is_some();
    let share = turns.shares.take(bearer)?;
    let Ok(place) = Arc::clone(&turns.in_all).try_acquire_owned() else {
        return Err(turns.none_left());
    };
    let bytes = announced.unwrap_or(BODY_BYTES as u64);
    let sent_whole = is_known && !UPLOADS.contains(&path);
    let mut request = request.map(|body| timed(body, bytes));
    if sent_whole {
        let (parts, body) = request.into_parts();
        request = Request::from_parts(parts, Body::from(whole(body).await?));
    }
    let turn = timeout(TURN_TIME, Arc::clone(&turns.at_work).acquire_owned()).await;
    let Ok(Ok(turn)) = turn else {
        return Err(turns.none_left());
    };
    let turn = Turn {
        held: Arc::new(Mutex::new(vec![place, turn])),
        resting: Arc::clone(&turns.resting),
    };
    let answer = TURN.scope(turn.clone(), next.run(request)).await;
    let mut answer = answer.map(|body| Body::new(hold(body, (share, turn))));
    answer.extensions_mut().insert(HasTurn);
    Ok(answer)
}

/// Bytes that a body announces.
pub(crate) fn announced(headers: &HeaderMap) -> Option<u64> {
    let length = headers.get(header::CONTENT_LENGTH)?;
    length.to_str().ok()?.parse().ok()
}

/// Step 4: `body`, which has `bytes` bytes at the most.
fn timed(body: Body, bytes: u64) -> Body {
    if body.is_end_stream() {
        return body;
    }
    let whole = BODY_TIME + Duration::from_secs(bytes / BODY_PACE);
    let end = Instant::now() + whole;
    let pieces = body.into_data_stream();
    Body::from_stream(stream::unfold(Some(pieces), move |pieces| async move {
        let mut pieces = pieces?;
        match timeout_at(end.min(Instant::now() + PIECE_TIME), pieces.next()).await {
            Ok(piece) => Some((piece?.map_err(io::Error::other), Some(pieces))),
            Err(_) => Some((Err(io::ErrorKind::TimedOut.into()), None)),
        }
    }))
}

/// A whole body that is no upload.
pub(crate) async fn whole(body: Body) -> Result<Bytes, ApiError> {
    to_bytes(body, BODY_BYTES).await.map_err(|error| {
        let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
        while let Some(error) = cause {
            if error.is::<LengthLimitError>() {
                return too_large();
            }
            let io = error.downcast_ref::<io::Error>();
            if io.is_some_and(|io| io.kind() == io::ErrorKind::TimedOut) {
                return too_slow();
            }
            cause = error.source();
        }
        let why = "the body ended before its announced end";
        ApiError::new(ErrorCode::Usage, why, "send it whole")
    })
}

fn too_large() -> ApiError {
    let why = format!("a body has at most {BODY_BYTES} bytes");
    ApiError::new(ErrorCode::TooLarge, why, "send a smaller body")
}

fn too_slow() -> ApiError {
    let why = "the body did not come in time";
    ApiError::new(ErrorCode::TooSlow, why, "send it without pauses")
}
