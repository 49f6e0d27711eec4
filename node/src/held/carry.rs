//! A connection of the API that becomes one to a rank.
//!
//! 1. The rank is reached before the client hears that its connection is another one now, so that
//!    failures so far are answers like any other.
//! 2. The client says its order; the node signs it, and passes it on. What the rank answers to an
//!    order that acts is written into the log of actions before the client hears it.
//! 3. Bytes go both ways until either end is gone. Such a connection is no request any more: it
//!    holds no turn and no slot, and has a bound of its own ([`CARRIED`]).

use super::bounds::CARRIED;
use super::logged::{self, Log};
use super::way::line;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::audit::{Pending, layer};
use crate::backend::Node;
use crate::backend::failure::usage;
use crate::rank::order::{Answer as Said, Command, Refusal, Why};
use crate::rank::signed::{Hello, Place, Signed};
use crate::rank::wire::LINE;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::Response;
use gridbay_protocol::keys::SecretKey;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, copy_buf, split};
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// What a connection becomes.
pub(crate) const PROTOCOL: &str = "gridbay-rank";
/// Bytes on their way in one direction.
pub(crate) const BUFFER: usize = 256 * 1024;
/// Time for the client to say its order.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time for the rest of what comes from a rank whose client sends nothing more.
const REST: Duration = Duration::from_secs(10);

/// The answer to a request for a connection to a rank; the rest goes on beside it.
pub(super) async fn upgrade(
    node: &Node,
    id: &str,
    rank: u32,
    mut request: Request,
) -> Answer<Response> {
    let place = node.place(id, rank).await?;
    let (key, there) = (node.parts.account_key.clone(), place);
    let log = Log {
        book: node.parts.audit.clone(),
        who: layer::who(&request),
        place: request.uri().path().to_owned(),
    };
    let work = move |client: TokioIo<Upgraded>, (to, hello): (UnixStream, Hello)| async move {
        carry(client, to, (&hello, &there, &key), log).await
    };
    let reach = async || node.reach(&place).await;
    let room = &node.carried.ranks;
    switched((PROTOCOL, room), &mut request, reach, work).await
}

/// The answer to a request for another protocol. What it leads to is reached first; what is to be
/// done with both ends goes on beside the answer, within the bound of such connections.
pub(crate) async fn switched<To: Send + 'static, Done: Future + Send + 'static>(
    (protocol, room): (&'static str, &Arc<Semaphore>),
    request: &mut Request,
    reach: impl AsyncFnOnce() -> Answer<To>,
    work: impl FnOnce(TokioIo<Upgraded>, To) -> Done + Send + 'static,
) -> Answer<Response> {
    let wanted = request.headers().get(header::UPGRADE);
    if wanted.is_none_or(|value| value != protocol) {
        let why = format!("this address takes connections of {protocol} alone");
        return Err(usage(why, format!("send Upgrade: {protocol}")));
    }
    let Ok(permit) = Arc::clone(room).try_acquire_owned() else {
        let why = format!("{CARRIED} such connections are open already");
        return Err(ApiError::new(ErrorCode::Busy, why, "end some of them"));
    };
    let to = reach().await?;
    let upgraded = hyper::upgrade::on(request);
    tokio::spawn(async move {
        // The asker sees the end of it.
        if let Ok(client) = upgraded.await {
            let _ended = work(TokioIo::new(client), to).await;
        }
        drop(permit);
    });
    let switched = Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header(header::CONNECTION, "upgrade")
        .header(header::UPGRADE, protocol)
        .body(Body::empty());
    switched.map_err(|e| ApiError::new(ErrorCode::Internal, e.to_string(), "try again"))
}

async fn carry(
    mut client: impl AsyncRead + AsyncWrite + Unpin,
    mut to: UnixStream,
    (hello, place, key): (&Hello, &Place, &SecretKey),
    log: Log,
) -> io::Result<()> {
    let begun = timeout(PATIENCE, async { line(&mut client, LINE).await });
    let order = begun.await??;
    let order = String::from_utf8(order).map_err(io::Error::other)?;
    // An order that this node does not know is none that its owner can have meant.
    let pending = match serde_json::from_str::<Command>(&order) {
        Ok(order) => log.begin(&order),
        Err(error) => {
            let refusal = Refusal::new(Why::Invalid, format!("not understood: {error}"));
            return client.write_all(&as_line(&Said::Refused(refusal))?).await;
        }
    };
    let signed = Signed::new(place, hello, order, key);
    to.write_all(&as_line(&signed)?).await?;
    both_ways(client, to, pending).await
}

fn as_line(value: &impl serde::Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// Carries bytes until the rank has nothing more to say, or the client is gone. What came of an
/// order that is to be written down is read from the rank's answer.
async fn both_ways(
    client: impl AsyncRead + AsyncWrite,
    rank: UnixStream,
    pending: Option<Pending>,
) -> io::Result<()> {
    let (from_client, mut to_client) = split(client);
    let (from_rank, mut to_rank) = rank.into_split();
    let up = async {
        let mut from = BufReader::with_capacity(BUFFER, from_client);
        let _cut = copy_buf(&mut from, &mut to_rank).await;
        to_rank.shutdown().await
    };
    let down = async {
        let mut from = BufReader::with_capacity(BUFFER, from_rank);
        if let Some(pending) = pending {
            logged::answered(&mut from, &mut to_client, pending).await?;
        }
        let _cut = copy_buf(&mut from, &mut to_client).await;
        to_client.shutdown().await
    };
    tokio::pin!(down);
    tokio::select! {
        ended = &mut down => ended,
        _ended = up => timeout(REST, down).await?,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Book, Outcome, Who, read_log};
    use crate::rank::signed::VERSION;
    use gridbay_protocol::ids::{LeaseId, NetworkId};
    use tokio::io::AsyncReadExt as _;

    /// Tells a rank an order that it answers so (and hangs up on if `None`): what the client hears.
    async fn told(book: &Book, order: &str, answer: Option<&str>) -> String {
        let (mut client, near) = tokio::io::duplex(4_096);
        let (far, mut rank) = UnixStream::pair().unwrap();
        let (who, place) = (Who::Node, "/clusters/12/ranks/4".to_owned());
        let book = book.clone();
        let carried = tokio::spawn(async move {
            let place_of_rank = Place {
                network: NetworkId([2; 32]),
                lease: LeaseId([3; 32]),
                rank: 4,
            };
            let (v, nonce) = (VERSION, [5; 32]);
            let key = SecretKey::from_seed(&[1; 32]);
            let log = Log { book, who, place };
            carry(near, far, (&Hello { v, nonce }, &place_of_rank, &key), log).await
        });
        client
            .write_all(format!("{order}\n").as_bytes())
            .await
            .unwrap();
        let signed = line(&mut rank, LINE).await.unwrap();
        let signed: Signed = serde_json::from_slice(&signed).unwrap();
        assert_eq!(signed.order, order);
        if let Some(answer) = answer {
            rank.write_all(format!("{answer}\nmore").as_bytes())
                .await
                .unwrap();
        }
        drop(rank);
        let mut heard = String::new();
        client.read_to_string(&mut heard).await.unwrap();
        let _ended = carried.await.unwrap();
        heard
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_order_that_acts_is_a_line_with_what_came_of_it_and_without_its_words() {
        let dir = tempfile::tempdir().unwrap();
        let book = Book::open(dir.path()).unwrap();
        let start = serde_json::json!({"start": {"session": "07".repeat(16),
            "argv": ["prog", "--password", "secret-word"], "env": {"KEY": "secret-value"},
            "folder": "", "terminal": null}})
        .to_string();
        let refused = r#"{"refused":{"kind":"forbidden","why":"not admitted"}}"#;
        let stop = r#"{"stop":{"program":null,"grace":0}}"#;
        let taken = r#"{"taken":{"received":0}}"#;
        assert_eq!(
            told(&book, &start, Some(taken)).await,
            format!("{taken}\nmore")
        );
        assert_eq!(
            told(&book, stop, Some(refused)).await,
            format!("{refused}\nmore")
        );
        told(&book, stop, None).await;
        let listed = r#"{"programs":[]}"#;
        assert_eq!(
            told(&book, r#""list""#, Some(listed)).await,
            format!("{listed}\nmore")
        );
        // Nobody waits for the line of an order that nobody answers.
        book.settled().await;
        let lines = read_log(dir.path(), 0).unwrap().unwrap().lines;
        let told: Vec<_> = lines[1..]
            .iter()
            .map(|line| (&line.detail["command"][..], line.outcome))
            .collect();
        let wanted = [
            ("start", Outcome::Done),
            ("stop", Outcome::Refused),
            ("stop", Outcome::Failed),
        ];
        assert_eq!(told, wanted);
        assert_eq!(lines[1].place.as_deref(), Some("/clusters/12/ranks/4"));
        assert!(!format!("{lines:?}").contains("secret"));
    }

    #[tokio::test]
    async fn bytes_go_both_ways_until_the_rank_is_done() {
        let (mut client, near) = tokio::io::duplex(1_024);
        let (far, mut rank) = UnixStream::pair().unwrap();
        let carried = tokio::spawn(both_ways(near, far, None));
        client.write_all(b"there").await.unwrap();
        let mut bytes = [0; 5];
        rank.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"there");
        rank.write_all(b"and back").await.unwrap();
        drop(rank);
        let mut text = String::new();
        client.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "and back");
        carried.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_rank_sees_that_its_client_is_gone() {
        let (client, near) = tokio::io::duplex(1_024);
        let (far, mut rank) = UnixStream::pair().unwrap();
        let _carried = tokio::spawn(both_ways(near, far, None));
        drop(client);
        assert_eq!(rank.read(&mut [0; 8]).await.unwrap(), 0);
    }
}
