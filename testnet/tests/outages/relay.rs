//! Whole nodes in a lab: buyer and seller are behind symmetric NATs, so their questions go through
//! a relay, which is killed while the job runs.
//!
//! It takes root, iproute2 and nftables; without them the test says that it was left out.

use super::common::{Lease, lab, peers, sell, start, until};
use gridbay_node::api::types::{Path, PeerRequest, Pinged};
use gridbay_testnet::lab::Lab;
use gridbay_testnet::network::{Network, Plan};
use std::time::{Duration, Instant};

/// Longest time until buyer and seller speak again, and until each has as many places as before.
const AGAIN: Duration = Duration::from_secs(20);
const SECONDS: u32 = 30;
/// Places at relays that a node keeps which cannot be dialled.
const PLACES: usize = 2;
const TOPOLOGY: &str = r#"
    [networks.street]
    kind = "open"
    hosts = ["p1", "p2", "p3", "p4"]
    [networks.home]
    kind = "symmetric"
    hosts = ["buyer"]
    [networks.office]
    kind = "symmetric"
    hosts = ["seller"]
"#;

fn plan(lab: &Lab) -> Plan {
    let mut plan = Plan::local("relay", 4, 2);
    plan.validators = vec![vec![]; 4];
    let hosts = ["p1", "p2", "p3", "p4", "buyer", "seller"];
    for (name, host) in ["v1", "v2", "v3", "v4", "b1", "b2"].into_iter().zip(hosts) {
        plan.seats.insert(name.to_owned(), lab.seat(host).unwrap());
    }
    plan
}

/// Relays at which a node has places, by peer id.
async fn places(network: &Network, name: &str) -> Vec<String> {
    let list = peers(network, name).await;
    list.map(|list| list.me.relays).unwrap_or_default()
}

/// Asks the seller something by the overlay.
async fn ping(network: &Network) -> Option<Pinged> {
    let seller = network.node("b2").status()?.node;
    let who = PeerRequest {
        who: seller.to_hex(),
    };
    let client = network.node("b1").client();
    client.post("/peers/ping", &who, None).await.ok()
}

/// Name of the validator with a peer id.
async fn named(network: &Network, peer: &str) -> &'static str {
    for name in ["v1", "v2", "v3", "v4"] {
        let list = peers(network, name).await;
        if list.is_some_and(|list| list.me.peer == peer) {
            return name;
        }
    }
    panic!("no validator is {peer}");
}

#[tokio::test]
async fn the_relay_of_a_running_lease_dies_and_another_takes_its_place() {
    let Some(lab) = lab('o', TOPOLOGY) else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let mut network = start(dir.path(), plan(&lab)).await;
    for name in ["b1", "b2"] {
        until("places at relays", async || {
            places(&network, name).await.len() == PLACES
        })
        .await;
    }
    sell(&network, "b2").await;
    let mut lease = Lease::begin(&network, "b1", &["b2"], SECONDS).await;

    let way = ping(&network).await.unwrap();
    assert_eq!(way.path, Path::Relayed, "{way:?}");
    let dead = way.via.unwrap();
    let relay = named(&network, &dead).await;
    assert!(lease.runs().await, "the relay dies under the lease");
    network.kill(relay).unwrap();
    let killed = Instant::now();
    until("buyer and seller to speak again", async || {
        let way = ping(&network).await;
        way.is_some_and(|way| way.via != Some(dead.clone()))
    })
    .await;
    let spoke = killed.elapsed();
    for name in ["b1", "b2"] {
        until("a place at another relay", async || {
            let places = places(&network, name).await;
            places.len() == PLACES && !places.contains(&dead)
        })
        .await;
    }
    let placed = killed.elapsed();
    println!("{relay} relayed: spoke again after {spoke:?}, all places again after {placed:?}");
    assert!(spoke.max(placed) < AGAIN, "{spoke:?} {placed:?}");
    lease.ends_well(SECONDS).await;
    drop(network);
    drop(lab);
}
