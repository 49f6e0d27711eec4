//! The way to a rank: its place for signatures, and a connection over the lease's network.

use super::visit::dismissed;
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::backend::failure::{not_found, usage};
use crate::job::meant;
use crate::job::types::JobId;
use crate::order::handle::job_id;
use crate::rank::signed::{Hello, Place, VERSION};
use crate::rank::wire::PORT;
use gridbay_core::Core;
use gridbay_core::buyer::order::OrderAgent;
use gridbay_core::cluster::is_held;
use gridbay_core::key::OrderKey;
use gridbay_protocol::ids::LeaseId;
use gridbay_vnet::address::Plan;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::net::UnixStream;
use tokio::time::timeout;

/// Time for a rank to answer at all.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two attempts at a rank that hangs up without a word.
const AGAIN: Duration = Duration::from_millis(200);
/// Bytes of a rank's first words at the most.
const HELLO: usize = 1_024;

/// The order that a word means where a cluster is meant.
fn cluster<'c>(core: &'c Core, text: &str) -> Answer<(OrderKey, &'c OrderAgent)> {
    meant(core, text, |agent| is_held(&agent.order().spec))
}

impl NodeBackend {
    /// The whole id of the cluster that a word means.
    pub(crate) async fn meant_cluster(&self, text: String) -> Answer<JobId> {
        self.query(move |core| cluster(core, &text).map(|(key, _)| job_id(&key)))
            .await?
    }

    /// The lease of a cluster, and how many ranks it has. A cluster of another user is named by its
    /// lease.
    pub(crate) async fn ranks(&self, id: &str) -> Answer<(LeaseId, u32)> {
        let text = id.to_owned();
        let found = self.query(move |core| {
            let own = cluster(core, &text).map(|(_, agent)| {
                let order = agent.order();
                let over = agent.finish().is_some();
                let lease = agent.milestones().lease.filter(|_| !over);
                (is_held(&order.spec), lease, order.tasks, over)
            });
            match own {
                Ok((false, ..)) => Err(usage(
                    format!("{text} is a job with a program of its own"),
                    "hold a cluster: gridbay cluster new",
                )),
                Ok((true, Some(lease), size, _)) => Ok((lease, size)),
                Ok((true, None, _, true)) => Err(not_found(
                    format!("cluster {text} is over"),
                    "see gridbay cluster list",
                )),
                Ok((true, None, _, false)) => Err(no_lease(&text)),
                Err(error) => match text.parse() {
                    Ok(lease) => of_guest(core, lease),
                    Err(_) => Err(error),
                },
            }
        });
        found.await?
    }

    /// A rank of a cluster that has a lease.
    pub(crate) async fn place(&self, id: &str, rank: u32) -> Answer<Place> {
        let network = self.parts.network;
        let (lease, size) = self.ranks(id).await?;
        if rank >= size {
            let why = format!("the cluster has no rank {rank}");
            return Err(not_found(
                why,
                format!("ranks are 0 to {}", size.max(1) - 1),
            ));
        }
        Ok(Place {
            network,
            lease,
            rank,
        })
    }

    /// A connection to a rank, and its first words.
    pub(crate) async fn reach(&self, place: &Place) -> Answer<(UnixStream, Hello)> {
        let rank = place.rank;
        let none = |why: &str| {
            ApiError::new(
                ErrorCode::Unreachable,
                format!("rank {rank} does not answer: {why}"),
                "it may still be starting: see gridbay cluster show",
            )
        };
        let address = Plan::new(&place.network, &place.lease).rank(rank);
        let address = address.ok_or_else(|| none("it has no address"))?;
        let to = SocketAddr::new(address.v4.into(), PORT);
        let spoken = timeout(PATIENCE, async {
            loop {
                let mut connection = self.parts.clusters.dial(&place.lease, to).await?;
                match line(&mut connection, HELLO).await {
                    Ok(hello) => break Ok::<_, io::Error>((connection, parsed(&hello)?)),
                    // It has as many connections without an order of this node as it takes.
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                        tokio::time::sleep(AGAIN).await;
                    }
                    Err(error) => return Err(error),
                }
            }
        });
        let (connection, hello) = match spoken.await {
            Err(_) => return Err(none("nothing was heard")),
            Ok(Err(error)) if error.kind() == io::ErrorKind::NotConnected => {
                let why = format!("rank {rank}: this node is not in the cluster's network now");
                let hint =
                    "a guest's node enters it: gridbay cluster enter; the owner's comes by itself";
                return Err(ApiError::new(ErrorCode::Unreachable, why, hint));
            }
            Ok(spoken) => spoken.map_err(|e| none(&e.to_string()))?,
        };
        if hello.v != VERSION {
            return Err(none("it speaks another version"));
        }
        Ok((connection, hello))
    }
}

/// The lease of a cluster of another user, and how many ranks it has.
fn of_guest(core: &Core, lease: LeaseId) -> Answer<(LeaseId, u32)> {
    let visited = core.buyer().visited_lease(&lease);
    if visited.is_some_and(|visited| visited.is_dismissed()) {
        return Err(dismissed(&lease));
    }
    let user = core.state().lease(&lease).map(|lease| lease.order);
    let user = user.and_then(|order| core.state().user(&order));
    let size = user.map(|user| user.tasks).ok_or_else(|| {
        let why = format!("lease {lease} is over, or this node's ledger does not know it yet");
        not_found(why, "ask the cluster's owner for gridbay cluster show")
    });
    Ok((lease, size?))
}

fn parsed(hello: &[u8]) -> io::Result<Hello> {
    Ok(serde_json::from_slice(hello)?)
}

/// Nothing is waited for: should it get another lease, its ranks are others.
fn no_lease(id: &str) -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        format!("cluster {id} has no lease now: it is not won yet, or nodes of it were lost"),
        "see gridbay cluster show, gridbay job why",
    )
}

/// Reads to the end of a line, byte by byte: what follows is not the line's.
pub(super) async fn line(from: &mut (impl AsyncRead + Unpin), most: usize) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    while line.len() < most {
        match from.read_u8().await? {
            b'\n' => return Ok(line),
            byte => line.push(byte),
        }
    }
    Err(io::Error::other(format!(
        "a line of more than {most} bytes"
    )))
}
