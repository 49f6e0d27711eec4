//! Beside the shared pool: a seller posts a price for two small nodes, and two buyers hire one
//! each.

pub(super) mod check;
#[cfg(test)]
pub(super) mod sample;

use super::super::order::{LONG, Wish};
use super::super::stage::Stage;
use super::super::work::Work;
use crate::network::plan::{credits, offer};
use gridbay_node::api::types::{How, Offer, OfferRequest, PostedHow};
use gridbay_protocol::offer::Primary;

/// The hires.
const HIRES: [&str; 2] = ["hire-one", "hire-two"];
/// The seller of the nodes, which no scene stops.
const SELLER: &str = "v1";
/// The seller's number of the offer, beside its other offers.
const LABEL: u32 = 12;
/// The number of nodes, and the price of each an hour.
const NODES: u32 = 2;
const PRICE: u32 = 25;

pub(super) async fn play(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    stage
        .progress
        .tell("two small nodes at a posted price, the first two buyers hire them");
    let request = OfferRequest {
        label: Some(LABEL),
        mechanism: Primary::Posted,
        ..offer("small", NODES, credits(PRICE.into()), None)
    };
    let client = stage.network.node(SELLER).client().clone();
    let posted: Offer = client.put("/offers", &request).await?;
    let buyers = ["b1", "b2"];
    stage.on_sale(&posted, &buyers).await?;
    let hires = HIRES.iter().zip(buyers).map(|(name, buyer)| Wish {
        name,
        buyer,
        class: "small",
        nodes: 1,
        max_price: None,
        how: How::Posted(PostedHow {}),
        seconds: LONG,
        work: Work::Sleep(2),
    });
    stage.send(hires.collect()).await
}
