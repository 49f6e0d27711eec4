//! Nodes' overlays and data planes on loopback whose datagrams lead nowhere.

use super::pass::{HEAD, UNUSED};
use super::*;
use crate::overlay::{self, OverlayConfig, TransportSeed, Tuning};
use gridbay_core::cluster::{Card, Cluster, Member, OWNER, RelayWay};
use gridbay_core::relay::{Carried, Grant, Purse, Tickets};
use gridbay_protocol::ids::{AccountId, LeaseId, NetworkId};
use gridbay_vnet::address::Plan;
use gridbay_vnet::engine::User;
use gridbay_vnet::path::{Kind, Ticket};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const LEASE: LeaseId = LeaseId([7; 32]);
const NETWORK: [u8; 32] = [1; 32];
const HERE: [std::net::IpAddr; 1] = [std::net::IpAddr::V4(Ipv4Addr::LOCALHOST)];
/// Where nobody takes packets.
const NOWHERE: &str = "127.0.0.1:1";
const PATIENCE: Duration = Duration::from_secs(60);

/// A node's overlay with its data plane.
struct Node {
    overlay: OverlayHandle,
    clusters: Clusters,
    key: PublicKey,
}

impl Node {
    /// One that is connected to another.
    async fn start(seed: u8, to: Option<&Node>) -> Node {
        let listen = vec!["/ip4/127.0.0.1/tcp/0".parse().unwrap()];
        let seed = TransportSeed([seed; 32]);
        let mut config = OverlayConfig::new(seed, NETWORK, listen, Tuning::local());
        let contact = |n: &Node| (n.overlay.local_peer(), n.overlay.addresses()[0].clone());
        config.bootstrap = to.map(contact).into_iter().collect();
        let (overlay, mut events) = overlay::start(config).await.unwrap();
        tokio::spawn(async move { while events.recv().await.is_some() {} });
        let clusters = Clusters::new(NetworkId(NETWORK), 0);
        tokio::spawn(keep(clusters.clone(), overlay.clone()));
        let key = key_of(&overlay.local_peer()).unwrap();
        Node {
            overlay,
            clusters,
            key,
        }
    }

    /// Opens the network with these others, and returns the own card.
    fn connect(&self, rank: u32, others: Vec<Member>) -> Card {
        let cluster = Cluster {
            lease: LEASE,
            secret: [5; 32],
            ranks: vec![rank],
            others,
        };
        self.clusters.connect(&cluster, &HERE).unwrap().card
    }

    /// The way in use to the only other member.
    fn way(&self) -> Option<Kind> {
        let status = self.clusters.status(&LEASE)?;
        Some(status.pairs.first()?.path?.kind)
    }

    fn serve(&self, rank: u32) -> User {
        let inner = self.clusters.lock();
        let engine = inner.engine.as_ref().unwrap();
        engine.attach_user(&LEASE, rank).unwrap()
    }

    /// Sends bytes to a rank that sends them back.
    async fn echo(&self, served: &User, rank: u32, port: u16) {
        let listener = served.listen(port).unwrap();
        let answer = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = vec![0; 300_000];
            stream.read_exact(&mut bytes).unwrap();
            stream.write_all(&bytes).unwrap();
        });
        let there = Plan::new(&NetworkId(NETWORK), &LEASE).rank(rank).unwrap();
        let dialled = self.clusters.dial(&LEASE, (there.v4, port).into()).await;
        let (mut read, mut write) = dialled.unwrap().into_split();
        let bytes: Vec<u8> = (0..300_000_u32).map(|n| n as u8).collect();
        let mut back = vec![0; bytes.len()];
        let both = tokio::join!(write.write_all(&bytes), read.read_exact(&mut back));
        both.0.unwrap();
        both.1.unwrap();
        assert!(back == bytes);
        answer.join().unwrap();
    }
}

fn member(node: PublicKey, rank: u32, card: &Card, places: &[String]) -> Member {
    Member {
        node,
        ranks: vec![rank],
        card: Card {
            places: places.to_vec(),
            ..card.clone()
        },
        relays: vec![],
    }
}

/// What a relay carries for nothing between two ends.
fn grant([low, high]: [Ticket; 2]) -> Grant {
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&low);
    bytes[16..].copy_from_slice(&high);
    Grant {
        purse: Purse::Free(AccountId([3; 32])),
        carries: LEASE,
        period: 1,
        bytes: 1 << 30,
        pairs: vec![Tickets(bytes)],
    }
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let waited = timeout(PATIENCE, wait).await;
    assert!(waited.is_ok(), "not in time: {what}");
}

/// How another node's stream with this pass is answered.
async fn knock(from: &Node, at: &Node, pass: Pass) -> io::ErrorKind {
    let mut packets = from.overlay.packets(at.overlay.local_peer()).await.unwrap();
    packets.write_head(&pass.bytes()).await.unwrap();
    packets.read_head::<1>().await.unwrap_err().kind()
}

#[test]
fn a_pass_is_read_as_it_was_written_and_nothing_else_is() {
    for pass in [Pass::Member(LEASE), Pass::Relay([9; 16])] {
        assert_eq!(Pass::read(&pass.bytes()), Some(pass));
    }
    let mut bytes = Pass::Relay([9; 16]).bytes();
    bytes[HEAD - 1] = 1;
    assert_eq!(Pass::read(&bytes), None);
    for kind in [0, 3, 0xff] {
        bytes = Pass::Member(LEASE).bytes();
        bytes[0] = kind;
        assert_eq!(Pass::read(&bytes), None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_carries_what_datagrams_cannot_until_they_can() {
    let seller = Node::start(11, None).await;
    let buyer = Node::start(12, Some(&seller)).await;
    let stranger = Node::start(13, Some(&seller)).await;
    let (card, own) = (seller.connect(3, vec![]), buyer.connect(OWNER, vec![]));
    let introduce = |places: [&[String]; 2]| {
        seller.connect(3, vec![member(buyer.key, OWNER, &own, places[0])]);
        buyer.connect(OWNER, vec![member(seller.key, 3, &card, places[1])]);
    };
    introduce([&[NOWHERE.to_owned()]; 2]);
    let served = seller.serve(3);
    let ways = || (seller.way(), buyer.way());
    let both = |kind| (Some(kind), Some(kind));
    until("a way over a stream", || ways() == both(Kind::Stream)).await;
    buyer.echo(&served, 3, 80).await;
    let one = || {
        (
            buyer.clusters.streams_open(),
            seller.clusters.streams_open(),
        )
    };
    until("one stream for both", || one() == (1, 1)).await;
    let told = buyer.clusters.connect(
        &Cluster {
            lease: LEASE,
            secret: [5; 32],
            ranks: vec![OWNER],
            others: vec![member(seller.key, 3, &card, &[NOWHERE.to_owned()])],
        },
        &HERE,
    );
    let way = told.unwrap().reach[0].way;
    assert_eq!(way.map(|way| way.word()), Some("stream"));

    let kept = |node: &Node| node.overlay.peers().iter().any(|p| p.via.is_none());
    until("the stranger to be connected", || kept(&stranger)).await;
    for pass in [Pass::Member(LEASE), Pass::Relay([9; 16])] {
        let refused = knock(&stranger, &seller, pass).await;
        assert_eq!(refused, io::ErrorKind::UnexpectedEof, "{pass:?}");
    }
    assert_eq!(seller.clusters.streams_open(), 1);
    let refused = seller.clusters.streams_refused();
    assert_eq!(refused, BTreeMap::from([(Refusal::Stranger, 2)]));

    introduce([&own.places, &card.places]);
    until("datagrams to pass", || ways() == both(Kind::Lan)).await;
    buyer.echo(&served, 3, 81).await;
    // Nobody has to wait: time is told.
    for node in [&buyer, &seller] {
        let later = Instant::now() + UNUSED + LOOK;
        assert!(node.clusters.streams_due(later, 0).is_empty());
    }
    until("both ends of the stream to end", || one() == (0, 0)).await;
    assert_eq!(ways(), both(Kind::Lan));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_its_lease() {
    let seller = Node::start(14, None).await;
    let buyer = Node::start(15, Some(&seller)).await;
    let (card, own) = (seller.connect(3, vec![]), buyer.connect(OWNER, vec![]));
    let nowhere = [NOWHERE.to_owned()];
    seller.connect(3, vec![member(buyer.key, OWNER, &own, &nowhere)]);
    buyer.connect(OWNER, vec![member(seller.key, 3, &card, &nowhere)]);
    let stream = Some(Kind::Stream);
    until("a way over a stream", || {
        (seller.way(), buyer.way()) == (stream, stream)
    })
    .await;
    for node in [&seller, &buyer] {
        node.clusters.disconnect(&LEASE);
        // It was used just now, and the other end may go on to speak.
        node.clusters.streams_due(Instant::now(), 0);
        assert_eq!(node.clusters.streams_open(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_carries_between_streams() {
    let relay = Node::start(21, None).await;
    let (seller, buyer) = (
        Node::start(22, Some(&relay)).await,
        Node::start(23, Some(&relay)).await,
    );
    let tickets = [[0x21; 16], [0x22; 16]];
    let carried = relay.clusters.relay(&grant(tickets), &HERE).unwrap();
    let (card, own) = (seller.connect(3, vec![]), buyer.connect(OWNER, vec![]));
    let nobody = |seed| key_of(&TransportSeed([seed; 32]).peer_id()).unwrap();
    let by = |mut member: Member, ticket| {
        let (node, place) = (relay.key, NOWHERE.to_owned());
        member.relays.push(RelayWay {
            node,
            place,
            ticket,
        });
        member
    };
    // Neither finds the other's node, so that no stream leads to it.
    let (to_buyer, to_seller) = (
        member(nobody(31), OWNER, &own, &[]),
        member(nobody(32), 3, &card, &[]),
    );
    seller.connect(3, vec![by(to_buyer, tickets[0])]);
    buyer.connect(OWNER, vec![by(to_seller.clone(), tickets[1])]);
    let served = seller.serve(3);
    let ways = || (seller.way(), buyer.way());
    let both = (Some(Kind::RelayStream), Some(Kind::RelayStream));
    until("a way by the relay", || ways() == both).await;
    assert_eq!(relay.clusters.streams_open(), 2);
    buyer.echo(&served, 3, 80).await;
    let sum = |carried: &Carried| carried.bytes[0].iter().sum::<u64>();
    let now = relay.clusters.relay(&grant(tickets), &HERE).unwrap();
    assert!(sum(&now) > sum(&carried) + 600_000, "{now:?}");

    // Where one end's datagrams pass, its stream is left for them.
    let mut direct = by(to_seller, tickets[1]);
    direct.relays[0].place = carried.places[0].clone();
    buyer.connect(OWNER, vec![direct]);
    until("datagrams at one end", || {
        ways() == (both.0, Some(Kind::Relay))
    })
    .await;
    buyer.echo(&served, 3, 81).await;

    // What nobody grants any more ends.
    let told = grant(tickets);
    relay.clusters.end_relay(&told.purse, &told.carries);
    until("streams to end", || relay.clusters.streams_open() == 0).await;
    until("no way", || ways() == (None, None)).await;
}
