//! What `run` says before anything runs: while its job waits, and instead of sending it.

use crate::played::{Jobs, stalled};
use crate::served::Served;
use crate::terminal::Terminal;
use crate::world::credits;
use crate::{command, gridbay, playing, playing_jobs};
use gridbay_node::api::types::OfferRequest;
use gridbay_protocol::offer::Primary;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::time::{sleep, timeout};

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
        assert!(
            begin.elapsed() < PATIENCE,
            "it is on sale from the next round on"
        );
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

#[tokio::test]
async fn a_network_that_stands_still_is_told_and_one_interrupt_ends_the_wait() {
    let jobs = Arc::new(Jobs {
        stuck: true,
        ..Jobs::default()
    });
    let at = playing(jobs.routes().merge(stalled())).await;
    let data = at.world.dir.path();
    let told = "no block for 42 s: validators b, c do not answer (3 of 4 needed, 2 answer)";
    let words = ["run", "--max-price", "10", "--", "true"];
    let mut run = command(data, &words)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(run.stderr.take().unwrap()).lines();
    let mut line = async || timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap();
    while !line().await.expect("it is told").contains(told) {}
    let pid = i32::try_from(run.id().unwrap()).unwrap();
    kill(Pid::from_raw(pid), Signal::SIGINT).unwrap();
    let mut last = String::new();
    while let Some(line) = line().await {
        last += &line;
    }
    assert_eq!(run.wait().await.unwrap().code(), Some(130), "{last}");
    for part in [
        told,
        "left before the job ended",
        "its order is cancelled as soon as",
    ] {
        assert!(last.contains(part), "{part}: {last}");
    }
    let status = gridbay(data, &["node", "status"]).await;
    assert!(status.out.contains(told), "{}", status.out);
    let id = jobs.sent.lock().unwrap()[0].0.id.to_string();
    let why = gridbay(data, &["job", "why", &id]).await;
    assert!(why.out.contains(told), "{}", why.out);
    at.stop().await;
}

#[tokio::test]
async fn a_dry_run_says_whose_program_would_run_and_sends_nothing() {
    let (at, jobs) = playing_jobs(Jobs::default()).await;
    let data = at.world.dir.path();
    let ran = gridbay(data, &["run", "--dry-run", "--", "true"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told = "per node-hour; true is the seller's program\n";
    assert!(ran.out.contains(told), "{}", ran.out);
    let ran = gridbay(data, &["run", "--dry-run", "-o", "json", "--", "true"]).await;
    assert_eq!(
        ran.json()["sends"]["program"],
        "true is the seller's program"
    );
    assert!(jobs.sent.lock().unwrap().is_empty());
    at.stop().await;
}
