//! What an owner sees of a lease's network.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use gridbay_protocol::ids::LeaseId;

use super::lease::{Pair, Traffic};
use super::{Engine, EngineError, held};
use crate::drops::Drops;
use crate::path::{ByRelay, Candidate};

/// Packets and bytes in one direction, as they are inside the tunnel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Volume {
    fn of(traffic: &Traffic) -> Volume {
        Volume {
            packets: traffic.packets.load(Relaxed),
            bytes: traffic.bytes.load(Relaxed),
        }
    }
}

/// This node and one other member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairStatus {
    /// The member's key.
    pub public: [u8; 32],
    /// Its ranks.
    pub ranks: Vec<u32>,
    /// The way in use; none while there is none.
    pub path: Option<Candidate>,
    /// All ways that are tried.
    pub tried: Vec<Candidate>,
    /// Since there first was a way.
    pub reached: Option<Duration>,
    /// Probes of the way in use that were sent since it answers, and the answers to them.
    pub probes: (u32, u32),
    /// Round trip on it.
    pub round_trip: Option<Duration>,
    /// Bytes of a packet that it is known to take; none before that was tried.
    pub mtu: Option<u16>,
    /// Since the last handshake; none before the first.
    pub handshake_age: Option<Duration>,
    /// Where the other member last saw this node.
    pub seen: Option<std::net::SocketAddr>,
    /// To the member.
    pub sent: Volume,
    /// From the member.
    pub received: Volume,
    /// What went by relays, part of the former two.
    pub relayed: Vec<ByRelay>,
    /// Of what was, or claimed to be, from the member.
    pub drops: Drops,
}

/// A lease's network as this node sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseStatus {
    /// Ranks of this node with a device.
    pub attached: Vec<u32>,
    /// The other members.
    pub pairs: Vec<PairStatus>,
    /// Of packets from own jobs, and of what no member is known for.
    pub drops: Drops,
}

impl Engine {
    /// The state of an open lease.
    pub fn status(&self, lease: &LeaseId) -> Result<LeaseStatus, EngineError> {
        let lease = self.lease(lease)?;
        let ports = held(lease.ports.read());
        let open = ports.values().filter(|port| port.is_open());
        let mut attached: Vec<_> = open.map(|port| port.rank).collect();
        attached.sort_unstable();
        Ok(LeaseStatus {
            attached,
            pairs: lease
                .members()
                .pairs
                .iter()
                .map(|pair| self.pair(pair))
                .collect(),
            drops: lease.drops.read(),
        })
    }

    fn pair(&self, pair: &Pair) -> PairStatus {
        let now = self.shared.now();
        pair.path(&self.shared, |path| PairStatus {
            public: pair.public,
            ranks: held(pair.ranks.read()).clone(),
            path: path.active(),
            tried: path.candidates().collect(),
            reached: path.reached().map(|at| now.saturating_sub(at)),
            probes: path.probes(),
            round_trip: path.round_trip(),
            mtu: path.mtu(),
            handshake_age: pair.handshake_age(),
            seen: path.seen(),
            sent: Volume::of(&pair.sent),
            received: Volume::of(&pair.received),
            relayed: path.by_relays(now),
            drops: pair.drops.read(),
        })
    }
}
