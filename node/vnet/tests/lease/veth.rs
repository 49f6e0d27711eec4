//! Ranks whose device is an end of a cable, where there is no TUN: alone, and beside TUNs.

use std::io::ErrorKind;

use gridbay_vnet::address::{Plan, RESOLVER};
use gridbay_vnet::veth;

use crate::nodes::{Node, Two, until};
use crate::rank::{Link, Rank, lease, network};

/// Datagrams and streams both ways, of both versions of IP.
fn carries(two: &mut Two) {
    assert!(two.works());
    let addresses = [two.ranks[0].address, two.ranks[1].address];
    for (from, to) in [(0, 1), (1, 0)] {
        let (rank, to) = (&mut two.ranks[from], addresses[to]);
        assert_eq!(rank.ask(&format!("burst {} 20 1000", to.v4)), "20");
        assert_eq!(rank.ask(&format!("stream {} 3000000", to.v4)), "yes");
        if rank.ask("cat /proc/net/if_inet6").contains("gb0") {
            assert_eq!(rank.ask(&format!("stream {} 1000000", to.v6)), "yes");
            // Longer than a packet: the kernel makes fragments.
            assert_eq!(rank.ask(&format!("burst {} 10 5000", to.v6)), "10");
        }
    }
}

#[test]
fn two_ranks_without_tun_reach_one_another() {
    let Some(mut two) = Two::start_by([Link::Veth; 2], 60, 130) else {
        return;
    };
    carries(&mut two);
    let status = two.nodes[0].status(60);
    assert_eq!(status.attached, [0]);
    assert!(status.pairs[0].sent.bytes > 3_000_000);
    let plan = Plan::new(&network(), &lease(60));
    let resolver = plan.rank(RESOLVER).expect("a resolver").v4;
    let other = two.ranks[1].address.v4.to_string();
    let name = format!("name {resolver} rank1");
    assert_eq!(two.ranks[0].ask(&name), other, "names by DNS");
}

#[test]
fn a_rank_without_tun_and_one_with_it_are_members_alike() {
    let Some(mut two) = Two::start_by([Link::Veth, Link::Tun], 61, 132) else {
        return;
    };
    carries(&mut two);
}

#[test]
fn two_ranks_of_one_node_need_not_have_the_same_device() {
    let links = [Link::Veth, Link::Tun, Link::Veth];
    let ranks = (0..).zip(links);
    let started: Option<Vec<_>> = ranks
        .map(|(rank, link)| Rank::start_by(link, 62, rank))
        .collect();
    let Some(mut ranks) = started else {
        return;
    };
    let node = Node::new(134);
    node.open(62, &[0, 1, 2], vec![]);
    let numbered = ranks.iter_mut().zip(0..);
    let attached: Vec<_> = numbered
        .map(|(rank, number)| node.attach(62, number, rank))
        .collect();
    let addresses: Vec<_> = ranks.iter().map(|rank| rank.address.v4).collect();
    for (from, rank) in ranks.iter_mut().enumerate() {
        for (to, address) in addresses.iter().enumerate().filter(|(to, _)| *to != from) {
            assert!(rank.reaches(address), "{from} to {to}");
            let stream = format!("stream {address} 1000000");
            assert_eq!(rank.ask(&stream), "yes", "{from} to {to}");
        }
    }
    drop(attached);
}

#[test]
fn the_rank_sees_its_own_end_and_nothing_of_the_other() {
    let Some(mut rank) = Rank::start_by(Link::Veth, 63, 0) else {
        return;
    };
    let socket = rank.device.take().expect("a socket");
    assert!(veth::take(&socket).expect("prepares it").tcp);
    let devices = rank.ask("cat /proc/net/dev");
    assert_eq!(devices.matches(':').count(), 2, "lo and gb0: {devices}");
    let v6 = rank.ask("cat /proc/net/if_inet6");
    assert!(
        v6.matches("gb0").count() <= 1,
        "no address but its own: {v6}"
    );
}

#[test]
fn the_device_goes_with_the_rank_although_the_node_holds_the_socket() {
    let Some(mut rank) = Rank::start_by(Link::Veth, 64, 0) else {
        return;
    };
    let node = Node::new(136);
    node.open(64, &[0], vec![]);
    let attached = node.attach(64, 0, &mut rank);
    assert!(attached.is_open());
    drop(rank);
    until("the device is gone", || !attached.is_open());
}

#[test]
fn a_name_that_is_taken_is_refused_and_the_thread_stays_where_it_is() {
    // Without privilege already the first step is.
    let error = veth::open("lo").expect_err("a device of that name is there");
    let kinds = [ErrorKind::PermissionDenied, ErrorKind::AlreadyExists];
    assert!(kinds.contains(&error.kind()), "{error}");
}
