//! Peers.

use super::{Reply, Shared};
use crate::api::Backend;
use crate::api::extract::Body;
use crate::api::types::{
    FoundRecord, MarkRequest, Marked, PeerLine, PeerList, PeerRequest, Pinged,
};
use axum::Json;
use axum::extract::State;

pub(super) async fn list<B: Backend>(State(at): State<Shared<B>>) -> Reply<PeerList> {
    at.backend.peers().await.map(Json)
}

pub(super) async fn ping<B: Backend>(
    State(at): State<Shared<B>>,
    Body(request): Body<PeerRequest>,
) -> Reply<Pinged> {
    at.backend.ping(request).await.map(Json)
}

pub(super) async fn find<B: Backend>(
    State(at): State<Shared<B>>,
    Body(request): Body<PeerRequest>,
) -> Reply<FoundRecord> {
    at.backend.find_peer(request).await.map(Json)
}

pub(super) async fn connect<B: Backend>(
    State(at): State<Shared<B>>,
    Body(request): Body<PeerRequest>,
) -> Reply<PeerLine> {
    at.backend.connect(request).await.map(Json)
}

pub(super) async fn mark<B: Backend>(
    State(at): State<Shared<B>>,
    Body(request): Body<MarkRequest>,
) -> Reply<Marked> {
    at.backend.mark(request).await.map(Json)
}
