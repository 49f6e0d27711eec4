//! Auctions.

use super::types::{AuctionProof, AuctionSummary};
use crate::api::document::Routes;
use crate::api::extract::{FEW, Listed, Params, Place, Reply};
use crate::api::page::Asked;
use crate::backend::Node;
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

/// Addresses of this noun.
pub(crate) fn routes() -> Routes<Node> {
    Routes::of("auctions")
        .get(
            "/auctions",
            "Lists the last auctions, newest first",
            auctions,
        )
        .get("/auctions/{id}", "Shows an auction with its proof", auction)
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Which {
    /// Name of a class; all classes without it.
    class: Option<String>,
    /// Lines at the most; 20 without it, and never more than 1,000.
    limit: Option<u32>,
    /// The header `gridbay-next` of the answer behind which these lines begin.
    #[param(min_length = 1, max_length = 528)]
    after: Option<String>,
}

async fn auctions(
    State(node): State<Node>,
    Params(which): Params<Which>,
) -> Listed<AuctionSummary> {
    let mut list = vec!["auctions"];
    list.extend(which.class.as_deref());
    let limit = which.limit.unwrap_or(FEW);
    let asked = Asked::of(&list, Some(limit), which.after.as_deref())?;
    node.auctions_asked(which.class, &asked).await
}

async fn auction(State(node): State<Node>, Place(id): Place<String>) -> Reply<AuctionProof> {
    let id = node.auction_meant(id).await?;
    node.auction(id).await.map(Json)
}
