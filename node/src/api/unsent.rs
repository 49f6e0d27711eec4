//! Answers that hyper has taken as a whole, and the system has not: what they hold, a slot and a
//! turn, is held until it has. Else whoever reads slowly would count as idle, and lose the
//! connection in the middle of an answer.

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use std::mem::take;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// The bodies of such answers of one connection. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Unsent(Arc<Mutex<Vec<Body>>>);

impl Unsent {
    /// `body`, which is dropped when the system has its last byte.
    pub(super) fn until_sent(&self, body: Body) -> UntilSent {
        let unsent = self.clone();
        UntilSent { body, unsent }
    }
    /// The system has all that hyper took.
    pub(super) fn sent(&self) {
        let sent = take(&mut *self.lock());
        drop(sent);
    }
    fn lock(&self) -> MutexGuard<'_, Vec<Body>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `body`, as it was.
pub(super) struct UntilSent {
    body: Body,
    unsent: Unsent,
}

impl Drop for UntilSent {
    fn drop(&mut self) {
        let body = take(&mut self.body);
        self.unsent.lock().push(body);
    }
}

impl HttpBody for UntilSent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }
    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
