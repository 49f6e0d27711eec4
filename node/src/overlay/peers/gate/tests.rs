//! Tests of the connections that get in, by their origin and the places taken.

use super::*;

const DOORS: Doors = Doors {
    kept: 4,
    strangers: 16,
    inbound: 12,
    origin: Some(3),
    pending: 8,
    origin_pending: 2,
    arrivals: Rate::new(10, 100),
};

fn host(text: &str) -> Option<IpAddr> {
    origin(&format!("/ip4/{text}/tcp/1").parse().unwrap())
}

fn caller(host: &str) -> Caller {
    Caller::at(&format!("/ip4/{host}/tcp/1").parse().unwrap())
}

fn over_quic(host: &str) -> Caller {
    Caller::at(&format!("/ip4/{host}/udp/1/quic-v1").parse().unwrap())
}

fn id(n: usize) -> ConnectionId {
    ConnectionId::new_unchecked(n)
}

/// Lets somebody in, as the swarm would. Returns whether it was.
fn enter(gate: &mut Gate, n: usize, peer: PeerId, from: Option<IpAddr>) -> Result<(), Refusal> {
    gate.may_enter(id(n), &peer, from)?;
    let standing = Standing {
        peer,
        origin: from,
        inbound: true,
        direct: from.is_some(),
    };
    gate.standing.insert(id(n), standing);
    Ok(())
}

#[test]
fn one_network_has_its_share_and_the_others_theirs() {
    let mut gate = Gate::new(DOORS);
    let mut let_in = 0;
    for n in 0..100 {
        let from = host(&format!("198.51.100.{n}"));
        let_in += usize::from(enter(&mut gate, n, PeerId::random(), from).is_ok());
    }
    assert_eq!(let_in, 3);
    let others = (100..200).filter(|n| {
        let from = host(&format!("203.0.{n}.1"));
        enter(&mut gate, *n, PeerId::random(), from).is_ok()
    });
    assert_eq!(others.count(), 9, "of twelve inbound ones");
    let full = enter(&mut gate, 200, PeerId::random(), host("192.0.2.1"));
    assert_eq!(full, Err(Refusal::Full));
    assert!(gate.may_be_reached(&PeerId::random()).is_ok());
}

#[test]
fn kept_peers_always_find_a_slot_and_no_more_than_theirs() {
    let mut gate = Gate::new(DOORS);
    let from = host("198.51.100.1");
    let kept: Vec<PeerId> = (0..6).map(|_| PeerId::random()).collect();
    for peer in &kept {
        gate.keep(*peer, true);
    }
    for n in 0..40 {
        let from = host(&format!("203.0.{n}.1"));
        let _full = enter(&mut gate, n, PeerId::random(), from);
    }
    let slots = (0..6).filter(|n| enter(&mut gate, 100 + n, kept[*n], from).is_ok());
    assert_eq!(slots.count(), 4);
    assert_eq!(gate.strangers(), 12);
    gate.keep(kept[0], false);
    assert_eq!(gate.strangers(), 13, "it counts for a stranger again");
}

#[test]
fn who_only_begins_takes_its_share_of_what_is_being_made() {
    let (mut gate, now) = (Gate::new(DOORS), Instant::now());
    let one = caller("198.51.100.1");
    for n in 0..2 {
        assert_eq!(gate.may_begin(id(n), one, now), Ok(()));
    }
    assert_eq!(gate.may_begin(id(2), one, now), Err(Refusal::Origin));
    assert_eq!(gate.may_begin(id(3), caller("203.0.113.1"), now), Ok(()));
    for n in 10..16 {
        let _full = gate.may_begin(id(n), caller(&format!("192.0.{n}.1")), now);
    }
    assert_eq!(gate.pending.len(), 8);
    let full = gate.may_begin(id(20), caller("192.0.99.1"), now);
    assert_eq!(full, Err(Refusal::Pending));
}

#[test]
fn an_origin_may_not_come_and_go_without_end() {
    let (mut gate, now) = (Gate::new(DOORS), Instant::now());
    let one = caller("198.51.100.1");
    let begun = (0..1000).filter(|n| {
        let begun = gate.may_begin(id(*n), one, now).is_ok();
        gate.pending.clear();
        begun
    });
    assert_eq!(begun.count(), 100);
}

#[test]
fn forged_packets_keep_nobody_out_that_comes_over_tcp() {
    let (mut gate, now) = (Gate::new(DOORS), Instant::now());
    // From one network without end, then from everywhere.
    for n in 0..10_000 {
        let _full = gate.may_begin(id(n), over_quic("198.51.100.1"), now);
        let _full = gate.may_begin(id(n), over_quic(&format!("192.0.{}.1", n % 256)), now);
    }
    assert_eq!(gate.pending.len(), 4, "half of the slots");
    let same = gate.may_begin(id(20_000), caller("198.51.100.1"), now);
    assert_eq!(same, Ok(()));
    let full = gate.may_begin(id(20_001), over_quic("203.0.113.1"), now);
    assert_eq!(full, Err(Refusal::Pending));
}

#[test]
fn an_origin_is_a_network_of_the_internet_or_a_host_of_a_private_one() {
    assert_eq!(host("198.51.100.1"), host("198.51.100.200"));
    assert_ne!(host("198.51.100.1"), host("198.51.101.1"));
    assert_ne!(host("10.0.0.1"), host("10.0.0.2"));
    let far = |text: &str| origin(&text.parse().unwrap());
    assert_eq!(
        far("/ip6/2001:db8:7::1/udp/1/quic-v1"),
        far("/ip6/2001:db8:7:9::2/tcp/1")
    );
    let relay = PeerId::random();
    let circuit = format!("/ip4/198.51.100.1/tcp/1/p2p/{relay}/p2p-circuit");
    assert_eq!(far(&circuit), None);
}

#[test]
fn no_circuit_is_dialled_beside_a_direct_connection() {
    let mut gate = Gate::new(DOORS);
    let (peer, other) = (PeerId::random(), PeerId::random());
    let direct: Multiaddr = "/ip4/198.51.100.1/tcp/1".parse().unwrap();
    let relay = "/ip4/192.0.2.1/tcp/1/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA";
    let circuit: Multiaddr = format!("{relay}/p2p-circuit").parse().unwrap();
    let circuits = [circuit.clone(), circuit.clone()];
    enter(&mut gate, 1, peer, None).unwrap();
    assert_eq!(gate.may_dial(&peer, &circuits), Ok(()), "a circuit alone");
    enter(&mut gate, 2, peer, host("198.51.100.1")).unwrap();
    assert_eq!(gate.may_dial(&peer, &circuits), Err(Beside));
    assert_eq!(gate.may_dial(&other, &circuits), Ok(()));
    assert_eq!(gate.may_dial(&peer, &[circuit, direct]), Ok(()));
    assert_eq!(gate.may_dial(&peer, &[]), Ok(()));
    gate.standing.remove(&id(2));
    assert_eq!(gate.may_dial(&peer, &circuits), Ok(()));
}
