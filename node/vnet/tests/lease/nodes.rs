//! Nodes: engines in this process, on the loopback.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use gridbay_vnet::engine::{Attachment, Engine, EngineConfig, LeaseNet, LeaseStatus, Member};
use gridbay_vnet::keys::Secret;
use gridbay_vnet::path::{Candidate, Kind};

use crate::rank::{Link, Rank, lease, network};

/// An engine with its key, the same for all leases of a test.
pub(crate) struct Node {
    pub(crate) engine: Engine,
    pub(crate) secret: Secret,
}

/// What the members of a lease know.
pub(crate) fn psk(byte: u8) -> Secret {
    Secret::new([byte ^ 0x5a; 32])
}

impl Node {
    pub(crate) fn new(key: u8) -> Node {
        let bind = SocketAddr::from(([127, 0, 0, 1], 0));
        Node {
            engine: Engine::bind(&EngineConfig::new(bind)).expect("an engine"),
            secret: Secret::new([key; 32]),
        }
    }

    pub(crate) fn at(&self) -> SocketAddr {
        self.engine.local_addr().expect("an address")
    }

    /// This node as others are told of it.
    pub(crate) fn member(&self, ranks: &[u32]) -> Member {
        self.member_by(ranks, &[Candidate::at(Kind::Lan, self.at())])
    }

    pub(crate) fn member_by(&self, ranks: &[u32], candidates: &[Candidate]) -> Member {
        Member {
            public: self.secret.public(),
            ranks: ranks.to_vec(),
            candidates: candidates.to_vec(),
        }
    }

    pub(crate) fn net(&self, byte: u8, own: &[u32], members: Vec<Member>) -> LeaseNet {
        LeaseNet {
            lease: lease(byte),
            network: network(),
            own: own.to_vec(),
            secret: self.secret.clone(),
            psk: psk(byte),
            members,
        }
    }

    pub(crate) fn open(&self, byte: u8, own: &[u32], members: Vec<Member>) {
        let net = self.net(byte, own, members);
        self.engine.open(&net).expect("opens the lease");
    }

    pub(crate) fn attach(&self, byte: u8, number: u32, rank: &mut Rank) -> Attachment {
        let device = rank.device.take().expect("a device");
        let attached = self.engine.attach(&lease(byte), number, device);
        attached.expect("attaches the device")
    }

    pub(crate) fn status(&self, byte: u8) -> LeaseStatus {
        self.engine.status(&lease(byte)).expect("an open lease")
    }
}

/// Two nodes with one rank each of a lease, attached.
pub(crate) struct Two {
    pub(crate) nodes: [Node; 2],
    pub(crate) ranks: [Rank; 2],
    pub(crate) attached: [Option<Attachment>; 2],
}

impl Two {
    /// With keys that follow from `key`; none where there are no devices.
    pub(crate) fn start(byte: u8, key: u8) -> Option<Two> {
        Two::start_by([Link::Tun; 2], byte, key)
    }

    /// The same with those kinds of devices.
    pub(crate) fn start_by(links: [Link; 2], byte: u8, key: u8) -> Option<Two> {
        let start = |rank: u32| Rank::start_by(links[rank as usize], byte, rank);
        let mut ranks = [start(0)?, start(1)?];
        let nodes = [Node::new(key), Node::new(key + 1)];
        nodes[0].open(byte, &[0], vec![nodes[1].member(&[1])]);
        nodes[1].open(byte, &[1], vec![nodes[0].member(&[0])]);
        let attached = [0, 1].map(|i| Some(nodes[i].attach(byte, i as u32, &mut ranks[i])));
        Some(Two {
            nodes,
            ranks,
            attached,
        })
    }

    /// Whether the first rank reaches the second.
    pub(crate) fn works(&mut self) -> bool {
        let to = self.ranks[1].address.v4;
        self.ranks[0].reaches(to)
    }

    /// Whether it does not.
    pub(crate) fn fails(&mut self) -> bool {
        let to = self.ranks[1].address.v4;
        self.ranks[0].misses(to)
    }
}

/// Waits until something holds, half a minute at the most.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
