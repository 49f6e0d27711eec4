//! A client that shares no code with nodes takes part as a stranger: it dials, identifies, pings,
//! reads adverts, asks the DHT. Then each of its attacks runs for a moment, and the node goes on.
//!
//! Needs Node.js and `npm ci --prefix testnet/foreign`, which `.ci/run foreign` does; without them
//! it says so and checks nothing.

#![allow(clippy::unwrap_used, reason = "helpers of a test fail like the test")]
#![allow(clippy::print_stderr, reason = "what is missing is told to people")]

use gridbay_core::agent::{AgentReply, AgentRequest};
use gridbay_node::api::types::NodeStatus;
use gridbay_protocol::codec;
use gridbay_testnet::Progress;
use gridbay_testnet::foreign::{Foreign, Target};
use gridbay_testnet::network::{Network, Plan, RunFolder};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Bound on each wait; none of them is a measurement.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long each attack goes on: longer than a node takes to ban, or to hang up on who is idle.
const ATTACK: Duration = Duration::from_secs(10);
/// Memory that a node may take for an attack, MiB.
const MEMORY_MIB: f64 = 64.0;

async fn status(network: &Network, name: &str) -> NodeStatus {
    let asked = network.node(name).client().get("/node");
    tokio::time::timeout(PATIENCE, asked)
        .await
        .unwrap()
        .unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let pairs = (0..text.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

async fn target(network: &Network, name: &str) -> Target {
    let listen = status(network, name).await.listen;
    let tcp = listen.iter().find(|address| address.contains("/tcp/"));
    let peers: serde_json::Value = network.node(name).client().get("/peers").await.unwrap();
    let peer = peers["me"]["peer"].as_str().unwrap();
    let address = tcp.unwrap().split("/p2p/").next().unwrap();
    Target {
        network: network.genesis().network().to_hex(),
        address: format!("{address}/p2p/{peer}"),
        api: network.node(name).home.socket(),
    }
}

async fn takes_part(foreign: &Foreign, network: &Network) {
    let target = target(network, "v1").await;
    let request = hex(&codec::encode(&AgentRequest::Adverts(None)));
    let end = Instant::now() + PATIENCE;
    loop {
        let met = foreign.meet(&target, &request).await.unwrap();
        assert!(met.stays, "it is not dropped: {met:?}");
        assert!(target.address.ends_with(&met.peer) && met.ping_ms >= 0.0);
        let id = &target.network[..32];
        assert_eq!(met.protocol_version, format!("/gridbay/{id}/1"));
        assert!(met.protocols.contains(&format!("/gridbay/{id}/kad/1")));
        let reply: AgentReply = codec::decode(&unhex(&met.answer), 8 << 20).unwrap();
        let AgentReply::Adverts(adverts) = reply else {
            panic!("adverts were asked for: {reply:?}")
        };
        // A node's knowledge of others, and the routing tables, grow from the start on.
        if adverts.len() >= 3 && met.dht.peers >= 3 {
            assert!(met.dht.addresses.len() >= met.dht.peers, "{:?}", met.dht);
            return;
        }
        assert!(
            Instant::now() < end,
            "{} adverts, {:?}",
            adverts.len(),
            met.dht
        );
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// Resident memory of a node, MiB.
fn resident_mib(network: &Network, name: &str) -> f64 {
    let pid = network.node(name).process().unwrap().pid;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap() / 1024.0
}

async fn survives(foreign: &Foreign, network: &Network, attack: &str) {
    let target = target(network, "v1").await;
    let before = status(network, "v1").await.height;
    let resident = resident_mib(network, "v1");
    let siege = foreign.attack(attack, &target).unwrap();
    let (begin, mut grown) = (Instant::now(), 0.0f64);
    while begin.elapsed() < ATTACK {
        tokio::time::sleep(Duration::from_millis(200)).await;
        grown = grown.max(resident_mib(network, "v1") - resident);
    }
    let during = status(network, "v1").await;
    let report = siege.end().await.unwrap();
    assert!(
        report.identities > 0 && report.done > 0,
        "{attack}: {report:?}"
    );
    assert!(grown <= MEMORY_MIB, "{attack}: {grown} MiB grown");
    let end = Instant::now() + PATIENCE;
    while status(network, "v1").await.height <= before.max(during.height) {
        assert!(Instant::now() < end, "{attack}: blocks stand still");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_client_takes_part_and_cannot_stop_a_node() {
    let foreign = match Foreign::find().await {
        Ok(foreign) => foreign,
        Err(missing) => {
            eprintln!("NOT CHECKED: no foreign client: {missing}");
            return;
        }
    };
    let program = PathBuf::from(env!("CARGO_BIN_EXE_gridbay-testnet"));
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::create_in(dir.path(), "foreign").unwrap();
    let plan = Plan::local("foreign", 4, 0);
    let mut network = Network::start(program, folder, plan, PATIENCE, &Progress::new())
        .await
        .unwrap();
    takes_part(&foreign, &network).await;
    for attack in foreign.attacks().await.unwrap() {
        survives(&foreign, &network, &attack).await;
    }
    network.stop().unwrap();
}
