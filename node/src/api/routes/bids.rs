//! Bids: what to bid, which stand, and other prices for them.

use super::jobs::job_id;
use super::{Reply, Shared};
use crate::api::Backend;
use crate::api::extract::{Body, Place};
use crate::api::types::{AmendRequest, BidAdvice, BidWish, StandingBid};
use axum::Json;
use axum::extract::State;

pub(super) async fn suggest<B: Backend>(
    State(at): State<Shared<B>>,
    Body(wish): Body<BidWish>,
) -> Reply<BidAdvice> {
    at.backend.suggest(wish).await.map(Json)
}

pub(super) async fn list<B: Backend>(State(at): State<Shared<B>>) -> Reply<Vec<StandingBid>> {
    at.backend.bids().await.map(Json)
}

pub(super) async fn amend<B: Backend>(
    State(at): State<Shared<B>>,
    Place(id): Place<String>,
    Body(request): Body<AmendRequest>,
) -> Reply<StandingBid> {
    at.backend.amend(job_id(id)?, request).await.map(Json)
}
