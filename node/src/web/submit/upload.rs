//! The form as a browser sends it: its fields, and a file that goes along with the job.
//!
//! 1. A form without a file comes as other forms do. With one it comes in parts, of which the file
//!    is streamed to where staged files are kept: it is never in memory as a whole.
//! 2. The form's token stands before the file, and nothing is kept of a form without it.
//! 3. A file that is kept is told by the form's next page in fields of its own, so a check, a
//!    mistake or a refusal loses nothing. One that is chosen anew takes its place.
//! 4. The text of a form has [`BODY_BYTES`] at the most, and so has what is read ahead of its
//!    parts.

use super::fields::Fields;
use super::file;
use crate::api::intake::announced;
use crate::api::limits::{BODY_BYTES, FORM_FILE_BYTES};
use crate::api::scope::Scope;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::audit::Told;
use crate::backend::Node;
use crate::backend::failure::usage;
use crate::content::types::Staged;
use crate::web::failure::Failure;
use crate::web::form::{Sent, of_session, session};
use crate::web::session::Who;
use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::multipart::{Field, Multipart, MultipartError};
use axum::extract::{FromRequest, Request};
use axum::http::header;
use futures::stream::{self, Fuse, StreamExt as _};
use serde::Deserialize as _;
use serde::de::value::{Error, MapDeserializer};
use std::future::poll_fn;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that a part counts for beside its name and value, so that many empty ones have an end too.
const PART: usize = 256;
/// The name of the file's part.
pub(super) const FILE: &str = "file";

/// The form that the session's own page sent.
pub(in crate::web) struct Order {
    pub(super) who: Who,
    pub(super) fields: Fields,
    /// What the audit log is told of a form in parts, which it cannot read itself.
    pub(super) told: Option<Told>,
}

impl FromRequest<Node> for Order {
    type Rejection = Failure;

    async fn from_request(request: Request, node: &Node) -> Result<Order, Failure> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("");
        if !crate::audit::comes_in_parts(kind) {
            let Sent { who, mut fields } = Sent::<Fields>::from_request(request, node).await?;
            fields.keep(None);
            let told = None;
            return Ok(Order { who, fields, told });
        }
        let who = session(&request)?;
        who.may(Scope::Trade)?;
        let bytes = announced(request.headers());
        let most = FORM_FILE_BYTES.min(node.parts.limits.content);
        if bytes.is_some_and(|bytes| bytes > most.saturating_add(BODY_BYTES as u64)) {
            return Err(file::too_large(most).into());
        }
        let most = bytes.map_or(most, |bytes| most.min(bytes));
        let (request, ahead) = Ahead::of(request);
        let parts = Multipart::from_request(request, node).await;
        let parts = parts.map_err(|error| unread(&error.body_text()))?;
        let mut form = Form {
            who: &who,
            pairs: Vec::new(),
            room: BODY_BYTES,
            staged: None,
        };
        if let Err(error) = form.read(node, parts, &ahead, most).await {
            ahead.rest().await;
            return Err(error);
        }
        let Form { pairs, staged, .. } = form;
        of_session(&who, token(&pairs))?;
        let told = Told(pairs.clone());
        let read = Fields::deserialize(MapDeserializer::<_, Error>::new(pairs.into_iter()));
        let mut fields = read.map_err(|error| unread(&error.to_string()))?;
        fields.keep(staged);
        let told = Some(told);
        Ok(Order { who, fields, told })
    }
}

/// A form that is read part by part.
struct Form<'a> {
    who: &'a Who,
    pairs: Vec<(String, String)>,
    /// Bytes that its text may still have.
    room: usize,
    staged: Option<(String, Staged)>,
}

impl Form<'_> {
    async fn read(
        &mut self,
        node: &Node,
        mut parts: Multipart,
        ahead: &Ahead,
        most: u64,
    ) -> Result<(), Failure> {
        while let Some(part) = parts.next_field().await.map_err(|e| broken(&e))? {
            ahead.clear();
            let chosen = part.file_name().map(|name| !name.is_empty());
            match chosen {
                Some(false) => self.takes(PART)?,
                Some(true) => self.file(node, part, ahead, most).await?,
                None => self.text(part, ahead).await?,
            }
        }
        Ok(())
    }

    /// A field of the form.
    async fn text(&mut self, mut part: Field<'_>, ahead: &Ahead) -> Result<(), Failure> {
        let name = part.name().unwrap_or_default().to_owned();
        if name == FILE {
            return Err(unread("the file has no name that is text").into());
        }
        self.takes(PART + name.len())?;
        let mut value = Vec::new();
        while let Some(piece) = part.chunk().await.map_err(|e| broken(&e))? {
            ahead.clear();
            self.takes(piece.len())?;
            value.extend_from_slice(&piece);
        }
        let value = String::from_utf8(value).map_err(|_| unread("a field is no text"))?;
        self.pairs.push((name, value));
        Ok(())
    }

    /// The file, which is kept under its hash.
    async fn file(
        &mut self,
        node: &Node,
        part: Field<'_>,
        ahead: &Ahead,
        most: u64,
    ) -> Result<(), Failure> {
        of_session(self.who, token(&self.pairs))?;
        let name = file::name(part.file_name().unwrap_or_default())?;
        if self.staged.is_some() || part.name() != Some(FILE) {
            return Err(usage("the form brings more than one file", "choose one").into());
        }
        node.acknowledges()?;
        let pieces = part.map(|piece| {
            ahead.clear();
            piece.map_err(io::Error::other)
        });
        let staged = node.uploads.take_up_to(most, pieces.boxed()).await?;
        self.staged = Some((name, staged));
        Ok(())
    }

    fn takes(&mut self, bytes: usize) -> Answer<()> {
        let left = self.room.checked_sub(bytes);
        self.room = left.ok_or_else(|| {
            let why = format!("the text of a form has at most {BODY_BYTES} bytes");
            ApiError::new(ErrorCode::TooLarge, why, "bring long texts as the file")
        })?;
        Ok(())
    }
}

/// The body behind the reader of the parts. It counts what has come since that reader gave its last
/// piece out: for the head of a part, it reads ahead without a bound of its own.
#[derive(Clone)]
struct Ahead {
    bytes: Arc<AtomicUsize>,
    body: Arc<Mutex<Fuse<BodyDataStream>>>,
}

impl Ahead {
    /// A request whose body ends with an error where too many have come.
    fn of(request: Request) -> (Request, Ahead) {
        let (parts, body) = request.into_parts();
        let ahead = Ahead {
            bytes: Arc::default(),
            body: Arc::new(Mutex::new(body.into_data_stream().fuse())),
        };
        let counted = ahead.clone();
        let pieces = stream::unfold(counted, |counted| async move {
            let piece = counted.next().await?.map_err(io::Error::other);
            let size = piece.as_ref().map_or(0, Bytes::len);
            // One piece may be long by itself: it is here already.
            let before = counted.bytes.fetch_add(size, Ordering::Relaxed);
            let piece = match before > BODY_BYTES {
                true => Err(io::Error::other("a part of the form has no end")),
                false => piece,
            };
            Some((piece, counted))
        });
        (Request::from_parts(parts, Body::from_stream(pieces)), ahead)
    }
    fn clear(&self) {
        self.bytes.store(0, Ordering::Relaxed);
    }
    /// Reads the rest of a form that is refused and forgets it: browsers show an answer once all
    /// that they send is taken.
    async fn rest(&self) {
        let mut left = FORM_FILE_BYTES.saturating_add(BODY_BYTES as u64);
        while left > 0
            && let Some(Ok(piece)) = self.next().await
        {
            left = left.saturating_sub(piece.len() as u64);
        }
    }
    async fn next(&self) -> Option<Result<Bytes, axum::Error>> {
        poll_fn(|cx| {
            let mut body = self.body.lock().unwrap_or_else(PoisonError::into_inner);
            body.poll_next_unpin(cx)
        })
        .await
    }
}

fn token(pairs: &[(String, String)]) -> Option<&str> {
    let mut tokens = pairs.iter().filter(|(name, _)| name == "token");
    tokens.next().map(|(_, value)| value.as_str())
}

fn broken(error: &MultipartError) -> ApiError {
    unread(&error.body_text())
}

fn unread(why: &str) -> ApiError {
    usage(
        format!("the form cannot be read: {why}"),
        "go back, choose the file again, and send the form again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_read_ahead_has_an_end() {
        let piece = |_| Ok::<_, io::Error>(vec![b'x'; 64 * 1024]);
        let body = Body::from_stream(futures::stream::iter(0..64).map(piece));
        let (request, ahead) = Ahead::of(Request::new(body));
        let mut pieces = request.into_body().into_data_stream();
        let mut given = 0;
        let failed = loop {
            match pieces.next().await {
                Some(Ok(piece)) => given += piece.len(),
                Some(Err(error)) => break error.to_string(),
                None => panic!("no end after {given} bytes"),
            }
        };
        assert!(failed.contains("no end"), "{failed}");
        assert!((BODY_BYTES..2 * BODY_BYTES).contains(&given), "{given}");
        ahead.clear();
        assert!(pieces.next().await.unwrap().is_ok());
        ahead.rest().await;
        assert!(ahead.next().await.is_none());
    }
}
