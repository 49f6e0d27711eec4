//! Bids: suggestions, the bids that stand, and new prices for them.

use super::types::{AmendRequest, BidAdvice, BidWish, StandingBid};
use crate::api::document::Routes;
use crate::api::extract::{Body, Listed, Params, Place, Reply};
use crate::api::page::Window;
use crate::backend::Node;
use axum::Json;
use axum::extract::State;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("bids")
        .get("/bids", "Lists the own bids that are not over", list)
        .post("/bids/{id}/amend", "Gives a bid another price", amend)
        .post(
            "/bids/suggest",
            "Suggests a price by past clearings",
            suggest,
        )
}

async fn suggest(State(node): State<Node>, Body(wish): Body<BidWish>) -> Reply<BidAdvice> {
    node.suggest(wish).await.map(Json)
}

async fn list(State(node): State<Node>, Params(window): Params<Window>) -> Listed<StandingBid> {
    let asked = window.of("bids")?;
    let all = node.standing().await?;
    let newest_first = |(accepted_ms, bid): &(u64, StandingBid)| {
        [
            &(!accepted_ms).to_be_bytes()[..],
            bid.id.as_str().as_bytes(),
        ]
        .concat()
    };
    Ok(asked.of_all(all, newest_first).map(|(_, bid)| bid))
}

async fn amend(
    State(node): State<Node>,
    Place(id): Place<String>,
    Body(request): Body<AmendRequest>,
) -> Reply<StandingBid> {
    node.amend(node.meant_job(id).await?, request)
        .await
        .map(Json)
}
