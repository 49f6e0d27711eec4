//! All units of a class are held by a buy: another one is told so before it is sent, and why it
//! came to nothing if it was sent all the same.

use crate::gridbay;
use crate::served::Served;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::time::sleep;

const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a command until it says something.
async fn until(data: &Path, words: &[&str], says: &str) -> String {
    let begin = Instant::now();
    loop {
        let ran = gridbay(data, words).await;
        if ran.out.contains(says) {
            return ran.out;
        }
        let told = format!("{words:?}: {}{}", ran.out, ran.err);
        assert!(begin.elapsed() < PATIENCE, "{told}");
        sleep(Duration::from_millis(100)).await;
    }
}

const BUY: [&str; 7] = [
    "run", "--buy", "--class", "small", "--time", "20s", "--detach",
];

fn buy<'w>(options: &[&'w str], program: &[&'w str]) -> Vec<&'w str> {
    [&BUY[..], options, &["--"], program].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_buy_of_units_that_buys_hold_is_told_before_it_is_sent() {
    let at = Served::start(&[]).await;
    let data = at.world.dir.path();
    let set = "offer set --class small -n 2 --reserve 1 --buy 2";
    let set = gridbay(data, &set.split(' ').collect::<Vec<_>>()).await;
    assert_eq!(set.code, 0, "{}", set.err);
    until(data, &["offer", "list"], " open\n").await;
    let holds = gridbay(
        data,
        &buy(&["-n", "2", "--name", "holds"], &["sleep", "20"]),
    )
    .await;
    assert_eq!(holds.code, 0, "{}", holds.err);
    until(data, &["lease", "list"], "small").await;

    let would = gridbay(data, &buy(&["--dry-run"], &["true"])).await;
    let why = "it needs 1 node of small at once, and 0 can be had now";
    assert!(would.out.contains(why) && would.code == 1, "{}", would.out);
    let refused = gridbay(data, &buy(&[], &["true"])).await;
    assert!(
        refused.code == 4 && refused.err.contains(why),
        "{}",
        refused.err
    );
    assert!(refused.err.contains("--buy --wait"), "{}", refused.err);
    let waits = gridbay(data, &buy(&["--dry-run", "--wait", "1m"], &["true"])).await;
    assert_eq!(waits.code, 0, "{}{}", waits.out, waits.err);

    let cluster = "cluster new --buy --class small -n 1 --time 20s --dry-run";
    let cluster = gridbay(data, &cluster.split(' ').collect::<Vec<_>>()).await;
    assert!(
        cluster.out.contains(why) && cluster.code == 1,
        "{}",
        cluster.out
    );
    let none = gridbay(data, &["cluster", "list", "-q"]).await;
    assert_eq!(none.out, "", "nothing was sent");

    let late = buy(&["--anyway", "--name", "late"], &["true"]);
    let late = gridbay(data, &late).await;
    assert_eq!(late.code, 0, "{}", late.err);
    let told = until(data, &["job", "why", "late"], "expired").await;
    assert!(told.contains("too few were free"), "{told}");
    let row = told
        .lines()
        .find(|line| line.contains("units of class small"));
    assert!(row.is_some_and(|row| row.starts_with("no ")), "{told}");
    assert!(told.contains("--buy --wait"), "{told}");
    at.stop().await;
}
