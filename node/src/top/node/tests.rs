//! A node's look, on the smallest usual screen and on a large one.

use super::super::state::State;
use super::super::tests::lines;
use super::*;
use gridbay_protocol::keys::SecretKey;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A key, in hex.
fn key(seed: u8) -> String {
    SecretKey::from_seed(&[seed; 32]).public().to_hex()
}

/// Bytes of an id, in hex.
fn hex(byte: &str) -> String {
    byte.repeat(32)
}

fn status(troubles: &Value) -> NodeStatus {
    let status = json!({
        "state": "ready", "name": "alpha", "version": "0", "pid": 1, "started_ms": 0,
        "network": hex("01"), "network_name": "lab", "node": key(2), "account": hex("03"),
        "validator": hex("04"), "listen": [], "peers": 2, "height": 1234,
        "block_ms": 1_767_225_600_000u64, "round": 300, "slot": 61, "balance": "97.25",
        "held": "2.5", "units_offered": 4, "units_leased": 1, "jobs_hosted": 1, "jobs_open": 1,
        "troubles": troubles,
    });
    serde_json::from_value(status).unwrap()
}

fn peers() -> PeerList {
    let peer = |peer: &str, node: u8, name: &str, path: &str, score: i64| {
        json!({
            "peer": peer, "node": key(node), "name": name, "path": path, "via": null,
            "address": "/ip4/192.0.2.7/udp/7411/quic-v1", "rtt_us": 1_234, "score": score,
            "connections": 1, "kept": true, "mesh": true, "relays": false, "trusted": false,
        })
    };
    let me = json!({
        "peer": "12D3KooWme", "node": key(2), "reach": "public", "nat": "none",
        "external": [], "refuted": ["/ip4/198.51.100.9/tcp/7411"], "relays": [], "router": "off",
        "places_given": 0, "circuits": 0, "direct": 1, "relayed": 1, "blocked": [], "trusted": [],
    });
    let all = json!({ "me": me, "peers": [
        peer("12D3KooWbeta", 5, "beta", "quic", 0),
        peer("12D3KooWgamma", 6, "gamma", "relayed", -3),
    ]});
    serde_json::from_value(all).unwrap()
}

fn sellers() -> Vec<FoundNode> {
    let seller = |node: u8, price: &str| {
        json!({
            "node": key(node), "seller": hex("07"), "attributes": {"site": "lab.example"},
            "rtt_us": 900, "rtt_measured": false, "offers": [{
                "offer": hex("08"), "class": "small", "free": 3, "price": price, "buy": null,
                "mechanism": "ausubel", "firm": false,
            }],
        })
    };
    serde_json::from_value(json!([seller(5, "0.5"), seller(9, "0.75")])).unwrap()
}

fn prices() -> (Vec<ClassPrice>, Vec<AuctionSummary>) {
    let class = json!([{
        "class": "small", "id": hex("0a"), "vcpu": 1, "memory_mib": 512, "disk_mib": 1024,
        "gpu": 0, "units_offered": 8, "units_leased": 3, "reserve": "0.5", "buy": "2",
        "last": "1.25", "last_height": 1230, "waiting": 2,
    }]);
    let auction = |height: u64, price: Option<&str>| {
        json!({
            "id": hex("0b"), "kind": "boundary", "class": "small", "height": height, "slot": 60,
            "units": 8, "bids": 5, "winners": 3, "sold": 3, "paid": "0.1", "price": price,
        })
    };
    let auctions = json!([
        auction(1230, Some("1.25")),
        auction(1220, None),
        auction(1210, Some("0.5")),
        auction(1200, Some("2")),
    ]);
    let auctions = serde_json::from_value(auctions).unwrap();
    (serde_json::from_value(class).unwrap(), auctions)
}

fn offers() -> Vec<Offer> {
    let offers = json!([{
        "offer": hex("08"), "label": 1, "account": hex("03"), "own": true, "class": "small",
        "units": 4, "leased": 1, "reserve": "0.5", "buy": "2", "notice_seconds": null,
        "mechanism": "ausubel", "on_sale": true, "withdrawn": false, "held_back": false,
    }]);
    serde_json::from_value(offers).unwrap()
}

fn movements() -> Vec<Movement> {
    let moved = |height: u64, amount: &str, reason: &str| {
        json!({
            "height": height, "time_ms": 1_767_225_600_000u64 + height * 1_000, "amount": amount,
            "reason": reason, "other": "class small", "order": null,
        })
    };
    let all = json!([
        moved(1234, "0.25", "earning"),
        moved(1200, "-0.1", "lock"),
        moved(1190, "0.5", "earning"),
    ]);
    serde_json::from_value(all).unwrap()
}

fn answers(troubles: &Value) -> Answers {
    let (prices, auctions) = prices();
    let bid = json!([{
        "id": "0123456789abcdef", "name": "sum", "class": "small", "nodes": 2, "divisible": false,
        "state": "bidding", "max_price": "1.5", "budget": "6", "paid": "0", "amended": null,
    }]);
    let lease = json!([{
        "lease": hex("0c"), "part": "seller", "job": null, "name": null, "class": "small",
        "units": 1, "slot": 61, "paid": "0.05", "nodes": [
            {"node": key(2), "name": "alpha", "units": 1},
        ], "network": false, "setup": null,
    }]);
    Answers {
        node: status(troubles),
        peers: peers(),
        prices,
        auctions,
        offers: offers(),
        bids: serde_json::from_value(bid).unwrap(),
        leases: serde_json::from_value(lease).unwrap(),
        jobs: Vec::new(),
        movements: movements(),
    }
}

fn trouble() -> Value {
    json!([{
        "kind": "room", "since_ms": 1_767_225_600_000u64, "what": "the disk is nearly full",
        "hint": "free some space",
    }])
}

/// Each view of the node, under one another.
fn views(columns: u16, rows: u16) -> String {
    let mut state = State::new(columns, rows);
    state.saw(answers(&trouble()).look(&sellers()));
    let mut text = String::new();
    for _ in 0..state.look.sheets.len() {
        let shown = lines(&state);
        let last = shown.iter().rposition(|line| !line.is_empty()).unwrap();
        let blank = |at: usize| shown[at].is_empty() && shown[at + 1].is_empty();
        let seen = (0..=last).filter(|at| *at == last || !blank(*at));
        seen.for_each(|at| text += &format!("{}\n", shown[at]));
        let tab = KeyEvent::new(KeyCode::Tab, KeyModifiers::NONE);
        state.act(&Event::Key(tab));
    }
    text
}

/// The views as they are to be: a file beside this one.
fn wanted(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/top/node");
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn all_views_fit_the_smallest_usual_screen() {
    assert_eq!(views(80, 24), wanted("80x24.txt"));
}

#[test]
fn a_large_screen_shows_details_beside_the_list() {
    assert_eq!(views(200, 60), wanted("200x60.txt"));
}

#[test]
fn a_node_that_is_well_says_nothing_of_faults() {
    let mut answers = answers(&json!([]));
    answers.peers.me.refuted.clear();
    let look = answers.look(&[]);
    assert_eq!(look.head.len(), 3);
    let faults = look.sheets.last().unwrap();
    assert!(faults.rows.is_empty());
    assert_eq!(faults.none, "nothing is wrong");
}
