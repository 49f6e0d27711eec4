//! The other side of an admission: this node as a guest in the network of another's cluster.

use super::types::{Enter, VisitRecord};
use crate::api::{Answer, ApiError, ErrorCode};
use crate::backend::NodeBackend;
use crate::backend::failure::usage;
use gridbay_core::Core;
use gridbay_core::agent::StartRefusal;
use gridbay_core::buyer::Welcome;
use gridbay_core::cluster::GUESTS;
use gridbay_core::input::Command;
use gridbay_protocol::ids::LeaseId;
use std::time::{Duration, Instant};

/// Time until the node is a member.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(100);

impl NodeBackend {
    /// Makes this node a member of the network of another user's cluster, by the word of its
    /// owner's node; it stays one until it leaves, the lease ends, or the node does.
    pub(crate) async fn enter(&self, lease: &str, enter: Enter) -> Answer<VisitRecord> {
        let lease = lease_id(lease)?;
        self.command(Command::Visit(lease, Some(enter.owner)))
            .await?;
        let begun = Instant::now();
        loop {
            let welcome = self.query(move |core| welcome(core, &lease)).await?;
            let rank = self.parts.clusters.guest(&lease, &GUESTS);
            if let Some(rank) = rank.filter(|_| welcome == Some(Welcome::In)) {
                let owner = enter.owner;
                return Ok(VisitRecord { lease, owner, rank });
            }
            let refused =
                matches!(welcome, Some(Welcome::Refused(why)) if why != StartRefusal::NoLease);
            if refused || begun.elapsed() >= PATIENCE {
                self.command(Command::Visit(lease, None)).await?;
                return Err(outside(welcome, &lease));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Takes this node out of such a network again.
    pub(crate) async fn leave(&self, lease: &str) -> Answer<()> {
        let lease = lease_id(lease)?;
        let visits = self.query(move |core| welcome(core, &lease)).await?;
        if visits.is_none() {
            return Err(usage(
                format!("this node is no guest of lease {lease}"),
                "gridbay cluster enter makes it one",
            ));
        }
        self.command(Command::Visit(lease, None)).await?;
        Ok(())
    }
}

fn welcome(core: &Core, lease: &LeaseId) -> Option<Welcome> {
    Some(core.buyer().visited_lease(lease)?.welcome)
}

fn lease_id(text: &str) -> Answer<LeaseId> {
    text.parse().map_err(|_| {
        usage(
            format!("{text} is no lease's id"),
            "the owner finds it, with 64 digits, by gridbay cluster show",
        )
    })
}

/// The answer to whoever commands a cluster whose owner has dismissed this node's key.
pub(super) fn dismissed(lease: &LeaseId) -> ApiError {
    ApiError::new(
        ErrorCode::Refused,
        format!("the owner of the cluster has dismissed this node's key from lease {lease}"),
        "what it ran there has ended; ask the owner for gridbay cluster admit",
    )
}

fn outside(welcome: Option<Welcome>, lease: &LeaseId) -> ApiError {
    let (code, why, hint) = match welcome {
        Some(Welcome::Refused(StartRefusal::NoLease)) => (
            ErrorCode::NotFound,
            format!("the owner's node has no lease {lease} with a network"),
            "ask the owner for gridbay cluster show",
        ),
        Some(Welcome::Refused(StartRefusal::NotBuyer)) => (
            ErrorCode::Refused,
            "the owner's node does not admit this one".to_owned(),
            "the owner does that: gridbay cluster admit ID KEY, with the key of cluster key here",
        ),
        Some(Welcome::Refused(StartRefusal::Dismissed)) => return dismissed(lease),
        Some(Welcome::Refused(why)) => (
            ErrorCode::Refused,
            format!("the owner's node refuses: {why}"),
            "ask the owner for gridbay cluster show",
        ),
        Some(Welcome::In) => (
            ErrorCode::Timeout,
            "the owner's node agrees, but has not brought this one into the network".to_owned(),
            "try again; gridbay doctor shows what this node lacks",
        ),
        _ => (
            ErrorCode::Unreachable,
            "the owner's node does not answer".to_owned(),
            "check its key, and see gridbay peer list",
        ),
    };
    ApiError::new(code, why, hint)
}
