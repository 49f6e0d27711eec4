//! IPv6, alone and beside IPv4.

use std::net::UdpSocket;

use super::SECOND;
use super::net::{Node, QUIC, TCP, config, converge, eventually};
use gridbay_node::overlay::Verdict;

const QUIC6: &str = "/ip6/::1/udp/0/quic-v1";
const TCP6: &str = "/ip6/::1/tcp/0";

/// Containers are sometimes made without it.
#[allow(clippy::print_stderr, reason = "what was not tried is said")]
fn is_there() -> bool {
    let there = UdpSocket::bind("[::1]:0").is_ok();
    if !there {
        eprintln!("this machine has no IPv6: not tried");
    }
    there
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_that_have_nothing_else_meet() {
    if !is_there() {
        return;
    }
    for listen in [QUIC6, TCP6] {
        let first = Node::start(config(40, 0, &[listen])).await;
        let mut second = config(40, 1, &[listen]);
        second.bootstrap = vec![first.contact()];
        let second = Node::start(second).await;
        converge(&[&first, &second]).await;
        let (answer, ()) = tokio::join!(
            second
                .handle
                .request(first.peer(), b"there?".to_vec(), SECOND * 10),
            async {
                let (_, id, _) = first.request().await;
                first.handle.respond(id, b"here".to_vec()).unwrap();
            }
        );
        assert_eq!(answer.unwrap(), b"here");
    }
}

/// A node with both kinds carries gossip between those that listen on one only.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_with_both_joins_those_with_one() {
    if !is_there() {
        return;
    }
    let both = Node::start(config(41, 0, &[QUIC, QUIC6, TCP6, TCP])).await;
    let of = |kind: &str| {
        let mine = both.handle.addresses();
        let address = mine.iter().find(|a| a.to_string().starts_with(kind));
        (both.peer(), address.unwrap().clone())
    };
    let mut old = config(41, 1, &[QUIC, TCP]);
    old.bootstrap = vec![of("/ip4/")];
    let mut new = config(41, 2, &[QUIC6, TCP6]);
    new.bootstrap = vec![of("/ip6/")];
    let (old, new) = (Node::start(old).await, Node::start(new).await);
    // The two may have met each other as well: nothing keeps a node from dialling over what it does
    // not listen on.
    let has = |node: &Node, peer| {
        let peers = node.handle.peers();
        peers.iter().any(|p| p.peer == peer && p.in_mesh)
    };
    let joined = |one: &Node| has(&both, one.peer()) && has(one, both.peer());
    eventually(|| joined(&old) && joined(&new)).await;

    old.handle
        .publish("entries", b"from four".to_vec())
        .unwrap();
    let message = both.message().await;
    both.handle.report(message.id, Verdict::Accept).unwrap();
    let heard = new.message().await;
    assert_eq!(
        (heard.from, heard.bytes.as_slice()),
        (old.peer(), &b"from four"[..])
    );
    assert_eq!(
        new.handle
            .peers()
            .iter()
            .filter(|p| p.peer == both.peer())
            .count(),
        1
    );
}
