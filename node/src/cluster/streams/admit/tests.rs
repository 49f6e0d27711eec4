//! Streams that stand, without bytes on them.

use super::*;
use crate::cluster::streams::open::Place;
use crate::cluster::streams::pass::MUTE;
use gridbay_core::cluster::{Card, Cluster, Member};
use gridbay_protocol::ids::NetworkId;
use gridbay_protocol::keys::SecretKey;
use std::net::{IpAddr, Ipv4Addr};

const HERE: [IpAddr; 1] = [IpAddr::V4(Ipv4Addr::LOCALHOST)];
/// Streams that one lease may have.
const STREAMED: u16 = PER_LEASE as u16;

fn key(n: u16) -> PublicKey {
    let mut seed = [0; 32];
    seed[..2].copy_from_slice(&n.to_be_bytes());
    SecretKey::from_seed(&seed).public()
}

fn lease(n: u8) -> LeaseId {
    LeaseId([n; 32])
}

/// A node in networks, as peers meet it.
struct Door(Clusters);

impl Door {
    fn new() -> Door {
        Door(Clusters::new(NetworkId([1; 32]), 0))
    }

    /// Opens the network of a lease whose other members are these.
    fn connect(&self, lease: LeaseId, others: impl Iterator<Item = u16>) {
        let member = |n: u16| {
            let mut public = [9; 32];
            public[..2].copy_from_slice(&n.to_be_bytes());
            let (places, outside) = (vec![], None);
            Member {
                node: key(n),
                ranks: vec![n.into()],
                card: Card {
                    public,
                    places,
                    outside,
                },
                relays: vec![],
            }
        };
        let mut others: Vec<Member> = others.map(member).collect();
        others.sort_by_key(|m| m.node);
        let cluster = Cluster {
            lease,
            secret: [5; 32],
            ranks: vec![0],
            others,
        };
        self.0.connect(&cluster, &HERE).unwrap();
    }

    fn admits(&self, n: u16, of: LeaseId) -> Result<(), Refusal> {
        self.0.admits_stream(&key(n), &Pass::Member(of))
    }

    fn enter(&self, n: u16, of: LeaseId) -> bool {
        let (at, own) = ("127.0.0.1:1".parse().unwrap(), false);
        let (pass, me) = (Pass::Member(of), key(0));
        let place = Place { at, pass, own };
        self.0.enter_stream(&me, key(n), place).is_some()
    }

    fn stands(&self, n: u16) -> bool {
        self.0.lock().streams.at(&key(n)).is_some()
    }
}

#[test]
fn a_lease_leaves_room_for_others_and_a_mute_member_makes_some() {
    let (door, last, late) = (Door::new(), STREAMED + 1, 200);
    door.connect(lease(7), 1..=last);
    door.connect(lease(8), [late].into_iter());
    for n in 1..=STREAMED {
        assert_eq!(door.admits(n, lease(7)), Ok(()));
        assert!(door.enter(n, lease(7)));
    }
    assert_eq!(door.admits(last, lease(7)), Err(Refusal::LeaseFull));
    assert!(!door.enter(last, lease(7)), "nor if it was admitted before");
    assert!(door.enter(1, lease(7)), "another one for its own");
    assert!(door.enter(late, lease(8)), "another lease");
    assert_eq!(door.0.streams_refused()[&Refusal::LeaseFull], 1);

    let now = Instant::now();
    door.0.streams_due(now, 0);
    assert_eq!(door.0.streams_open(), usize::from(STREAMED) + 1);
    door.0.streams_due(now + MUTE, 0);
    assert_eq!(door.0.streams_open(), 0);
}

#[test]
fn leases_that_take_all_places_give_way_to_one_with_fewer() {
    let door = Door::new();
    let (first, second) = (1..=STREAMED, STREAMED + 1..=2 * STREAMED);
    door.connect(lease(7), first.clone());
    door.connect(lease(8), second.clone());
    door.connect(lease(9), 500..=500 + STREAMED);
    assert!(first.chain(second).all(|n| {
        let of = lease(if n <= STREAMED { 7 } else { 8 });
        door.admits(n, of) == Ok(()) && door.enter(n, of)
    }));
    assert_eq!(door.0.streams_open(), LET_IN);

    // As long as the largest share stays no smaller than the newcomer's becomes.
    let entered = (500..=500 + STREAMED).filter(|n| door.enter(*n, lease(9)));
    let entered: Vec<u16> = entered.collect();
    let fair = u16::try_from(LET_IN / 3).unwrap();
    assert_eq!(entered, Vec::from_iter(500..500 + fair));
    assert_eq!(door.0.streams_open(), LET_IN);
    assert_eq!(door.admits(500 + fair, lease(9)), Err(Refusal::Full));
    assert!(door.stands(1) && door.stands(STREAMED + 1), "the oldest");
    assert!(
        !door.stands(STREAMED) && !door.stands(2 * STREAMED),
        "the latest"
    );
    // What gave way does not come back in place of another.
    assert_eq!(door.admits(STREAMED, lease(7)), Err(Refusal::Full));
}
