//! What tests of the pages show: names and words of others are hostile throughout.

use super::clock::Clock;
use super::session::{Sessions, Who};
use super::shell::Frame;
use crate::api::scope::Scope;
use crate::api::types::{
    AuctionSummary, Balance, ClassPrice, FindReport, JobRecord, NodeStatus, Why,
};
use serde_json::json;
use std::time::Instant;

/// Text that would break out of text, an attribute or a tag.
pub(super) const HOSTILE: &str = "<script>alert(\"1\")</script>'&";

/// A session.
pub(super) fn who(scope: Scope) -> Who {
    let (sessions, now) = (Sessions::default(), Instant::now());
    let (link, host) = sessions.link(scope, [1; 32], now);
    let secret = sessions.enter(&link, &host, [2; 32], now).unwrap();
    sessions.who(&secret, &host, now).unwrap()
}

/// A frame around a page.
pub(super) fn frame() -> Frame {
    let id = "11".repeat(32);
    let status: NodeStatus = serde_json::from_value(json!({
        "state": "ready", "name": HOSTILE, "version": "0", "pid": 1, "started_ms": 1,
        "network": id, "network_name": HOSTILE, "node": key(), "account": id,
        "validator": null, "listen": [], "peers": 3, "height": 1_000, "block_ms": 1,
        "round": 2, "slot": 3, "balance": "12.5", "held": "1", "units_offered": 4,
        "units_leased": 1, "jobs_hosted": 1, "jobs_open": 2,
        "troubles": [{"kind": "disk", "since_ms": 0, "what": HOSTILE, "hint": HOSTILE}],
    }))
    .unwrap();
    let clock = Clock {
        slot: 3,
        left_ms: 42_000,
        slot_ms: 60_000,
        height_ms: 1_000,
    };
    Frame {
        status,
        clock: Some(clock),
    }
}

fn key() -> String {
    gridbay_protocol::keys::SecretKey::from_seed(&[7; 32])
        .public()
        .to_hex()
}

/// A job that ended.
pub(crate) fn job() -> JobRecord {
    let id = "22".repeat(32);
    serde_json::from_value(json!({
        "id": "0123456789abcdef", "order": id, "name": HOSTILE, "argv": ["./x", HOSTILE],
        "class": HOSTILE, "nodes": 2, "how": {"mechanism": "ausubel", "divisible": false},
        "max_price": "5", "seconds": 7_200, "budget": "20", "state": "failed",
        "reason": "exit_code", "accepted_ms": 1_000, "committed_height": 2,
        "opened_height": 3, "won_height": 4, "lease": null,
        "sellers": [{"account": id, "name": HOSTILE, "node": key(), "ranks": [0, 1]}],
        "running_ms": 4_000, "ended_ms": 9_000,
        "exits": [{"rank": 0, "exit": {"code": 2}, "dropped": 4_096}],
        "files": [{"rank": 0, "path": HOSTILE, "bytes": 2_048}],
        "paid": "1.5", "locked": "0", "price": "3", "preemptions": 1, "worth": null,
        "left_seconds": null,
        "attempts": [{
            "rank": 0, "attempt": 0, "node": key(), "seller": HOSTILE, "started_ms": 5_000,
            "ended_ms": 6_000, "end": HOSTILE, "resumed": null, "lost_seconds": 3,
        }],
    }))
    .unwrap()
}

/// Why it ended.
pub(super) fn why() -> Why {
    serde_json::from_value(json!({
        "id": "0123456789abcdef", "state": "failed", "reason": "exit_code", "refusal": null,
        "summary": HOSTILE,
        "checks": [{"condition": "Price per node-hour", "met": true, "figures": "bid 5, margin 3"}],
        "remedies": [HOSTILE],
    }))
    .unwrap()
}

/// So many nodes that fit a query.
pub(super) fn found(nodes: usize) -> FindReport {
    let node = json!({
        "node": key(), "seller": "33".repeat(32), "attributes": {"site": HOSTILE},
        "rtt_us": 12_300, "rtt_measured": false,
        "offers": [{
            "offer": "44".repeat(32), "class": HOSTILE, "free": 3, "price": "2", "buy": "5",
            "mechanism": HOSTILE, "firm": false,
        }],
    });
    let step = json!({
        "condition": HOSTILE, "left": 1, "alone": 2, "unknown": 3, "nearest": HOSTILE,
    });
    serde_json::from_value(json!({
        "query": HOSTILE, "known": nodes + 1, "fitting": nodes, "nodes": vec![node; nodes],
        "asked": 1, "learnt": 1, "steps": [step], "group": {
            "wanted": HOSTILE, "found": false, "siteless": 0, "candidates": 1, "sites": 1,
            "pairs": 1, "near_pairs": 0, "unknown_pairs": 1, "gave_up": true, "longest_us": null,
        },
    }))
    .unwrap()
}

/// Prices of a class.
pub(super) fn price(class: &str) -> ClassPrice {
    serde_json::from_value(json!({
        "class": class, "id": "55".repeat(32), "vcpu": 2, "memory_mib": 4_096,
        "disk_mib": 10_240, "gpu": 0, "units_offered": 9, "units_leased": 4, "reserve": "1",
        "buy": "5", "last": "2", "last_height": 900, "waiting": 3,
    }))
    .unwrap()
}

/// The line of an auction.
pub(super) fn auction(kind: &str, height: u64, sold: u32, price: Option<&str>) -> AuctionSummary {
    serde_json::from_value(json!({
        "id": "0a".repeat(32), "kind": kind, "class": HOSTILE, "height": height, "slot": 1,
        "units": 9, "bids": 1, "winners": 1, "sold": sold, "paid": "1", "price": price,
    }))
    .unwrap()
}

/// A balance.
pub(super) fn balance() -> Balance {
    serde_json::from_value(json!({
        "account": "11".repeat(32), "balance": "12.5", "held": "1", "staked": "2",
        "retained": "3", "in_use": "4", "arrears": "0", "credit_line": "5", "height": 1_000,
        "entries": {"spent": 1, "budget": 9, "spent_bytes": 100, "budget_bytes": 1_000},
    }))
    .unwrap()
}
