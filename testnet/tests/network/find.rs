//! `gridbay market find` between real processes: nodes known here, those that a late joiner has
//! caught up with, and a seller that is found in the DHT because its advert went by.

use crate::{program, turn};
use gridbay_node::api::types::{
    FindReport, FoundNode, Offer, PeerList, TransferRequest, Transferred,
};
use gridbay_testnet::Progress;
use gridbay_testnet::network::cli::run;
use gridbay_testnet::network::plan::{Plan, credits, offer};
use gridbay_testnet::network::{Network, RunFolder, Seat};
use nix::sys::signal::Signal;
use std::time::{Duration, Instant};

/// Bound on each wait; none of them is a measurement.
const PATIENCE: Duration = Duration::from_secs(40);
/// Bound on the wait until a node that stands still is given up: twice what the overlay's silence
/// of local networks takes (`Tuning::local`).
const GIVEN_UP: Duration = Duration::from_secs(120);
/// How long peers announce an advert that they heard, four beats of gossip's heart in a local
/// network, and one more; a peer that connects later is not told of it.
const ANNOUNCED: Duration = Duration::from_secs(15);

/// A loopback address of its own for each node, by QUIC alone: a TCP connection would keep for a
/// stopped node what is said while it stands still.
fn seat(host: u8) -> Seat {
    let [.., a, b] = std::process::id().to_be_bytes();
    let address = format!("/ip4/127.{}.{b}.{host}/udp/7411/quic-v1", a % 127 + 1);
    Seat {
        namespace: None,
        listen: vec![address.clone()],
        reached: vec![address],
    }
}

/// Four sellers, of which the last names no site, a buyer, and a newcomer's place.
fn plan() -> Plan {
    let mut plan = Plan::local("find", 4, 1);
    for (name, host) in ["v1", "v2", "v3", "v4", "b1", "b2"].into_iter().zip(1..) {
        plan.seats.insert(name.to_owned(), seat(host));
    }
    for (name, site) in [
        ("v1", "cs.a.edu"),
        ("v2", "math.a.edu"),
        ("v3", "b.edu"),
        ("b2", "late.edu"),
    ] {
        let line = format!("attributes.site = \"{site}\"\n");
        plan.more.insert(name.to_owned(), line);
    }
    plan
}

/// The output of the command.
async fn find(network: &Network, at: &str, query: &str) -> anyhow::Result<FindReport> {
    let words = ["-o", "json", "market", "find", query];
    let data = network.node(at).home.path();
    let printed = run(network.program(), data, &words).await?;
    Ok(serde_json::from_str(&printed)?)
}

/// Asks until the query fits so many nodes. A query that nothing fits fails as a command.
async fn until_found(network: &Network, at: &str, query: &str, wanted: usize) -> FindReport {
    let end = Instant::now() + PATIENCE;
    loop {
        let found = find(network, at, query).await;
        match &found {
            Ok(report) if report.nodes.len() == wanted => return found.unwrap(),
            _ if Instant::now() < end => tokio::time::sleep(Duration::from_millis(100)).await,
            _ => panic!("{query} at {at}: {found:?}"),
        }
    }
}

async fn until(what: &str, patience: Duration, mut met: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + patience;
    while !met().await {
        assert!(Instant::now() < end, "{what} took too long");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn names(network: &Network, nodes: &[FoundNode]) -> Vec<String> {
    let name = |found: &FoundNode| {
        let is_it = |status: &_| *status == found.node;
        let mut all = network.nodes().iter();
        let node = all.find(|n| n.status().map(|s| s.node).as_ref().is_some_and(is_it));
        node.unwrap().name.clone()
    };
    nodes.iter().map(name).collect()
}

async fn what_is_known_is_answered_from_here(network: &Network) {
    let report = until_found(network, "b1", "site == \"*.a.edu\"", 2).await;
    assert_eq!(names(network, &report.nodes), ["v1", "v2"], "by price");
    assert_eq!((report.asked, report.known), (0, 4));
    let query = "site != \"*.a.edu\" && cpu >= 2 sort by price desc";
    let report = find(network, "b1", query).await.unwrap();
    assert_eq!(names(network, &report.nodes), ["v3"], "v4 does not say");
    let offered = &report.nodes[0].offers;
    assert_eq!(offered.len(), 1);
    assert_eq!((offered[0].class.as_str(), offered[0].free), ("large", 1));
    assert_eq!(offered[0].price, credits(14));
    let nothing = find(network, "b1", "cpu >= 64").await.unwrap_err();
    assert!(nothing.to_string().contains("exit status: 4"), "{nothing}");
}

/// A counter of a node's discovery.
async fn counted(network: &Network, at: &str, kind: &str) -> u64 {
    let metrics = network.node(at).client().metrics().await.unwrap();
    let name = format!("gridbay_discovery_events_total{{kind=\"{kind}\"}} ");
    let line = metrics.lines().find_map(|line| line.strip_prefix(&name));
    line.unwrap().trim().parse().unwrap()
}

async fn a_late_joiner_catches_up(network: &mut Network) {
    network.join("v1", "b2", PATIENCE).await.unwrap();
    let report = until_found(network, "b2", "cpu >= 2", 4).await;
    assert_eq!(names(network, &report.nodes), ["v1", "v2", "v3", "v4"]);
    assert!(counted(network, "b2", "learnt").await > 0, "by asking");
}

async fn knows(network: &Network, at: &str, other: &str) -> bool {
    let peers: PeerList = network.node(at).client().get("/peers").await.unwrap();
    let other = network.node(other).status().map(|status| status.node);
    peers.peers.iter().any(|peer| peer.node == other)
}

/// Peers that a node looks for: validators, by the plan.
async fn kept(network: &Network, at: &str) -> usize {
    let peers: PeerList = network.node(at).client().get("/peers").await.unwrap();
    peers.peers.iter().filter(|peer| peer.kept).count()
}

/// `b1` keeps two validators, long after it joined, and all for its payment.
async fn a_member_keeps_few_validators(network: &Network) {
    let few = async || kept(network, "b1").await == 2;
    until("two validators are kept", PATIENCE, few).await;
    let seller = network.node("v1").status().unwrap().account.unwrap();
    let request = TransferRequest {
        to: seller,
        amount: credits(1),
        memo: None,
    };
    let client = network.node("b1").client();
    let paid: Result<Transferred, _> = client
        .post("/ledger/transfer", &request, Some("to-a-seller"))
        .await;
    paid.unwrap();
    let all = async || kept(network, "b1").await == 4;
    until("all validators are kept", PATIENCE, all).await;
}

/// `b1` stands still while `b2` says that it sells, and until nobody announces that any more.
async fn an_advert_that_went_by_is_sought(network: &Network) {
    let sleeper = network.node("b1").process().unwrap().clone();
    let asked = counted(network, "b1", "asked").await;
    let learnt = counted(network, "b1", "learnt").await;
    assert!(sleeper.signal(Signal::SIGSTOP));
    until("nobody hears b1", GIVEN_UP, async || {
        let mut heard = false;
        for node in ["v1", "v2", "v3", "v4", "b2"] {
            heard |= knows(network, node, "b1").await;
        }
        !heard
    })
    .await;
    let request = offer("small", 3, credits(2), None);
    let client = network.node("b2").client();
    let _: Offer = client.put("/offers", &request).await.unwrap();
    let query = "site == \"late.edu\"";
    until_found(network, "v1", query, 1).await;
    tokio::time::sleep(ANNOUNCED).await;

    assert!(sleeper.signal(Signal::SIGCONT));
    let report = until_found(network, "b1", query, 1).await;
    assert_eq!(names(network, &report.nodes), ["b2"]);
    // By the first of the questions, maybe before its ledger knew of the offer.
    assert_eq!(counted(network, "b1", "asked").await, asked + 1);
    assert_eq!(counted(network, "b1", "learnt").await, learnt + 1);
    let offered = &report.nodes[0].offers[0];
    assert_eq!((offered.free, offered.price), (3, credits(2)));
    let again = find(network, "b1", query).await.unwrap();
    assert_eq!((again.nodes.len(), again.asked), (1, 0), "it is known now");
}

#[tokio::test]
async fn sellers_are_found_here_after_joining_late_and_in_the_dht() {
    let _turn = turn().await;
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::create_in(dir.path(), "find").unwrap();
    let quiet = Progress::silent();
    let started = Network::start(program(), folder, plan(), PATIENCE, &quiet);
    let mut network = started.await.unwrap();
    what_is_known_is_answered_from_here(&network).await;
    a_late_joiner_catches_up(&mut network).await;
    an_advert_that_went_by_is_sought(&network).await;
    a_member_keeps_few_validators(&network).await;
}
