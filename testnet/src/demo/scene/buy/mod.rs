//! Third scene: a buy-it-now for the full class displaces the lowest running bid.

pub(super) mod check;

use super::super::order::{LONG, Wish};
use super::super::stage::Stage;
use super::super::work::Work;
use super::long::LOWEST;
use crate::network::plan::credits;
use gridbay_node::api::types::How;
use std::time::Duration;

/// The buy.
pub(crate) const BUY: &str = "right-now";

pub(super) async fn play(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    stage
        .progress
        .tell("a buy-it-now for one large node; all four are taken");
    let buy = Wish {
        name: BUY,
        buyer: "b6",
        class: "large",
        nodes: 1,
        max_price: Some(credits(80)),
        how: How::BUY,
        seconds: LONG,
        work: Work::Sleep(3),
    };
    stage.send(vec![buy]).await?;
    let what = "the buy runs and the lowest bid has lost its node";
    let patience = Duration::from_secs(15);
    stage
        .until(what, patience, |s| {
            s.all_ran(&[BUY]) && s.order(LOWEST).record.preemptions > 0
        })
        .await
}
