//! What passes between the ranks of a lease.

use gridbay_vnet::address::{Plan, RESOLVER};
use gridbay_vnet::path::Kind;

use crate::nodes::{Node, Two, until};
use crate::rank::{Rank, lease, network};

#[test]
fn two_nodes_carry_datagrams_and_streams() {
    let Some(mut two) = Two::start(1, 10) else {
        return;
    };
    let to = two.ranks[1].address;
    assert!(two.works());
    assert_eq!(two.ranks[0].ask(&format!("burst {} 50 1000", to.v4)), "50");
    assert_eq!(
        two.ranks[0].ask(&format!("stream {} 20000000", to.v4)),
        "yes"
    );
    assert_eq!(
        two.ranks[1].ask(&format!("stream {} 2000000", two.ranks[0].address.v4)),
        "yes"
    );
    if two.ranks[0].ask("cat /proc/net/if_inet6").contains("gb0") {
        assert_eq!(
            two.ranks[0].ask(&format!("stream {} 5000000", to.v6)),
            "yes"
        );
        assert_eq!(two.ranks[0].ask(&format!("burst {} 20 5000", to.v6)), "20");
    }
    until("the loopback takes the largest", || {
        two.nodes[0].status(1).pairs[0].mtu == Some(8900)
    });
    let status = two.nodes[0].status(1);
    let pair = &status.pairs[0];
    assert_eq!(status.attached, [0]);
    assert_eq!(pair.path.map(|candidate| candidate.kind), Some(Kind::Lan));
    assert_eq!(pair.seen, Some(two.nodes[0].at()));
    assert!(pair.sent.bytes > 20_000_000 && pair.received.packets > 0);
    assert!(pair.handshake_age.is_some() && pair.round_trip.is_some());
}

#[test]
fn the_resolver_of_a_lease_knows_its_ranks_and_nobody_else() {
    let Some(mut two) = Two::start(3, 30) else {
        return;
    };
    let plan = Plan::new(&network(), &lease(3));
    let resolver = plan.rank(RESOLVER).expect("a resolver").v4;
    let mut ask = |name: &str| two.ranks[0].ask(&format!("name {resolver} {name}"));
    let other = plan.rank(1).expect("a rank").v4.to_string();
    assert_eq!(ask("rank1"), other);
    assert_eq!(ask(&plan.name(1)), other);
    assert_eq!(ask("rank2"), "unknown");
    assert_eq!(ask("host.example"), "unknown");
    // It is no host: it has that one service, and no packet to it leaves the node.
    assert_eq!(two.ranks[0].ask(&format!("burst {resolver} 1 10")), "0");
    assert_eq!(two.nodes[0].status(3).pairs[0].sent.packets, 0);
}

#[test]
fn several_ranks_on_one_node() {
    let started: Option<Vec<_>> = (0..4).map(|rank| Rank::start(2, rank)).collect();
    let Some(mut ranks) = started else {
        return;
    };
    let nodes = [Node::new(20), Node::new(21)];
    nodes[0].open(2, &[0, 1], vec![nodes[1].member(&[2, 3])]);
    nodes[1].open(2, &[2, 3], vec![nodes[0].member(&[0, 1])]);
    let numbered = ranks.iter_mut().zip(0_u32..);
    let attached: Vec<_> = numbered
        .map(|(rank, number)| nodes[number as usize / 2].attach(2, number, rank))
        .collect();
    let addresses: Vec<_> = ranks.iter().map(|rank| rank.address.v4).collect();
    for (from, rank) in ranks.iter_mut().enumerate() {
        for (to, address) in addresses.iter().enumerate() {
            assert!(from == to || rank.reaches(address), "{from} to {to}");
        }
    }
    assert_eq!(
        ranks[0].ask(&format!("stream {} 20000000", addresses[1])),
        "yes"
    );
    drop(attached);
    assert!(nodes[0].status(2).attached.is_empty());
}
