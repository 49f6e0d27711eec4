//! Second scene: six buyers' sealed bids for the small class exceed the supply. Winners count words
//! and compute checksums.

pub(super) mod check;

use super::super::order::{LONG, Wish};
use super::super::stage::Stage;
use super::super::work::Work;
use crate::network::plan::credits;
use gridbay_node::api::types::How;
use std::time::Duration;

/// The order whose first clearing is the contest.
pub(crate) const HIGHEST: &str = "words";

pub(super) async fn play(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    stage
        .progress
        .tell("six sealed bids for the small class, which has 8 nodes; 13 are wanted");
    let wish = |name, buyer, nodes, price, work| Wish {
        name,
        buyer,
        class: "small",
        nodes,
        max_price: Some(credits(price)),
        how: How::BID,
        seconds: LONG,
        work,
    };
    let wishes = vec![
        wish(HIGHEST, "b1", 4, 26, Work::Words),
        wish("hash-two", "b2", 2, 22, Work::Hash),
        wish("hash-one", "b3", 1, 20, Work::Hash),
        wish("hash-low", "b4", 1, 15, Work::Hash),
        wish("words-late", "b5", 2, 8, Work::Words),
        wish("below-reserve", "b6", 3, 3, Work::Hash),
    ];
    stage.send(wishes).await?;
    let what = "the winners of the small class run";
    let winners = [HIGHEST, "hash-two", "hash-one", "hash-low"];
    let patience = Duration::from_secs(15);
    stage.until(what, patience, |s| s.all_ran(&winners)).await
}
