//! Last scene: all orders that can be served run to their end, those that stand in vain are ended,
//! and the money comes to rest.

use super::super::stage::Stage;
use super::reservation::RIVAL;
use crate::market;
use gridbay_node::api::types::{Balance, JobRecord, JobState};
use gridbay_protocol::units::Credits;
use std::time::{Duration, Instant};

/// Orders whose price is below every reserve.
const IN_VAIN: [&str; 2] = ["too-low", "below-reserve"];

pub(super) async fn play(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let patience = Duration::from_secs(60);
    let served = |s: &Stage<'_>| {
        let mut orders = s.orders.iter();
        orders.all(|order| order.is_over() || IN_VAIN.contains(&order.wish.name))
    };
    stage
        .until("all orders that can be served have ended", patience, served)
        .await?;
    for order in &mut stage.orders {
        let client = stage.network.node(order.wish.buyer).client();
        if IN_VAIN.contains(&order.wish.name) && !order.is_over() {
            let path = format!("/jobs/{}/cancel", order.record.id);
            client.post::<JobRecord>(&path, &(), None).await?;
            order.given_up = true;
        }
    }
    let patience = Duration::from_secs(15);
    let all_over = |s: &Stage<'_>| s.orders.iter().all(|order| order.is_over());
    stage
        .until("orders given up have ended", patience, all_over)
        .await?;
    // It stood until its last start had passed: that it got nothing is its part.
    let mut rivals = stage.orders.iter_mut();
    for rival in rivals.by_ref().filter(|o| o.wish.name == RIVAL) {
        rival.given_up = rival.record.state == JobState::Expired;
    }
    at_rest(stage).await?;
    for order in &mut stage.orders {
        let client = stage.network.node(order.wish.buyer).client();
        // A job by a deadline pays when its slot ends, after its last task did.
        order.record = market::job(client, &order.record.id).await?;
        if !order.record.exits.is_empty() {
            order.fetch(client).await?;
        }
    }
    Ok(())
}

/// Waits until nothing is locked for orders or held from sellers any more, and one more slot for
/// what is paid and not yet earned. Whether all is right then is for the checks to say.
async fn at_rest(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    stage
        .progress
        .tell("all orders are over; the money comes to rest");
    // Earnings are held until buyers can say no more about them.
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let mut held = Credits::ZERO;
        for node in stage.network.nodes() {
            let balance: Balance = node.client().get("/ledger/balance").await?;
            for more in [balance.held, balance.retained] {
                held = held.checked_add(more).unwrap_or(Credits::MAX);
            }
        }
        if held == Credits::ZERO || Instant::now() > until {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let slot = Duration::from_millis(stage.network.genesis().policy.slot_ms());
    stage.watch(slot + slot / 2).await
}
