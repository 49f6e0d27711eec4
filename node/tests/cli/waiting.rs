//! What `run` says on a terminal while its job waits.

use crate::served::Served;
use crate::terminal::Terminal;
use crate::world::credits;
use gridbay_node::api::types::OfferRequest;
use gridbay_protocol::offer::Primary;
use nix::sys::signal::Signal;
use std::time::{Duration, Instant};
use tokio::time::sleep;

const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_bid_that_waits_is_told_price_and_time_in_eighty_columns() {
    let at = Served::start(&[]).await;
    let request = OfferRequest {
        label: None,
        class: "small".into(),
        units: 4,
        reserve: credits("12"),
        buy: None,
        notice_seconds: None,
        mechanism: Primary::Ausubel,
    };
    let backend = &at.world.backend;
    backend.set_offer(request).await.unwrap();
    let begin = Instant::now();
    while !backend.offers().await.unwrap()[0].on_sale {
        assert!(begin.elapsed() < PATIENCE, "it is on sale from the next round on");
        sleep(Duration::from_millis(50)).await;
    }
    let words = ["run", "--max-price", "10", "--anyway", "--", "true"];
    let terminal = Terminal::open(at.world.dir.path(), &words);
    let told = "Sellers ask 12 per node-hour, and it bids 10; closes in ";
    terminal.shows(told).await;
    // The line changes in its place, and what would help is on it too.
    terminal.shows("\r\x1b[KSellers ask 12").await;
    terminal.shows(" s; bid amend").await;
    terminal.signals(Signal::SIGINT);
    terminal.shows("ending the job").await;
    drop(terminal);
    at.stop().await;
}
