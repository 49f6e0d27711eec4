//! Which packets may pass between the ranks of a lease (crypto-key routing).
//!
//! 1. The table of a lease knows the addresses of its own ranks and those of each member's ranks,
//!    all derived ([`crate::address`]). A rank belongs to one of them.
//! 2. Outgoing: the source must be an address of the rank whose device it was read from, the
//!    destination an address in the table.
//! 3. Incoming, opened with the keys of a member: the source must be an address of that member, the
//!    destination an address of one of our ranks.
//! 4. All else is dropped, each with its own reason: groups, other leases, the host, the internet.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::address::Plan;
use crate::drops::Drop;
use crate::packet;

/// Where an address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// To a rank of this node.
    Own(u32),
    /// To the member with this number in the table.
    Member(usize),
}

/// Why there can be no such table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// Two members, or a member and this node, have the same rank.
    #[error("rank {0} has two owners")]
    RankTaken(u32),
    /// There is no address for it.
    #[error("rank {0} is beyond the address plan")]
    RankTooHigh(u32),
}

/// The table of one lease.
#[derive(Clone, Debug, Default)]
pub struct Routes(HashMap<IpAddr, Hop>);

impl Routes {
    /// The table for own ranks and for members by their numbers.
    pub fn new<'a>(
        plan: &Plan,
        own: &[u32],
        members: impl IntoIterator<Item = (usize, &'a [u32])>,
    ) -> Result<Routes, RouteError> {
        let mut routes = HashMap::new();
        let own = own.iter().map(|rank| (*rank, Hop::Own(*rank)));
        let members = members.into_iter().flat_map(|(number, ranks)| {
            let hop = Hop::Member(number);
            ranks.iter().map(move |rank| (*rank, hop))
        });
        for (rank, hop) in own.chain(members) {
            let address = plan.rank(rank).ok_or(RouteError::RankTooHigh(rank))?;
            for ip in [IpAddr::V4(address.v4), IpAddr::V6(address.v6)] {
                if routes.insert(ip, hop).is_some() {
                    return Err(RouteError::RankTaken(rank));
                }
            }
        }
        Ok(Routes(routes))
    }

    /// Whether an address is that of a rank of the lease.
    pub fn leads_to(&self, address: &IpAddr) -> bool {
        self.0.contains_key(address)
    }

    /// Rule 2: where a packet goes that was read from a rank's device.
    pub fn outgoing(&self, rank: u32, packet: &[u8]) -> Result<Hop, Drop> {
        let (source, destination) = packet::ends(packet).ok_or(Drop::NotIp)?;
        if destination.is_multicast() {
            return Err(Drop::NoRoute);
        }
        if self.0.get(&source) != Some(&Hop::Own(rank)) {
            return Err(Drop::SpoofedSource);
        }
        self.0.get(&destination).copied().ok_or(Drop::NoRoute)
    }

    /// Rule 3: the own rank that a packet goes to which was opened with a member's keys.
    pub fn incoming(&self, member: usize, packet: &[u8]) -> Result<u32, Drop> {
        let (source, destination) = packet::ends(packet).ok_or(Drop::NotIp)?;
        if self.0.get(&source) != Some(&Hop::Member(member)) {
            return Err(Drop::PeerSource);
        }
        match self.0.get(&destination) {
            Some(Hop::Own(rank)) => Ok(*rank),
            _ => Err(Drop::PeerDestination),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::RankAddress;
    use gridbay_protocol::ids::{LeaseId, NetworkId};
    use proptest::prelude::*;

    fn plan(lease: u8) -> Plan {
        Plan::new(&NetworkId([9; 32]), &LeaseId([lease; 32]))
    }

    fn address(lease: u8, rank: u32) -> RankAddress {
        plan(lease).rank(rank).expect("a rank")
    }

    fn v4(source: RankAddress, destination: RankAddress) -> Vec<u8> {
        let mut packet = vec![0x45; 20];
        packet[12..16].copy_from_slice(&source.v4.octets());
        packet[16..20].copy_from_slice(&destination.v4.octets());
        packet
    }

    fn v6(source: RankAddress, destination: RankAddress) -> Vec<u8> {
        let mut packet = vec![0x60; 40];
        packet[8..24].copy_from_slice(&source.v6.octets());
        packet[24..40].copy_from_slice(&destination.v6.octets());
        packet
    }

    /// Own ranks 0 and 1, member 0 with rank 2, member 1 with ranks 3 and 4.
    fn routes() -> Routes {
        Routes::new(&plan(1), &[0, 1], [(0, &[2][..]), (1, &[3, 4])]).expect("a table")
    }

    #[test]
    fn packets_of_the_lease_pass() {
        let (a, routes) = (|rank| address(1, rank), routes());
        for make in [v4, v6] {
            assert_eq!(routes.outgoing(0, &make(a(0), a(1))), Ok(Hop::Own(1)));
            assert_eq!(routes.outgoing(1, &make(a(1), a(4))), Ok(Hop::Member(1)));
            assert_eq!(routes.incoming(0, &make(a(2), a(1))), Ok(1));
        }
    }

    #[test]
    fn each_wrong_packet_has_its_reason() {
        let (a, routes) = (|rank| address(1, rank), routes());
        for make in [v4, v6] {
            assert_eq!(
                routes.outgoing(0, &make(a(1), a(2))),
                Err(Drop::SpoofedSource)
            );
            assert_eq!(routes.outgoing(0, &make(a(0), a(9))), Err(Drop::NoRoute));
            assert_eq!(routes.incoming(0, &make(a(3), a(0))), Err(Drop::PeerSource));
            assert_eq!(routes.incoming(0, &make(a(0), a(1))), Err(Drop::PeerSource));
            assert_eq!(
                routes.incoming(0, &make(a(2), a(3))),
                Err(Drop::PeerDestination)
            );
        }
        assert_eq!(routes.outgoing(0, &[0x45; 19]), Err(Drop::NotIp));
        assert_eq!(routes.incoming(0, &[]), Err(Drop::NotIp));
        let outside = v6(address(2, 2), address(2, 0));
        assert_eq!(routes.incoming(0, &outside), Err(Drop::PeerSource));
    }

    #[test]
    fn a_rank_has_one_owner() {
        let taken = Err(RouteError::RankTaken(1));
        assert_eq!(
            Routes::new(&plan(1), &[0, 1], [(0, &[1][..])]).map(drop),
            taken
        );
        assert_eq!(
            Routes::new(&plan(1), &[], [(0, &[1][..]), (1, &[1])]).map(drop),
            taken
        );
        let high = Routes::new(&plan(1), &[1022], []).map(drop);
        assert_eq!(high, Err(RouteError::RankTooHigh(1022)));
    }

    proptest! {
        /// Whatever the bytes: what comes in from a member and is let in has one of its sources and
        /// one of our destinations.
        #[test]
        fn nothing_else_gets_in(bytes in proptest::collection::vec(any::<u8>(), 0..64), member in 0_usize..3) {
            if let Ok(rank) = routes().incoming(member, &bytes) {
                let (source, destination) = packet::ends(&bytes).expect("was read");
                let theirs: &[u32] = [&[2][..], &[3, 4], &[]][member];
                prop_assert!(theirs.iter().any(|r| address(1, *r).has(&source)));
                prop_assert!(address(1, rank).has(&destination) && rank < 2);
            }
        }
    }
}
