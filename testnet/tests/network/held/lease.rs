//! What `lease list`, `show` and `net` tell of a cluster's lease.

use super::Owner;
use crate::PATIENCE;
use gridbay_node::api::types::ClusterRecord;
use gridbay_testnet::network::Network;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

pub(super) fn told(owner: &Owner, cluster: &ClusterRecord) {
    let lease = cluster.lease.unwrap();
    let list = owner.said(&["lease", "list"]);
    let line = list.lines().find(|l| l.starts_with(&lease.to_string()));
    let line = line.unwrap_or_else(|| panic!("{lease} is not in {list}"));
    for word in ["buyer", "small", "4"] {
        assert!(line.split_whitespace().any(|w| w == word), "{word}: {line}");
    }
    let show = owner.said(&["lease", "show", &cluster.id.to_string()]);
    assert!(show.contains(&lease.to_hex()), "{show}");
    let nodes = show.lines().filter(|l| l.starts_with("node ")).count();
    let begin = Instant::now();
    // Members tell every ten seconds how they reach the others.
    while let Err(why) = all_told(&owner.said(&["lease", "net", &lease.to_hex()]), nodes) {
        assert!(begin.elapsed() < PATIENCE, "{why}");
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// Whether every pair of the nodes and the owner is there, each with all its figures.
fn all_told(net: &str, nodes: usize) -> Result<(), String> {
    let members = nodes + 1;
    let rows: Vec<Vec<&str>> = { net.lines().skip(1) }
        .map(|line| line.split_whitespace().collect())
        .filter(|row: &Vec<&str>| row.len() == 10)
        .collect();
    let pairs: BTreeSet<(&str, &str)> = rows.iter().map(|row| (row[0], row[1])).collect();
    // The owner's node asks the ranks whether they are there; they say nothing to one another.
    let talks = |row: &[&str]| row[..2].contains(&"owner");
    let figures = |row: &Vec<&str>| {
        let [
            _,
            _,
            path,
            round_trip,
            _,
            sent,
            received,
            loss,
            mtu,
            handshake,
        ] = row[..]
        else {
            return false;
        };
        let number = |text: &str| text.parse::<f64>().ok();
        path == "lan"
            && number(round_trip).is_some_and(|ms| ms > 0.0)
            && number(sent).is_some_and(|bytes| talks(row) == (bytes > 0.0))
            && number(received).is_some_and(|bytes| talks(row) == (bytes > 0.0))
            && number(loss).is_some_and(|percent| percent < 100.0)
            && number(mtu).is_some_and(|mtu| mtu >= 1_280.0)
            && number(handshake).is_some()
    };
    let complete = format!("complete: {members} nodes after ");
    let stands = net.lines().any(|line| line.starts_with(&complete));
    let all = pairs.len() == members * (members - 1) && rows.iter().all(figures);
    match stands && all {
        true => Ok(()),
        false => Err(format!("{members} members: {net}")),
    }
}

/// Waits until each of these nodes is in so many networks, as its metrics tell.
pub(super) async fn in_networks(network: &Network, nodes: &[&str], count: u32) {
    let (begin, line) = (Instant::now(), format!("gridbay_lease_networks {count}\n"));
    for node in nodes {
        loop {
            let metrics = network.node(node).client().metrics().await.unwrap();
            if metrics.contains(&line) {
                break;
            }
            assert!(begin.elapsed() < PATIENCE, "{node}: {metrics}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}
