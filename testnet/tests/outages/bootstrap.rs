//! The only node whose address in the genesis is still right dies for good. Nobody can join by it
//! any more; nodes that were there stay, and find the others again by the addresses that they
//! remember.

use super::AGAIN;
use super::common::{Lease, PATIENCE, meshed, sell, start, until};
use gridbay_testnet::network::plan::Plan;
use gridbay_testnet::network::{Network, Seat};
use std::fs;

const SECONDS: u32 = 30;
/// Hosts that nodes move to are so far from those where they were.
const FAR: u8 = 100;

/// A loopback address of its own.
fn host(host: u8) -> String {
    let [.., a, b] = std::process::id().to_be_bytes();
    format!("127.{}.{b}.{host}", a % 127 + 1)
}

fn seat(place: u8) -> Seat {
    let ip = host(place);
    let listen = vec![
        format!("/ip4/{ip}/udp/7412/quic-v1"),
        format!("/ip4/{ip}/tcp/7412"),
    ];
    Seat {
        namespace: None,
        reached: listen.clone(),
        listen,
    }
}

/// Moves a node that is down to another address.
fn readdress(network: &Network, name: &str, place: u8) {
    let file = network.node(name).home.config_file();
    let text = fs::read_to_string(&file).unwrap();
    let (old, new) = (
        format!("{}/", host(place)),
        format!("{}/", host(place + FAR)),
    );
    assert_eq!(text.matches(&old).count(), 2, "{text}");
    fs::write(&file, text.replace(&old, &new)).unwrap();
}

async fn moved(network: &mut Network, name: &str, place: u8) {
    network.kill(name).unwrap();
    readdress(network, name, place);
    network.restart(name).unwrap();
    network.ready(name, PATIENCE).await.unwrap();
}

#[tokio::test]
async fn the_bootstrap_node_dies_for_good_and_a_member_comes_back_by_those_it_met() {
    let dir = tempfile::tempdir().unwrap();
    let mut plan = Plan::local("boot", 4, 0);
    plan.validators = vec![vec![]; 4];
    for (name, place) in ["v1", "v2", "v3", "v4", "b1", "b2"].into_iter().zip(1..) {
        plan.seats.insert(name.to_owned(), seat(place));
    }
    let mut network = start(dir.path(), plan).await;
    for (name, place) in [("v2", 2), ("v3", 3), ("v4", 4)] {
        moved(&mut network, name, place).await;
        meshed(&network, &["v1", "v2", "v3", "v4"]).await;
    }
    // Both know v1's address only, and all others by way of it.
    for name in ["b1", "b2"] {
        network.join("v1", name, PATIENCE).await.unwrap();
    }
    meshed(&network, &["v1", "v2", "v3", "v4", "b1", "b2"]).await;
    sell(&network, "b2").await;
    let mut lease = Lease::begin(&network, "b1", &["b2"], SECONDS).await;
    let met = network.node("b1").home.peers();
    until("b1 to write down whom it met", async || {
        let text = fs::read_to_string(&met).unwrap_or_default();
        [2, 3, 4]
            .iter()
            .all(|place| text.contains(&format!("{}/", host(place + FAR))))
    })
    .await;

    assert!(lease.runs().await, "v1 dies under the lease");
    network.kill("v1").unwrap();
    let rest = ["v2", "v3", "v4", "b1", "b2"];
    let took = meshed(&network, &rest).await;
    assert!(took < AGAIN, "without v1: {took:?}");
    assert!(lease.runs().await, "the buyer goes under the lease");
    // It moves as well, so that nobody comes to fetch it.
    moved(&mut network, "b1", 5).await;
    let took = meshed(&network, &rest).await;
    println!("b1 meshed again {took:?} after it was ready");
    assert!(took < AGAIN, "b1: {took:?}");
    lease.ends_well(SECONDS).await;
}
