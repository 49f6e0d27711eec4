//! First scene: the large class is filled with jobs that last, and more is asked for than it has.
//! The lowest of the winning bids is the one that a buy will displace.

use super::super::order::{LONG, Wish};
use super::super::stage::Stage;
use super::super::work::Work;
use crate::network::plan::credits;
use gridbay_node::api::types::How;
use std::time::Duration;

/// The order that a buy will displace: the lowest of the winning bids.
pub(super) const LOWEST: &str = "lowest";
/// Orders that outlive the crash.
pub(super) const STEADY: [&str; 2] = ["steady-one", "steady-two"];

pub(super) async fn play(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    stage
        .progress
        .tell("long jobs bid for the large class, which has 4 nodes; 7 are wanted");
    let wish = |name, buyer, nodes, price, work| Wish {
        name,
        buyer,
        class: "large",
        nodes,
        max_price: Some(credits(price)),
        how: How::BID,
        seconds: LONG,
        work,
    };
    let wishes = vec![
        wish(STEADY[0], "b1", 1, 48, Work::Sleep(18)),
        wish(STEADY[1], "b2", 2, 44, Work::Sleep(18)),
        wish(LOWEST, "b3", 1, 24, Work::Count(120)),
        wish("late", "b4", 1, 19, Work::Sleep(2)),
        wish("too-low", "b5", 2, 9, Work::Sleep(2)),
    ];
    stage.send(wishes).await?;
    let what = "the winners of the large class run";
    let winners = [STEADY[0], STEADY[1], LOWEST];
    let patience = Duration::from_secs(15);
    stage.until(what, patience, |s| s.all_run(&winners)).await
}
