//! A seller plans two bags of tasks by their deadlines. The urgent one runs first; the patient one
//! gets the units left and all later ones.

pub(super) mod check;
#[cfg(test)]
pub(super) mod sample;

use super::super::order::Wish;
use super::super::stage::Stage;
use super::super::work::Work;
use crate::network::plan::{credits, offer};
use anyhow::Context as _;
use gridbay_node::api::types::{DeadlineHow, How, Offer, OfferRequest, Quote, Want};
use gridbay_protocol::mechanism::deadline::Shape;
use gridbay_protocol::offer::{DeadlineTerms, Primary};
use gridbay_protocol::units::Credits;
use std::time::{Duration, Instant};

/// Who plans: not one of those that may be killed.
const SELLER: &str = "v1";
/// Number of the planned offer, beside those of the node's configuration.
const LABEL: u32 = 9;
/// Longest wait until the offer is in force.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) async fn play(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    stage
        .progress
        .tell("v1 plans two nodes for jobs by deadlines; a patient and an urgent one ask");
    // Dearer than any bid of the other scenes, so that none of them gets what the plan leaves idle.
    let request = OfferRequest {
        label: Some(LABEL),
        mechanism: Primary::Deadline(DeadlineTerms {
            min_gain_ppm: 500_000,
            bond_ppm: 250_000,
        }),
        ..offer("small", 2, credits(40), None)
    };
    let seller = stage.network.node(SELLER).client();
    let _: Offer = seller.put("/offers", &request).await?;
    let how = |soft, hard, pay: Credits, late| {
        How::Deadline(DeadlineHow {
            soft_seconds: soft,
            hard_seconds: hard,
            pay,
            late_pay: late,
            shape: Shape::Linear,
            offer: None,
            seller: Some(SELLER.to_owned()),
        })
    };
    let wish = |name, buyer, nodes, how| Wish {
        name,
        buyer,
        class: "small",
        nodes,
        max_price: None,
        how,
        // One slot.
        seconds: 2,
        work: Work::Sleep(1),
    };
    let patient = wish(
        "patient",
        "b5",
        8,
        how(20, 60, "0.25".parse()?, "0.2".parse()?),
    );
    let urgent = wish(
        "urgent",
        "b6",
        2,
        how(2, 20, "0.3".parse()?, "0.06".parse()?),
    );
    in_force(stage, &patient).await?;
    stage.send(vec![patient, urgent]).await
}

/// Waits until the seller's plan answers.
async fn in_force(stage: &Stage<'_>, wish: &Wish) -> anyhow::Result<()> {
    let want = Want {
        class: Some(wish.class.to_owned()),
        nodes: wish.nodes,
        max_price: None,
        seconds: wish.seconds,
        budget: None,
        how: wish.how.clone(),
    };
    let client = stage.network.node(wish.buyer).client();
    let until = Instant::now() + PATIENCE;
    loop {
        let quote: Result<Quote, _> = client.post("/quote", &want, None).await;
        match quote {
            Ok(quote) => {
                let said = quote.deadline.context("a quote of another mechanism")?;
                let taken = said.refused.is_none();
                return taken
                    .then_some(())
                    .context("the plan would not take the job");
            }
            Err(error) if Instant::now() > until => return Err(error.into()),
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}
