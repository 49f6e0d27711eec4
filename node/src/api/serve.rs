//! Connections of one listener: accepted, served, ended.
//!
//! 1. A caller that is not welcome ([`Peer`]) is hung up on before a byte is read.
//! 2. Each connection has a slot ([`Slots`]) and bounded time: for a head, and thus between two
//!    requests, by hyper; for reading the answer by [`Patient`]; for a body by [`super::intake`].
//! 3. When the node ends, or somebody else gets its slot, an idle connection is closed; a request
//!    at work is answered first, to the last byte ([`Unsent`]).

use super::held::hold;
use super::intake::HasTurn;
use super::limits::{HEAD_BYTES, HEAD_TIME, READER_TIME};
use super::peer::{Caller, Peer};
use super::slots::{Slot, Slots};
use super::unsent::Unsent;
use axum::Router;
use axum::body::Body;
use axum::serve::Listener;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep};

/// Serves until the sender of `stop` is gone, then ends as in step 3.
pub(super) async fn serve<L: Listener<Io: Peer>>(
    mut listener: L,
    routes: Router,
    slots: Slots,
    stop: watch::Receiver<()>,
) {
    let mut open = JoinSet::new();
    loop {
        let io = tokio::select! {
            () = ended(stop.clone()) => break,
            Some(_) = open.join_next() => continue,
            (io, _) = listener.accept() => io,
        };
        if !io.is_welcome() {
            continue;
        }
        let caller = io.caller();
        let slot = tokio::select! {
            () = ended(stop.clone()) => break,
            slot = slots.take() => slot,
        };
        open.spawn(one((io, caller), slot, routes.clone(), stop.clone()));
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

async fn ended(mut watch: watch::Receiver<()>) {
    while watch.changed().await.is_ok() {}
}

/// One connection, to its end.
async fn one<Io: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    (io, caller): (Io, Option<Caller>),
    slot: Slot,
    routes: Router,
    stop: watch::Receiver<()>,
) {
    let routes = TowerToHyperService::new(routes);
    let unsent = Unsent::default();
    let service = service_fn(|mut request: Request<Incoming>| {
        if let Some(caller) = caller {
            request.extensions_mut().insert(caller);
        }
        let busy = slot.busy();
        let (answer, unsent) = (routes.call(request), unsent.clone());
        async move {
            let answer = answer.await?;
            let has_turn = answer.extensions().get::<HasTurn>().is_some();
            Ok::<_, Infallible>(answer.map(|body| {
                let body = Body::new(hold(body, busy));
                // Turns are bounded, so those who read slowly cannot have all slots.
                match has_turn {
                    true => Body::new(unsent.until_sent(body)),
                    false => body,
                }
            }))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES);
    let io = TokioIo::new(Patient {
        io,
        stuck: None,
        unsent: unsent.clone(),
    });
    // One that becomes another protocol's leaves here, and is carried elsewhere.
    let mut connection = pin!(http.serve_connection(io, service).with_upgrades());
    tokio::select! {
        // The log has no news of what a client does to its own connection.
        _ = connection.as_mut() => return,
        () = slot.lost() => {}
        () = ended(stop) => {}
    }
    if !slot.is_idle() {
        connection.as_mut().graceful_shutdown();
        let _ended = connection.await;
    }
}

/// A connection whose reader takes something within [`READER_TIME`], or which fails.
struct Patient<Io> {
    io: Io,
    /// Runs while the other end takes nothing.
    stuck: Option<Pin<Box<Sleep>>>,
    /// Hyper flushes when it has given all that it has.
    unsent: Unsent,
}

impl<Io: AsyncRead + Unpin> AsyncRead for Patient<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for Patient<Io> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(written) = Pin::new(&mut self.io).poll_write(cx, buf) {
            self.stuck = None;
            return Poll::Ready(written);
        }
        let stuck = self
            .stuck
            .get_or_insert_with(|| Box::pin(sleep(READER_TIME)));
        ready!(stuck.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(cx);
        if let Poll::Ready(Ok(())) = flushed {
            self.unsent.sent();
        }
        flushed
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
