//! A solver on real processes: it is missed, then it finds an allocation that the rule does not,
//! and the ledger takes its hint.
//!
//! Two units are sold ahead. In each of two slots a small dense reservation keeps out a large one
//! of more worth. The rule puts each one first in turn, which helps in one of the slots; the best
//! is to book both large ones.

use crate::{PATIENCE, turn, until};
use gridbay_node::api::client::Client;
use gridbay_node::api::types::Relays;
use gridbay_node::api::types::{
    Ahead, AuctionProof, AuctionRecord, AuctionSummary, How, JobRecord, JobRequest, NodeStatus,
    Offer, OfferRequest, Start, Want,
};
use gridbay_node::trouble::Kind;
use gridbay_protocol::offer::Primary;
use gridbay_protocol::record::reservation::ReservationRecord;
use gridbay_testnet::Progress;
use gridbay_testnet::network::plan::{credits, offer};
use gridbay_testnet::network::{Network, Plan, RunFolder, cli};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Of four validators any may decide, so all have the solver.
const VALIDATORS: [&str; 4] = ["v1", "v2", "v3", "v4"];
const BUYERS: [&str; 4] = ["b1", "b2", "b3", "b4"];
/// Slots between now and the first start: far behind the decision.
const AHEAD_SLOTS: u64 = 16;
/// Slots between the two starts: more than a reservation is long.
const APART_SLOTS: u64 = 4;

/// Tries all choices of a programme with few columns. It reads and writes the same files as HiGHS.
const SOLVER: &str = r##"#!/bin/sh
exec awk '
/^Maximize/ { part = "value"; next }
/^Subject To/ { part = "rows"; next }
/^General/ { odd = 1; exit }
/^(Binary|End)/ { part = ""; next }
part == "value" && NF == 2 { value[n++] = $1; column[$2] = n - 1 }
part == "rows" && $1 == "<=" { most[row] = $2; next }
part == "rows" && $1 ~ /:$/ { row++; of[row, column[$3]] = $2; next }
part == "rows" { of[row, column[$2]] = $1 }
END {
    if (odd || n > 12) exit 1
    for (set = 0; set < 2 ^ n; set++) {
        sum = 0; split("", used)
        for (x = 0; x < n; x++) if (int(set / 2 ^ x) % 2) {
            sum += value[x]
            for (r = 1; r <= row; r++) used[r] += of[r, x]
        }
        fits = 1
        for (r in used) if (used[r] > most[r]) fits = 0
        if (fits && sum > best) { best = sum; found = set }
    }
    print "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective " best "\n# Columns " n
    for (x = 0; x < n; x++) print "x" x, int(found / 2 ^ x) % 2
    print "# Rows 0"
}' "$5" > solution.txt
"##;

/// The solvers that are missed.
async fn missed(network: &Network) -> BTreeSet<&'static str> {
    let mut missed = BTreeSet::new();
    for name in VALIDATORS {
        let status: NodeStatus = network.node(name).client().get("/node").await.unwrap();
        for trouble in &status.troubles {
            assert_eq!(trouble.kind, Kind::Solver, "{trouble:?}");
            assert!(trouble.what.contains("cannot be started"), "{trouble:?}");
            missed.insert(name);
        }
    }
    missed
}

/// There at once, as a whole.
fn install(program: &Path) {
    let part = program.with_extension("part");
    fs::write(&part, SOLVER).unwrap();
    fs::set_permissions(&part, fs::Permissions::from_mode(0o700)).unwrap();
    fs::rename(&part, program).unwrap();
}

async fn sell_ahead(network: &Network) {
    let request = OfferRequest {
        label: Some(10),
        mechanism: Primary::Reservation,
        ..offer("small", 2, credits(5), None)
    };
    let seller = network.node("v1").client();
    let _: Offer = seller.put("/offers", &request).await.unwrap();
}

fn reservation(nodes: u32, price: u64, start: u64) -> JobRequest {
    JobRequest {
        project: None,
        worth: None,
        name: Some("ahead".into()),
        want: Want {
            class: Some("small".into()),
            nodes,
            max_price: Some(credits(price)),
            seconds: 2,
            budget: None,
            how: How::Reservation(Ahead {
                groups: vec![],
                from: Start::Slot(start),
                until: Some(Start::Slot(start)),
                channels: None,
            }),
        },
        argv: vec!["true".into()],
        env: vec![],
        inputs: vec![],
        outputs: vec![],
        network: false,
        internet: false,
        relays: Relays::Free,
        checkpoint: None,
    }
}

async fn send(client: &Client, request: JobRequest) -> JobRecord {
    client.post("/jobs", &request, None).await.unwrap()
}

/// Sends all four, and sees them open in the ledger: nothing is sold yet, so they wait together,
/// however far apart their buyers were.
async fn order(network: &Network) -> [JobRecord; 4] {
    let [a, b, c, d] = BUYERS.map(|buyer| network.node(buyer).client());
    let calendar = network.genesis().policy.calendar;
    let status: NodeStatus = a.get("/node").await.unwrap();
    let first = calendar.slot(status.height) + AHEAD_SLOTS;
    let second = first + APART_SLOTS;
    let orders: [JobRecord; 4] = tokio::join!(
        send(a, reservation(1, 50, first)),
        send(b, reservation(2, 45, first)),
        send(c, reservation(1, 50, second)),
        send(d, reservation(2, 45, second)),
    )
    .into();
    for (client, order) in [a, b, c, d].into_iter().zip(&orders) {
        until("the bid's opening", async || {
            let job: JobRecord = client.get(&format!("/jobs/{}", order.id)).await.unwrap();
            job.opened_height
        })
        .await;
    }
    orders
}

/// The first decision with all four bids.
async fn decision(client: &Client) -> (String, ReservationRecord) {
    until("the decision", async || {
        let auctions: Vec<AuctionSummary> = client.get("/auctions?limit=200").await.unwrap();
        let all = auctions
            .into_iter()
            .find(|a| a.bids == 4 && a.winners > 0)?;
        let proof: AuctionProof = client.get(&format!("/auctions/{}", all.id)).await.unwrap();
        match proof.record {
            AuctionRecord::Reservation(record) => Some((all.id, record)),
            other => panic!("{other:?}"),
        }
    })
    .await
}

#[tokio::test]
async fn a_solver_that_works_again_betters_the_rule_and_the_ledger_says_so() {
    let _turn = turn().await;
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::create_in(dir.path(), "solver").unwrap();
    let program = dir.path().join("solver.sh");
    let mut plan = Plan::local("solver", VALIDATORS.len(), BUYERS.len());
    for name in VALIDATORS {
        let setting = format!("solver.program = \"{}\"\n", program.display());
        plan.more.insert(name.to_owned(), setting);
    }
    let binary = crate::program();
    let quiet = Progress::silent();
    let started = Network::start(binary, folder, plan, PATIENCE, &quiet);
    let network = started.await.unwrap();
    assert_eq!(missed(&network).await, BTreeSet::from(VALIDATORS));

    install(&program);
    let orders = order(&network).await;
    sell_ahead(&network).await;
    let witness = network.node("b1").client();
    let (id, record) = decision(witness).await;
    let won: BTreeSet<_> = record.booked.iter().map(|booked| booked.order).collect();
    let large = [&orders[1], &orders[3]].map(|job| job.id.clone());
    let mut expected = BTreeSet::new();
    for (buyer, id) in [("b2", &large[0]), ("b4", &large[1])] {
        let client = network.node(buyer).client();
        let job: JobRecord = client.get(&format!("/jobs/{id}")).await.unwrap();
        expected.insert(job.order.unwrap());
    }
    assert_eq!(won, expected, "{record:?}");
    let worth: u64 = record.booked.iter().map(|booked| booked.pay.micros()).sum();
    let beaten = record.beaten.expect("the decision says what it betters");
    assert!(beaten.micros() < worth, "{record:?}");

    // A stranger finds the same, and reads that it came by a hint.
    let home = network.node("b1").home.path();
    let say = async |verb| cli::run(network.program(), home, &["auction", verb, &id]).await;
    say("verify").await.unwrap();
    assert!(say("show").await.unwrap().contains(", by a hint: "));
    until("the solvers' recovery", async || {
        missed(&network).await.is_empty().then_some(())
    })
    .await;
}
