//! Offers, quotes, prices, auctions.

use super::{Reply, Shared, lines};
use crate::api::Backend;
use crate::api::extract::{Body, Params, Place, parse};
use crate::api::types::{
    AuctionProof, AuctionSummary, ClassPrice, FindReport, FindRequest, Offer, OfferRequest,
    Prospect, Quote, Want, Wish,
};
use axum::Json;
use axum::extract::State;
use gridbay_protocol::ids::Hash32;
use serde::Deserialize;

pub(super) async fn offers<B: Backend>(State(at): State<Shared<B>>) -> Reply<Vec<Offer>> {
    at.backend.offers().await.map(Json)
}

pub(super) async fn set<B: Backend>(
    State(at): State<Shared<B>>,
    Body(request): Body<OfferRequest>,
) -> Reply<Offer> {
    at.backend.set_offer(request).await.map(Json)
}

pub(super) async fn withdraw<B: Backend>(
    State(at): State<Shared<B>>,
    Place(label): Place<String>,
) -> Reply<Offer> {
    let label = parse(&label, "offer number")?;
    at.backend.withdraw_offer(label).await.map(Json)
}

pub(super) async fn quote<B: Backend>(
    State(at): State<Shared<B>>,
    Body(want): Body<Want>,
) -> Reply<Quote> {
    at.backend.quote(want).await.map(Json)
}

pub(super) async fn prospects<B: Backend>(
    State(at): State<Shared<B>>,
    Body(wish): Body<Wish>,
) -> Reply<Vec<Prospect>> {
    at.backend.prospects(wish).await.map(Json)
}

pub(super) async fn find<B: Backend>(
    State(at): State<Shared<B>>,
    Body(request): Body<FindRequest>,
) -> Reply<FindReport> {
    at.backend.find(request).await.map(Json)
}

pub(super) async fn prices<B: Backend>(State(at): State<Shared<B>>) -> Reply<Vec<ClassPrice>> {
    at.backend.prices().await.map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    class: Option<String>,
    limit: Option<usize>,
}

pub(super) async fn auctions<B: Backend>(
    State(at): State<Shared<B>>,
    Params(which): Params<Which>,
) -> Reply<Vec<AuctionSummary>> {
    let limit = lines(which.limit);
    at.backend.auctions(which.class, limit).await.map(Json)
}

pub(super) async fn auction<B: Backend>(
    State(at): State<Shared<B>>,
    Place(id): Place<String>,
) -> Reply<AuctionProof> {
    let id: Hash32 = parse(&id, "auction id")?;
    at.backend.auction(id.to_hex()).await.map(Json)
}
