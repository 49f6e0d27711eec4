//! Two nodes' networks on loopback, as the core tells them: keys, members, ends.

use super::*;
use gridbay_core::cluster::OWNER;
use gridbay_protocol::keys::SecretKey;
use gridbay_vnet::address::Plan;
use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

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
        relays: vec![],
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

#[test]
fn a_key_that_another_member_bears_is_given_up() {
    let clusters = clusters();
    let join = |others: Vec<Member>| {
        let joined = clusters.connect(&cluster(&[0], others), &HERE);
        joined.unwrap().card
    };
    let first = join(vec![]);
    let copied = join(vec![other(&[1], &first)]);
    assert_ne!(first.public, copied.public);
    assert_eq!(copied, join(vec![other(&[1], &first)]), "once");
    let status = clusters.status(&LEASE).unwrap();
    assert_eq!(status.pairs.len(), 1);
}

#[tokio::test]
async fn the_buyers_node_speaks_to_a_rank_without_a_device() {
    let (buyer, seller) = (clusters(), clusters());
    let own = buyer.connect(&cluster(&[OWNER], vec![]), &HERE);
    let own = other(&[OWNER], &own.unwrap().card);
    let rank = seller.connect(&cluster(&[3], vec![own]), &HERE);
    let rank = other(&[3], &rank.unwrap().card);
    buyer
        .connect(&cluster(&[OWNER], vec![rank]), &HERE)
        .unwrap();
    let served = {
        let inner = seller.lock();
        inner.engine.as_ref().unwrap().attach_user(&LEASE, 3)
    };
    let served = served.unwrap();
    let listener = served.listen(80).unwrap();
    let answer = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut word = [0; 5];
        stream.read_exact(&mut word).unwrap();
        stream.write_all(&word).unwrap();
    });
    let plan = Plan::new(&NetworkId([1; 32]), &LEASE);
    let (there, nobody) = (plan.rank(3).unwrap(), plan.rank(7).unwrap());
    let mut stream = buyer.dial(&LEASE, (there.v4, 80).into()).await.unwrap();
    stream.write_all(b"hello").await.unwrap();
    let mut echo = String::new();
    stream.read_to_string(&mut echo).await.unwrap();
    assert_eq!(echo, "hello");
    answer.join().unwrap();
    let refused = buyer
        .dial(&LEASE, (nobody.v4, 80).into())
        .await
        .unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::HostUnreachable);
    buyer.disconnect(&LEASE);
    let gone = buyer.dial(&LEASE, (there.v4, 80).into()).await.unwrap_err();
    assert_eq!(gone.kind(), io::ErrorKind::NotConnected);
}
