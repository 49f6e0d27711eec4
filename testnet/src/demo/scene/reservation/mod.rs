//! A seller's nodes are reserved ahead. Three want both of them from the same slot on; the one who
//! bids most has them then, one who can wait has them afterwards, and one who cannot has nothing.

pub(super) mod check;
#[cfg(test)]
pub(super) mod sample;

use super::super::order::Wish;
use super::super::stage::Stage;
use super::super::work::Work;
use crate::network::plan::{credits, offer};
use anyhow::bail;
use gridbay_node::api::types::{Ahead, How, NodeStatus, Offer, OfferRequest, Start};
use gridbay_protocol::mechanism::reservation::Channels;
use gridbay_protocol::offer::Primary;
use std::time::{Duration, Instant};

/// The highest bid, which needs a channel for itself as well.
const AHEAD: &str = "ahead";
/// The bid that can wait.
const MOVED: &str = "moved";
/// The lowest bid, for the same start as the highest.
pub(super) const RIVAL: &str = "rival";

/// Who sells: not one of those that may be killed.
const SELLER: &str = "v1";
/// Number of the offer, beside those of the node's configuration and the planned one.
const LABEL: u32 = 10;
/// Nodes for sale, and wanted by each.
const NODES: u32 = 2;
/// Slots from now to the start that all want: two rounds to commit and open, and one slot until the
/// decision.
const AHEAD_SLOTS: u64 = 5;
/// Slots for which one of them can wait.
const WAIT_SLOTS: u64 = 6;
/// Longest wait until the offer is in force.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) async fn play(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    stage.progress.tell(
        "v1 sells two nodes ahead; three want both from the same slot on, one of them on a channel",
    );
    let request = OfferRequest {
        label: Some(LABEL),
        mechanism: Primary::Reservation,
        ..offer("small", NODES, credits(5), None)
    };
    let seller = stage.network.node(SELLER).client();
    let _: Offer = seller.put("/offers", &request).await?;
    let status: NodeStatus = seller.get("/node").await?;
    let calendar = stage.network.genesis().policy.calendar;
    let start = calendar.slot(status.height + 1) + AHEAD_SLOTS;
    let wish = |name, buyer, price, latest, channels| Wish {
        name,
        buyer,
        class: "small",
        nodes: NODES,
        max_price: Some(credits(price)),
        how: How::Reservation(Ahead {
            groups: Vec::new(),
            from: Start::Slot(start),
            until: Some(Start::Slot(latest)),
            channels,
        }),
        // Two slots.
        seconds: 4,
        work: Work::Sleep(1),
    };
    let channel = Some(Channels { low: 1, high: 4 });
    let wishes = vec![
        wish(AHEAD, "b1", 60, start, channel),
        wish(MOVED, "b2", 40, start + WAIT_SLOTS, None),
        wish(RIVAL, "b3", 20, start, None),
    ];
    for buyer in ["b1", "b2", "b3"] {
        in_force(stage, buyer).await?;
    }
    stage.send(wishes).await
}

/// Waits until a buyer's node knows of the offer.
async fn in_force(stage: &Stage<'_>, buyer: &str) -> anyhow::Result<()> {
    let client = stage.network.node(buyer).client();
    let until = Instant::now() + PATIENCE;
    loop {
        let offers: Vec<Offer> = client.get("/offers").await?;
        if offers.iter().any(|o| o.mechanism == Primary::Reservation) {
            return Ok(());
        }
        if Instant::now() > until {
            bail!("{buyer} never saw the offer of {SELLER}");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
