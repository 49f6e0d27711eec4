//! After the crash: one seller shares a pool of small nodes among two claims. Three nodes for two
//! equal claims: one node each, and chance decides, slot by slot, who has the third.

pub(super) mod check;
#[cfg(test)]
pub(super) mod sample;

use super::super::order::{LONG, Wish};
use super::super::stage::Stage;
use super::super::work::Work;
use crate::network::plan::{credits, offer};
use gridbay_node::api::types::{Claim, How, Offer, OfferRequest};
use gridbay_protocol::mechanism::share::Utility;
use gridbay_protocol::offer::{PoolTerms, Primary};

/// The claims.
const CLAIMS: [&str; 2] = ["share-one", "share-two"];
/// The seller of the pool, which no scene stops.
const SELLER: &str = "v1";
/// The seller's number of the pool, beside its other offers.
const LABEL: u32 = 11;
/// Nodes of the pool.
const NODES: u32 = 3;

pub(super) async fn play(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    stage
        .progress
        .tell("a pool of three small nodes, shared by two claims of six tasks each");
    let request = OfferRequest {
        label: Some(LABEL),
        mechanism: Primary::Share(PoolTerms {
            cap_ppm: 1_000_000,
            sixteenths: 8,
        }),
        ..offer("small", NODES, credits(20), None)
    };
    let client = stage.network.node(SELLER).client().clone();
    let pool: Offer = client.put("/offers", &request).await?;
    stage.on_sale(&pool, &["b4", "b5"]).await?;
    let wish = |name, buyer| Wish {
        name,
        buyer,
        class: "small",
        nodes: 6,
        max_price: None,
        how: How::Share(Claim {
            offer: Some(pool.offer.to_hex()),
            rate: credits(60),
            utility: Utility::Log,
            weights: None,
            program: None,
        }),
        seconds: LONG,
        work: Work::Hash,
    };
    stage
        .send(vec![wish(CLAIMS[0], "b4"), wish(CLAIMS[1], "b5")])
        .await
}
