//! Connections of this node's owner to any port of any member of a lease's network.
//!
//! The member is reached before the client hears that its connection is another one now, so that
//! failures are answers like any other. Then bytes go both ways until both ends are done.

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
use tokio::io::copy_bidirectional_with_sizes;
use tokio::net::UnixStream;

/// What a connection becomes.
pub(crate) const PROTOCOL: &str = "gridbay-stream";

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
    let work = |mut client: TokioIo<Upgraded>, mut member: UnixStream| async move {
        copy_bidirectional_with_sizes(&mut client, &mut member, BUFFER, BUFFER).await
    };
    let dial = async || {
        let dialled = node.parts.clusters.dial(&lease, place).await;
        dialled.map_err(|error| unreached(to, &error))
    };
    switched(node, &mut request, PROTOCOL, dial, work).await
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
    if let Ok(address) = to.parse() {
        return Some(address);
    }
    let (host, port) = to.rsplit_once(':')?;
    let (port, plan) = (port.parse().ok()?, Plan::new(network, lease));
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
        ] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
