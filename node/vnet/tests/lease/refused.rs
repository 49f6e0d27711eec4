//! What is refused, each with its count.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use gridbay_vnet::drops::Drop as Why;
use gridbay_vnet::engine::{EngineError, Member};
use gridbay_vnet::keys::Secret;
use gridbay_vnet::path::{Candidate, Kind};

use crate::nodes::{Node, Two, until};
use crate::rank::{Rank, lease};

/// Carries datagrams between two nodes that know only it, and keeps what it saw.
struct Wire {
    at: [SocketAddr; 2],
    seen: Receiver<(usize, Vec<u8>)>,
}

impl Wire {
    /// One socket that the first node sends to, one that the second sends to; datagrams that are
    /// longer than `longest` are lost.
    fn new(sockets: [UdpSocket; 2], ends: [SocketAddr; 2], longest: usize) -> Wire {
        let (keep, seen) = channel();
        let at = [0, 1].map(|i: usize| sockets[i].local_addr().expect("an address"));
        for from in 0..2 {
            let inward = sockets[from].try_clone().expect("a copy");
            let outward = sockets[1 - from].try_clone().expect("a copy");
            let (keep, to) = (keep.clone(), ends[1 - from]);
            std::thread::spawn(move || {
                let mut buffer = [0; 65_535];
                while let Ok((bytes, _)) = inward.recv_from(&mut buffer) {
                    if bytes <= longest {
                        outward.send_to(&buffer[..bytes], to).ok();
                    }
                    if keep.send((from, buffer[..bytes].to_vec())).is_err() {
                        return;
                    }
                }
            });
        }
        Wire { at, seen }
    }

    /// Everything since the last call.
    fn take(&self) -> Vec<(usize, Vec<u8>)> {
        self.seen.try_iter().collect()
    }
}

/// Two nodes with a wire between them that can be read.
fn tapped(byte: u8, key: u8, longest: usize) -> Option<(Two, Wire)> {
    let mut ranks = [Rank::start(byte, 0)?, Rank::start(byte, 1)?];
    let nodes = [Node::new(key), Node::new(key + 1)];
    let socket = || UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let wire = Wire::new(
        [socket(), socket()],
        [nodes[0].at(), nodes[1].at()],
        longest,
    );
    let way = |at| [Candidate::at(Kind::Direct, at)];
    nodes[0].open(byte, &[0], vec![nodes[1].member_by(&[1], &way(wire.at[0]))]);
    nodes[1].open(byte, &[1], vec![nodes[0].member_by(&[0], &way(wire.at[1]))]);
    let attached = [0, 1].map(|i| Some(nodes[i].attach(byte, i as u32, &mut ranks[i])));
    let two = Two {
        nodes,
        ranks,
        attached,
    };
    Some((two, wire))
}

#[test]
fn who_is_in_between_reads_nothing_and_cannot_send_again() {
    let Some((mut two, wire)) = tapped(30, 30, usize::MAX) else {
        return;
    };
    let marker = b"a-marker-that-nobody-may-read";
    assert!(two.works());
    let say = format!(
        "say {} {}",
        two.ranks[1].address.v4,
        String::from_utf8_lossy(marker)
    );
    two.ranks[0].ask(&say);
    assert!(two.works());
    let seen = wire.take();
    assert!(seen.len() > 8, "traffic went over the wire");
    for (_, frame) in &seen {
        assert!(!frame.windows(marker.len()).any(|window| window == marker));
    }
    let strange = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let data = seen
        .iter()
        .filter(|(from, frame)| *from == 0 && frame[0] == 4);
    let data: Vec<_> = data.collect();
    for (_, frame) in &data {
        strange.send_to(frame, two.nodes[1].at()).expect("sends");
    }
    let replays = || two.nodes[1].status(30).pairs[0].drops.of(Why::Replay);
    until("all are refused as replays", || {
        replays() == data.len() as u64
    });
    let hello = seen
        .iter()
        .find(|(from, frame)| *from == 0 && frame[0] == 0x10);
    if let Some((_, frame)) = hello {
        strange.send_to(frame, two.nodes[1].at()).expect("sends");
        until("the handshake too", || replays() == data.len() as u64 + 1);
    }
    let mut forged = data[0].1.clone();
    if let Some(last) = forged.last_mut() {
        *last ^= 1;
    }
    forged[8..16].copy_from_slice(&1_000_u64.to_le_bytes());
    strange.send_to(&forged, two.nodes[1].at()).expect("sends");
    until("a forged one", || {
        two.nodes[1].status(30).pairs[0].drops.of(Why::Forged) == 1
    });
    assert!(two.works());
}

#[test]
fn outsiders_are_not_answered() {
    let node = Node::new(40);
    let known = Node::new(41);
    node.open(40, &[0], vec![known.member(&[1])]);
    let outsider = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let wait = Duration::from_millis(100);
    outsider.set_read_timeout(Some(wait)).expect("a timeout");
    let frames: [(Why, &[u8]); 6] = [
        (Why::Outsider, &[0x10; 160]),
        (Why::Outsider, &[0x01; 148]),
        (Why::UnknownSession, &[0x11; 60]),
        (Why::UnknownSession, &[0x04; 80]),
        (Why::Malformed, &[0x99; 80]),
        (Why::Ticket, &[0x20; 80]),
    ];
    for (why, frame) in frames {
        let before = node.engine.drops().of(why);
        outsider.send_to(frame, node.at()).expect("sends");
        until(why.text(), || node.engine.drops().of(why) == before + 1);
    }
    assert!(outsider.recv(&mut [0; 64]).is_err(), "nothing came back");
}

#[test]
fn a_member_of_another_lease_and_one_without_the_shared_key_stay_out() {
    let target = Node::new(50);
    let member = Node::new(51);
    let other = Node::new(52);
    target.open(50, &[0], vec![member.member(&[1])]);
    target.open(51, &[0], vec![other.member(&[1])]);
    // A member of lease 51 that pretends to be in lease 50, whose shared key it does not know.
    let mut pretends = other.net(50, &[1], vec![target.member(&[0])]);
    pretends.psk = Secret::new([1; 32]);
    other.engine.open(&pretends).expect("opens what it likes");
    // One that got hold of the shared key, but is no member.
    let thief = Node::new(53);
    thief.open(50, &[1], vec![target.member(&[0])]);
    let unknown = || target.engine.drops().of(Why::UnknownSession);
    until("their probes are counted", || unknown() >= 10);
    for stranger in [&other, &thief] {
        let pair = &stranger.status(50).pairs[0];
        assert_eq!((pair.path, pair.handshake_age), (None, None));
    }
    assert_eq!(target.status(50).pairs[0].handshake_age, None);
}

#[test]
fn wrong_sources_are_dropped_at_home_and_by_the_other_end() {
    let Some(mut two) = Two::start(60, 60) else {
        return;
    };
    assert!(two.works());
    let to = IpAddr::V4(two.ranks[1].address.v4);
    let spoof = format!("spoof 10.9.8.7 {to} 25");
    assert_eq!(two.ranks[0].ask(&spoof), "sent");
    until("dropped at home", || {
        two.nodes[0].status(60).drops.of(Why::SpoofedSource) == 25
    });
    // A member that lets it out: it tells its own engine that the address, rank 3's, is its own.
    let evil = &two.nodes[0];
    let stolen = gridbay_vnet::address::Plan::new(&crate::rank::network(), &lease(60))
        .rank(3)
        .expect("a rank");
    evil.engine.close(&lease(60));
    evil.open(60, &[3], vec![two.nodes[1].member(&[1])]);
    let Some(mut rank) = Rank::start(60, 3) else {
        return;
    };
    let _attached = evil.attach(60, 3, &mut rank);
    let to = two.ranks[1].address.v4;
    assert!(rank.misses(to), "{} is not its address", stolen.v4);
    assert!(two.nodes[1].status(60).pairs[0].drops.of(Why::PeerSource) >= 5);
    // And one that sends to an address that is not the other's.
    evil.engine.close(&lease(60));
    evil.open(60, &[0], vec![two.nodes[1].member(&[1, 5])]);
    let Some(mut rank) = Rank::start(60, 0) else {
        return;
    };
    let _attached = evil.attach(60, 0, &mut rank);
    let wrong = gridbay_vnet::address::Plan::new(&crate::rank::network(), &lease(60)).rank(5);
    assert!(rank.misses(wrong.expect("a rank").v4));
    assert!(
        two.nodes[1].status(60).pairs[0]
            .drops
            .of(Why::PeerDestination)
            >= 5
    );
    assert!(rank.reaches(to));
}

#[test]
fn no_route_leads_out_of_the_lease() {
    let Some(mut two) = Two::start(65, 65) else {
        return;
    };
    assert!(two.works());
    let own = two.ranks[0].address.v4.octets();
    let nobody = format!("{}.{}.{}.200", own[0], own[1], own[2]);
    assert!(two.ranks[0].misses(nobody));
    let refused = || two.nodes[0].status(65).drops.of(Why::NoRoute);
    assert!(refused() >= 5);
    for host in ["169.254.169.254", "192.168.1.1", "127.0.0.2", "1.1.1.1"] {
        assert!(two.ranks[0].misses(host), "{host}");
        // The kernel has no route there; who goes by the device meets the engine.
        let before = refused();
        assert_eq!(two.ranks[0].ask(&format!("leave {host} 5")), "sent");
        until(host, || refused() == before + 5);
    }
}

#[test]
fn a_closed_lease_and_a_removed_member_are_unknown() {
    let Some((mut two, wire)) = tapped(70, 70, usize::MAX) else {
        return;
    };
    assert!(two.works());
    two.nodes[1]
        .engine
        .set_members(&lease(70), &[])
        .expect("an open lease");
    assert!(two.nodes[1].status(70).pairs.is_empty());
    let unknown = |two: &Two| two.nodes[1].engine.drops().of(Why::UnknownSession);
    let before = unknown(&two);
    assert!(two.fails());
    assert!(unknown(&two) > before);
    wire.take();
    let back: [Member; 1] = [two.nodes[0].member(&[0])];
    two.nodes[1]
        .engine
        .set_members(&lease(70), &back)
        .expect("an open lease");
    two.nodes[1].engine.close(&lease(70));
    assert!(
        two.attached[1]
            .as_ref()
            .is_some_and(|attached| !attached.is_open())
    );
    let closed = two.nodes[1].engine.status(&lease(70));
    assert!(matches!(closed, Err(EngineError::NotOpen(_))));
    std::thread::sleep(Duration::from_millis(200));
    wire.take();
    let before = unknown(&two);
    assert!(two.fails());
    assert!(unknown(&two) > before);
    let answers = wire.take().into_iter().filter(|(from, _)| *from == 1);
    assert_eq!(answers.count(), 0, "it answers nothing");
}

#[test]
fn a_flood_of_handshakes_is_bounded() {
    let (target, member) = (Node::new(75), Node::new(76));
    target.open(75, &[0], vec![member.member(&[1])]);
    let tap = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let at = tap.local_addr().expect("an address");
    let way = [Candidate::at(Kind::Direct, at)];
    member.open(75, &[1], vec![target.member_by(&[0], &way)]);
    tap.set_read_timeout(Some(Duration::from_secs(5)))
        .expect("a timeout");
    // The member's probe is carried by hand, so that it begins a handshake, which is kept.
    let (mut buffer, mut hello) = ([0; 2048], None);
    while hello.is_none() {
        let (bytes, source) = tap.recv_from(&mut buffer).expect("probes and handshakes");
        let frame = &buffer[..bytes];
        if source == target.at() {
            tap.send_to(frame, member.at()).expect("sends");
        } else if frame[0] == 0x10 {
            hello = Some(frame.to_vec());
        } else {
            tap.send_to(frame, target.at()).expect("sends");
        }
        if source == target.at() && frame[0] == 0x10 {
            hello = None;
        }
    }
    let hello = hello.expect("a handshake");
    for _ in 0..2000 {
        tap.send_to(&hello, target.at()).expect("sends");
    }
    until("most are refused", || {
        target.status(75).drops.of(Why::Flood) > 500
    });
}

#[test]
fn a_job_learns_what_a_narrow_way_takes() {
    let Some((mut two, _wire)) = tapped(77, 77, 1400) else {
        return;
    };
    assert!(two.works());
    let pair = |two: &Two| two.nodes[0].status(77).pairs[0].clone();
    until("1280 is found", || pair(&two).mtu == Some(1280));
    // All sizes are tried before one is known to be the largest; until then packets are lost.
    let to = two.ranks[1].address.v4;
    assert_eq!(two.ranks[0].ask(&format!("stream {to} 300000")), "yes");
    assert!(pair(&two).drops.of(Why::TooBig) > 0);
}
