//! Peers.

use super::types::{FoundRecord, MarkRequest, Marked, PeerLine, PeerList, PeerRequest, Pinged};
use crate::api::extract::{Body, Reply};
use crate::backend::Node;
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};

/// Addresses of this noun.
pub(crate) fn routes() -> Router<Node> {
    Router::new()
        .route("/peers", get(list))
        .route("/peers/ping", post(ping))
        .route("/peers/find", post(find))
        .route("/peers/connect", post(connect))
        .route("/peers/mark", post(mark))
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
