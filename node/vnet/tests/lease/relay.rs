//! Traffic through a relay, and from one way to another.

use std::net::UdpSocket;

use gridbay_vnet::drops::Drop as Why;
use gridbay_vnet::path::{Candidate, Kind, Ticket};
use gridbay_vnet::relay::{Allowance, Grant};

use crate::nodes::{Node, Two, until};
use crate::rank::{Rank, lease};

const TICKETS: [Ticket; 2] = [[0xa1; 16], [0xb2; 16]];

/// Lets a node carry for the two tickets.
fn granted() -> Grant {
    let (purse, tickets) = ([7; 32], TICKETS);
    Grant { tickets, purse }
}

fn admit(relay: &Node) -> bool {
    let purse = granted().purse;
    let (period, bytes_max) = (0, 1 << 30);
    relay
        .engine
        .relay_allow(purse, Allowance { period, bytes_max });
    relay.engine.relay_admit(granted())
}

/// Two nodes that know only relays of each other, both with the same tickets.
fn start(byte: u8, key: u8, relays: &[&Node]) -> Option<Two> {
    let mut ranks = [Rank::start(byte, 0)?, Rank::start(byte, 1)?];
    let nodes = [Node::new(key), Node::new(key + 1)];
    for own in [0, 1] {
        let ways = relays
            .iter()
            .map(|relay| Candidate::relay(relay.at(), TICKETS[own]));
        let ways: Vec<_> = ways.collect();
        let other = nodes[1 - own].member_by(&[1 - own as u32], &ways);
        nodes[own].open(byte, &[own as u32], vec![other]);
    }
    let attached = [0, 1].map(|i| Some(nodes[i].attach(byte, i as u32, &mut ranks[i])));
    Some(Two {
        nodes,
        ranks,
        attached,
    })
}

fn kind(two: &Two, byte: u8) -> Option<Kind> {
    let path = two.nodes[0].status(byte).pairs[0].path;
    path.map(|candidate| candidate.kind)
}

#[test]
fn a_relay_carries_and_counts_both_directions() {
    let relay = Node::new(100);
    assert!(admit(&relay));
    let Some(mut two) = start(101, 101, &[&relay]) else {
        return;
    };
    assert!(two.works());
    assert_eq!(kind(&two, 101), Some(Kind::Relay));
    let to = two.ranks[1].address.v4;
    assert_eq!(two.ranks[0].ask(&format!("stream {to} 3000000")), "yes");
    let relayed = relay.engine.relayed(&granted()).expect("a grant");
    assert!(relayed.bytes[0] > 3_000_000, "{relayed:?}");
    assert!(relayed.bytes[1] > 0 && relayed.bytes[1] < relayed.bytes[0]);
    // Both ends count what it counts, but for probes and handshakes.
    let own = |end: usize| {
        let by = &two.nodes[end].status(101).pairs[0].relayed;
        assert_eq!(by.len(), 1);
        assert_eq!(by[0].ticket, TICKETS[end]);
        [by[0].sent, by[0].received]
    };
    let [first, second] = [own(0), own(1)];
    assert!(
        first[0] > 3_000_000 && first[0] <= relayed.bytes[0],
        "{first:?}"
    );
    assert!(second[1] > 3_000_000 && second[1] <= first[0], "{second:?}");
    assert!(second[0] > 0 && second[0] <= relayed.bytes[1]);
    assert!(relay.engine.leases().is_empty(), "it is no member");
    // Traffic moves to a direct way as soon as there is one.
    for own in [0, 1] {
        let direct = two.nodes[1 - own].member(&[1 - own as u32]);
        let engine = &two.nodes[own].engine;
        engine
            .set_members(&lease(101), &[direct])
            .expect("an open lease");
    }
    until("it is direct", || kind(&two, 101) == Some(Kind::Lan));
    assert!(two.works());
}

#[test]
fn without_a_right_ticket_a_relay_gives_nothing() {
    let relay = Node::new(110);
    admit(&relay);
    let ends = [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").expect("a socket"));
    let patience = std::time::Duration::from_millis(200);
    ends[0].set_read_timeout(Some(patience)).expect("a timeout");
    let frame = |ticket: Ticket, text: &[u8]| [&[0x20, 0, 0, 0], &ticket[..], text].concat();
    let say = |end: usize, ticket, text: &[u8]| {
        let frame = frame(ticket, text);
        ends[end].send_to(&frame, relay.at()).expect("sends");
    };
    say(0, TICKETS[0], b"here");
    say(1, [7; 16], b"stranger");
    until("it is counted", || {
        relay.engine.drops().of(Why::Ticket) == 1
    });
    assert!(ends[0].recv(&mut [0; 64]).is_err());
    say(1, TICKETS[1], b"member");
    let mut buffer = [0; 64];
    let bytes = ends[0].recv(&mut buffer).expect("the other end's words");
    assert_eq!(&buffer[..bytes], b"member");
    let relayed = relay.engine.relay_revoke(&granted()).expect("a grant");
    assert_eq!(relayed.bytes, [0, 6]);
    say(1, TICKETS[1], b"too late");
    until("the ended grant too", || {
        relay.engine.drops().of(Why::Ticket) == 2
    });
}

#[test]
fn the_death_of_a_relay_moves_the_path() {
    let relays = [Node::new(120), Node::new(121)];
    assert!(relays.iter().all(admit));
    let Some(mut two) = start(120, 122, &[&relays[0], &relays[1]]) else {
        return;
    };
    assert!(two.works());
    let path = two.nodes[0].status(120).pairs[0].path.expect("a way");
    let [first, second] = relays;
    let (dead, other) = if path.via.at == first.at() {
        (first, second)
    } else {
        (second, first)
    };
    drop(dead);
    let at = other.at();
    until("it moves", || {
        two.fails();
        let path = two.nodes[0].status(120).pairs[0].path;
        path.is_some_and(|path| path.via.at == at)
    });
    assert!(two.works());
}
