//! Peers.

use super::types::{FoundRecord, MarkRequest, Marked, PeerLine, PeerList, PeerRequest, Pinged};
use crate::api::document::Routes;
use crate::api::extract::{Body, Reply};
use crate::backend::Node;
use axum::Json;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("peers")
        .get(
            "/peers",
            "Lists the connected peers, and how this node is reached",
            list,
        )
        .post("/peers/ping", "Measures a round trip", ping)
        .post("/peers/find", "Looks a node up in the DHT", find)
        .post("/peers/connect", "Connects to a peer", connect)
        .post(
            "/peers/mark",
            "Blocks or trusts a peer, or takes that back",
            mark,
        )
}

async fn list(State(node): State<Node>) -> Reply<PeerList> {
    node.peers().await.map(Json)
}

async fn ping(State(node): State<Node>, Body(request): Body<PeerRequest>) -> Reply<Pinged> {
    node.ping(request).await.map(Json)
}

async fn find(State(node): State<Node>, Body(request): Body<PeerRequest>) -> Reply<FoundRecord> {
    node.find_peer(request).await.map(Json)
}

async fn connect(State(node): State<Node>, Body(request): Body<PeerRequest>) -> Reply<PeerLine> {
    node.connect(request).await.map(Json)
}

async fn mark(State(node): State<Node>, Body(request): Body<MarkRequest>) -> Reply<Marked> {
    node.mark(request).await.map(Json)
}
