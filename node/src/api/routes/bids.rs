//! Bids: what to bid.

use super::{Reply, Shared};
use crate::api::Backend;
use crate::api::extract::Body;
use crate::api::types::{BidAdvice, BidWish};
use axum::Json;
use axum::extract::State;

pub(super) async fn suggest<B: Backend>(
    State(at): State<Shared<B>>,
    Body(wish): Body<BidWish>,
) -> Reply<BidAdvice> {
    at.backend.suggest(wish).await.map(Json)
}
