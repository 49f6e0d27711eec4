//! Lists in a terminal of 80 columns, with ids, names and amounts as long as they get.

use super::Terminal;
use crate::playing;
use axum::routing::get;
use axum::{Json, Router};
use gridbay_protocol::keys::SecretKey;
use serde_json::{Value, json};

const NAME: &str = "university-of-somewhere-else";
const PRICE: &str = "1234.567891";
const AMOUNT: &str = "123456.789123";

fn id() -> String {
    "0123456789abcdef".repeat(4)
}

fn key() -> String {
    SecretKey::from_seed(&[7; 32]).public().to_hex()
}

fn auction() -> Value {
    json!({
        "id": id(), "kind": "reservation", "class": NAME, "height": 12_345_678, "slot": 1_234_567,
        "units": 65_536, "bids": 1_024, "winners": 1_000, "sold": 65_000, "paid": AMOUNT,
        "price": PRICE,
    })
}

fn price() -> Value {
    json!({
        "class": "gpu-large-memory", "id": id(), "vcpu": 128, "memory_mib": 1_048_576,
        "disk_mib": 10_485_760, "gpu": 8, "units_offered": 65_536, "units_leased": 4,
        "reserve": PRICE, "buy": PRICE, "last": PRICE, "last_height": 900, "waiting": 1_000,
    })
}

fn job() -> Value {
    json!({
        "id": "0123456789abcdef", "order": id(), "name": NAME, "argv": ["x"], "class": NAME,
        "nodes": 4_096, "how": {"mechanism": "ausubel", "divisible": false}, "max_price": PRICE,
        "seconds": 7_200, "budget": AMOUNT, "state": "cancelled", "reason": "cancelled",
        "accepted_ms": 1_000, "committed_height": 2, "opened_height": 3, "won_height": 4,
        "lease": null, "sellers": [{"account": id(), "name": NAME, "node": key(), "ranks": [0]}],
        "running_ms": 4_000, "ended_ms": 360_000_000, "exits": [], "files": [], "paid": AMOUNT,
        "locked": "0", "price": PRICE, "preemptions": 1, "worth": null, "left_seconds": null,
    })
}

fn bid() -> Value {
    json!({
        "id": "0123456789abcdef", "name": NAME, "class": NAME, "nodes": 4_096, "divisible": true,
        "state": "requeued", "max_price": PRICE, "budget": AMOUNT, "paid": AMOUNT,
        "amended": PRICE,
    })
}

fn offer() -> Value {
    json!({
        "offer": id(), "label": 4_294_967_295_u32, "account": id(), "name": NAME, "own": false,
        "class": NAME, "units": 65_536, "leased": 65_536, "reserve": PRICE, "buy": PRICE,
        "notice_seconds": null, "mechanism": "reservation", "on_sale": true, "withdrawn": true,
        "held_back": false,
    })
}

fn lease() -> Value {
    json!({
        "lease": id(), "part": "buyer", "job": "0123456789abcdef", "name": NAME, "class": NAME,
        "units": 65_536, "slot": 9, "paid": AMOUNT, "nodes": [], "network": true,
        "setup": {"members": 4_096, "ms": 123_456},
    })
}

fn contract() -> Value {
    json!({
        "contract": id(), "class": NAME, "client": id(), "provider": id(), "role": "provider",
        "signed": true, "closed": false, "jobs": 1_000_000, "requested": 1_000_000,
        "completed": 1_000_000, "failed": 1_000_000, "served": 1, "job_seconds": 1,
        "value": AMOUNT, "penalty": AMOUNT, "hold_seconds": 1, "decay_seconds": 1,
        "alpha_ppm": 1, "beta16": 1, "first_slot": 1, "last_slot": 2, "stands_until": 3,
        "escrow": AMOUNT, "bond": AMOUNT, "earned": AMOUNT, "owed": AMOUNT,
    })
}

fn project() -> Value {
    json!({
        "name": NAME, "limits": {"budget": AMOUNT, "jobs": 100_000, "nodes": 100_000},
        "made_ms": 1, "since_ms": 1, "spent": AMOUNT, "reserved": AMOUNT, "jobs": 100_000,
        "nodes": 100_000, "members": [],
    })
}

/// Commands, what each asks for, and a line of the answer.
fn lists() -> Vec<(&'static [&'static str], &'static str, Value)> {
    vec![
        (&["auction", "list"], "/api/v1/auctions", auction()),
        (&["market", "prices"], "/api/v1/prices", price()),
        (&["job", "list", "--all"], "/api/v1/jobs", job()),
        (&["bid", "list"], "/api/v1/bids", bid()),
        (&["offer", "list"], "/api/v1/offers", offer()),
        (&["lease", "list"], "/api/v1/leases", lease()),
        (
            &["contract", "list", "--all"],
            "/api/v1/contracts",
            contract(),
        ),
        (&["project", "list"], "/api/v1/projects", project()),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_list_fits_the_terminal() {
    let mut played = Router::new();
    for (_, path, line) in lists() {
        let answer = json!([line]);
        played = played.route(path, get(async move || Json(answer)));
    }
    let at = playing(played).await;
    for (words, ..) in lists() {
        let text = Terminal::open(at.world.dir.path(), words).whole().await;
        assert_eq!(text.lines().count(), 2, "{words:?}: {text}");
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{words:?}: {text}");
        }
    }
    // An auction's id is shown as far as it tells auctions apart, and can be typed.
    let text = Terminal::open(at.world.dir.path(), &["auction", "list"])
        .whole()
        .await;
    assert!(text.contains("\n0123456789ab  "), "{text}");
    let text = Terminal::open(at.world.dir.path(), &["federation"])
        .whole()
        .await;
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    at.stop().await;
}
