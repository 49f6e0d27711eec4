//! Figures of the overlay on loopback, printed with `--nocapture`: how long a mesh takes to form
//! and how long messages travel. Asserts only that everything arrives.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]
#![allow(clippy::print_stdout, reason = "figures are what it is for")]

use std::time::{Duration, Instant};

use crate::net::{Node, QUIC, TCP, config, connect, converge, start_nodes};
use gridbay_node::overlay::{Count, Line, Verdict};

const ROUNDS: u32 = 50;

fn quantiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |q: usize| times[(times.len() - 1) * q / 100];
    format!("p50 {:?} p95 {:?} max {:?}", at(50), at(95), at(100))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mesh_formation_and_latency() {
    for n in [4, 13] {
        let begin = Instant::now();
        let nodes = start_nodes(n, 100 + n).await;
        println!(
            "{n} nodes, QUIC and TCP, one bootstrap: started after {:?}",
            begin.elapsed()
        );
        connect(&nodes).await;
        println!("  all reach all after {:?}", begin.elapsed());
        converge(&nodes).await;
        println!(
            "  meshed (as seen each half second) after {:?}",
            begin.elapsed()
        );
        let sum = |kind| {
            nodes
                .iter()
                .map(|n| n.handle.stats().get(kind))
                .sum::<u64>()
        };
        for kind in [
            Count::Connections,
            Count::DialsFailed,
            Count::InboundFailed,
            Count::Lookups,
        ] {
            println!("  {}: {} in total", kind.name(), sum(kind));
        }
        println!("  publish to all: {}", quantiles(publish(&nodes).await));
        println!("  send_all to all: {}", quantiles(send(&nodes).await));
        println!("  request: {}", quantiles(request(&nodes).await));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn latency_per_transport_and_restart() {
    for listen in [QUIC, TCP] {
        let mut nodes: Vec<Node> = Vec::new();
        for i in 0..4 {
            let mut config = config(120, i, &[listen]);
            config.bootstrap = nodes.iter().map(Node::contact).collect();
            nodes.push(Node::start(config).await);
        }
        converge(&nodes).await;
        println!("4 nodes on {listen}");
        println!("  publish to all: {}", quantiles(publish(&nodes).await));
        println!("  send_all to all: {}", quantiles(send(&nodes).await));
        println!("  request: {}", quantiles(request(&nodes).await));
        let old = nodes.remove(0);
        let mut again = config(120, 0, &[listen]);
        again.listen = old.handle.addresses().to_vec();
        let begin = Instant::now();
        old.handle.shutdown().await;
        println!("  shutdown: {:?}", begin.elapsed());
        let begin = Instant::now();
        nodes.push(Node::start(again).await);
        connect(&nodes).await;
        println!(
            "  restarted without bootstrap, all reach all after {:?}",
            begin.elapsed()
        );
    }
}

/// Time until the last of all others has a published message.
async fn publish(nodes: &[Node]) -> Vec<Duration> {
    let mut times = Vec::new();
    for i in 0..ROUNDS {
        let begin = Instant::now();
        nodes[0]
            .handle
            .publish("entries", vec![i as u8; 200 + i as usize])
            .unwrap();
        for node in &nodes[1..] {
            let message = node.message().await;
            assert_eq!(message.bytes.len(), 200 + i as usize);
            node.handle.report(message.id, Verdict::Accept).unwrap();
        }
        times.push(begin.elapsed());
    }
    times
}

/// Time until the last of all others has a one-way message.
async fn send(nodes: &[Node]) -> Vec<Duration> {
    let others: Vec<_> = nodes[1..].iter().map(Node::peer).collect();
    let mut times = Vec::new();
    for i in 0..ROUNDS {
        let begin = Instant::now();
        nodes[0]
            .handle
            .send_all(others.clone(), Line::Votes, vec![i as u8; 200])
            .unwrap();
        for node in &nodes[1..] {
            assert_eq!(node.direct().await.1, vec![i as u8; 200]);
        }
        times.push(begin.elapsed());
    }
    times
}

/// Time of a request and its answer.
async fn request(nodes: &[Node]) -> Vec<Duration> {
    let mut times = Vec::new();
    for i in 0..ROUNDS {
        let begin = Instant::now();
        let asked = nodes[0]
            .handle
            .request(nodes[1].peer(), vec![i as u8], Duration::from_secs(9));
        let (answer, ()) = tokio::join!(asked, async {
            let (_, id, bytes) = nodes[1].request().await;
            nodes[1].handle.respond(id, bytes).unwrap();
        });
        assert_eq!(answer.unwrap(), vec![i as u8]);
        times.push(begin.elapsed());
    }
    times
}
