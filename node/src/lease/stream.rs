//! Connections of this node's owner to any port of any member of a lease's network.
//!
//! The member is reached before the client hears that its connection is another one now, so that
//! failures are answers like any other. Then bytes go both ways until both ends are done, or one is
//! and nothing comes of the other one for a while ([`IDLE`]).

use super::handle::one;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::Node;
use crate::backend::failure::usage;
use crate::held::carry::{BUFFER, switched};
use axum::extract::Request;
use axum::response::Response;
use gridbay_core::cluster::OWNER;
use gridbay_protocol::ids::{LeaseId, NetworkId};
use gridbay_vnet::address::Plan;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split};
use tokio::net::UnixStream;
use tokio::time::timeout;

/// What a connection becomes.
pub(crate) const PROTOCOL: &str = "gridbay-stream";

/// Time without bytes after which a connection ends of which one end has nothing more to say.
const IDLE: Duration = Duration::from_secs(60);

/// The answer to a request for a connection to `to`; the rest goes on beside it.
pub(super) async fn upgrade(
    node: &Node,
    id: String,
    to: &str,
    mut request: Request,
) -> Answer<Response> {
    let own = node.parts.node;
    let lease = node.query(move |core| one(core, own, &id)).await??.lease;
    let Some(place) = place(&node.parts.network, &lease, to) else {
        return Err(usage(
            format!("{to} is no port of a member of lease {lease}"),
            "name it as rank0:8080 or by an address of the lease's network",
        ));
    };
    let work = |client: TokioIo<Upgraded>, member: UnixStream| async move {
        join(client, member, IDLE).await
    };
    let dial = async || {
        let dialled = node.parts.clusters.dial(&lease, place).await;
        dialled.map_err(|error| unreached(to, &error))
    };
    let room = &node.carried.streams;
    switched((PROTOCOL, room), &mut request, dial, work).await
}

/// Waits until bytes move; not longer than so if the other way has ended.
macro_rules! moved {
    ($step:expr, $other:expr, $idle:expr) => {
        loop {
            let has_ended = $other.load(Ordering::Relaxed);
            match timeout($idle, $step).await {
                Ok(done) => break done?,
                Err(_) if has_ended => return Err(io::ErrorKind::TimedOut.into()),
                Err(_) => {}
            }
        }
    };
}

/// Carries bytes both ways to the end.
async fn join(
    client: impl AsyncRead + AsyncWrite,
    member: impl AsyncRead + AsyncWrite,
    idle: Duration,
) -> io::Result<()> {
    let ((from_client, to_client), (from_member, to_member)) = (split(client), split(member));
    let (up, down) = (AtomicBool::new(false), AtomicBool::new(false));
    let there = pass(from_client, to_member, &up, &down, idle);
    let back = pass(from_member, to_client, &down, &up, idle);
    tokio::try_join!(there, back).map(drop)
}

/// Carries bytes one way until there are no more, which `own` tells then. Once the `other` way has
/// ended, this one does as well if nothing moves.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    own: &AtomicBool,
    other: &AtomicBool,
    idle: Duration,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        let mut left = match moved!(from.read(&mut buffer), other, idle) {
            0 => break,
            count => &buffer[..count],
        };
        while !left.is_empty() {
            match moved!(to.write(left), other, idle) {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => left = &left[count..],
            }
        }
        to.flush().await?;
    }
    own.store(true, Ordering::Relaxed);
    to.shutdown().await
}

fn unreached(to: &str, error: &io::Error) -> ApiError {
    let (why, hint) = match error.kind() {
        io::ErrorKind::NotConnected => (
            "this node is no member of the network".to_owned(),
            "gridbay lease connect makes it one",
        ),
        io::ErrorKind::ConnectionRefused => {
            (format!("nothing listens at {to}"), "start it there first")
        }
        _ => (
            format!("{to} is not reached: {error}"),
            "gridbay lease net shows who reaches whom",
        ),
    };
    ApiError::new(ErrorCode::Unreachable, why, hint)
}

/// The address that is meant by `rank0:80`, by a full name, or by an address.
fn place(network: &NetworkId, lease: &LeaseId, to: &str) -> Option<SocketAddr> {
    if let Ok(address) = to.parse::<SocketAddr>() {
        return Some(address).filter(|address| address.port() > 0);
    }
    let (host, port) = to.rsplit_once(':')?;
    let port = port.parse().ok().filter(|port| *port > 0)?;
    let plan = Plan::new(network, lease);
    let short = host.split('.').next()?;
    let rank = match short {
        "owner" => OWNER,
        _ => short.strip_prefix("rank")?.parse().ok()?,
    };
    let meant = host == short || (rank != OWNER && host == plan.name(rank));
    let address = plan.rank(rank).filter(|_| meant)?;
    Some(SocketAddr::new(address.v4.into(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_connection_ends_once_one_end_is_done_and_the_other_one_is_silent() {
        let (mut client, near) = tokio::io::duplex(1_024);
        let (far, mut member) = tokio::io::duplex(1_024);
        let joined = tokio::spawn(join(near, far, Duration::from_secs(2)));
        client.write_all(b"question").await.unwrap();
        client.shutdown().await.unwrap();
        let mut text = String::new();
        member.read_to_string(&mut text).await.unwrap();
        member.write_all(b"answer").await.unwrap();
        let mut answer = [0; 6];
        client.read_exact(&mut answer).await.unwrap();
        assert_eq!((text.as_str(), &answer), ("question", b"answer"));
        assert!(joined.await.unwrap().is_err(), "it says nothing more");
    }

    #[test]
    fn members_are_named_by_rank_name_or_address() {
        let (network, lease) = (NetworkId([1; 32]), LeaseId([7; 32]));
        let plan = Plan::new(&network, &lease);
        let third = SocketAddr::new(plan.rank(3).unwrap().v4.into(), 80);
        let of = |text: &str| place(&network, &lease, text);
        assert_eq!(of("rank3:80"), Some(third));
        assert_eq!(of(&format!("{}:80", plan.name(3))), Some(third));
        assert_eq!(of(&third.to_string()), Some(third));
        assert_eq!(of("[fd00::1]:1"), "[fd00::1]:1".parse().ok());
        for bad in [
            "rank3",
            "rank3.other.gridbay:80",
            "rank1022:80",
            "example.org:80",
            "rank3:x",
            "rank3:0",
            "[fd00::1]:0",
        ] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
