//! Two nodes' networks on loopback, as the core tells them: keys, members, ends.

use super::*;
use gridbay_protocol::keys::SecretKey;
use std::time::{Duration, Instant};

const LEASE: LeaseId = LeaseId([7; 32]);
const HERE: [std::net::IpAddr; 1] = [std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST)];

fn clusters() -> Clusters {
    Clusters::new(NetworkId([1; 32]), 0)
}

fn cluster(ranks: &[u32], others: Vec<Member>) -> Cluster {
    Cluster {
        lease: LEASE,
        secret: [5; 32],
        ranks: ranks.to_vec(),
        others,
    }
}

fn other(ranks: &[u32], card: &Card) -> Member {
    Member {
        node: SecretKey::from_seed(&[ranks[0] as u8; 32]).public(),
        ranks: ranks.to_vec(),
        card: card.clone(),
    }
}

#[test]
fn two_nodes_that_know_one_another_find_a_way() {
    let (one, two) = (clusters(), clusters());
    let first = one.connect(&cluster(&[0], vec![]), &HERE).unwrap().card;
    let second = two
        .connect(&cluster(&[1], vec![other(&[0], &first)]), &HERE)
        .unwrap()
        .card;
    let again = one
        .connect(&cluster(&[0], vec![other(&[1], &second)]), &HERE)
        .unwrap()
        .card;
    assert_eq!(first, again, "a network keeps its key");
    let found = |c: &Clusters| {
        let pairs = c.status(&LEASE).map(|s| s.pairs).unwrap_or_default();
        pairs.first().is_some_and(|pair| pair.path.is_some())
    };
    let begin = Instant::now();
    while !(found(&one) && found(&two)) {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    one.disconnect(&LEASE);
    assert!(one.status(&LEASE).is_none());
    let new = one.connect(&cluster(&[0], vec![]), &HERE).unwrap().card;
    assert_ne!(first.public, new.public, "keys are not used again");
}

#[test]
fn more_ranks_keep_the_key_and_the_same_rank_twice_is_refused() {
    let clusters = clusters();
    let one = clusters
        .connect(&cluster(&[0], vec![]), &HERE)
        .unwrap()
        .card;
    let two = clusters
        .connect(&cluster(&[0, 3], vec![]), &HERE)
        .unwrap()
        .card;
    assert_eq!(one, two);
    let twice = cluster(&[0, 3], vec![other(&[3], &one)]);
    assert!(clusters.connect(&twice, &HERE).is_err());
}
