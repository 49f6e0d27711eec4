//! Addresses and names inside a lease's private network.
//!
//! 1. Everything follows from the network's id, the lease's id and the rank. Members agree without
//!    a word, and an announced address that differs is a lie.
//! 2. IPv6: `fd`, 40 bits of a hash of the network, 16 bits of the lease: a /64 for each lease. The
//!    lower half is a hash of lease and rank.
//! 3. IPv4, for software that knows nothing else: one of the 64 /22 networks in `10.201.0.0/16`,
//!    chosen by the lease; rank 0 has the first host address. Two leases may have the same one:
//!    each lives in network namespaces of its own.
//! 4. Names: `rank0.<8 hex digits of the lease>.gridbay`, and in short `rank0`.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::{LeaseId, NetworkId};

/// Ranks that the IPv4 network of a lease has addresses for.
pub const RANKS_MAX: u32 = 1022;
/// The rank whose addresses are those of the lease's resolver; nobody has it.
pub const RESOLVER: u32 = 956;
/// Length of a lease's IPv4 prefix in bits.
pub const V4_PREFIX: u8 = 22;
/// Length of a lease's IPv6 prefix in bits.
pub const V6_PREFIX: u8 = 64;
/// Name of the interface inside a job's namespace.
pub const INTERFACE: &str = "gb0";

/// The two addresses of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankAddress {
    /// Its address in the lease's /22.
    pub v4: Ipv4Addr,
    /// Its address in the lease's /64.
    pub v6: Ipv6Addr,
}

impl RankAddress {
    /// Whether this rank has the address.
    pub fn has(&self, address: &IpAddr) -> bool {
        match address {
            IpAddr::V4(v4) => *v4 == self.v4,
            IpAddr::V6(v6) => *v6 == self.v6,
        }
    }
}

/// The address plan of one lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    lease: LeaseId,
    v4: u32,
    v6: [u8; 8],
}

impl Plan {
    /// The plan of a lease.
    pub fn new(network: &NetworkId, lease: &LeaseId) -> Plan {
        let shared = hash(Domain::LeaseNet, &[network.as_bytes()]);
        let id = lease.as_bytes();
        let mut v6 = [0xfd; 8];
        v6[1..6].copy_from_slice(&shared[..5]);
        v6[6..].copy_from_slice(&id[..2]);
        let subnet = u32::from(id[2] % 64) << (32 - u32::from(V4_PREFIX));
        Plan {
            lease: *lease,
            v4: u32::from(Ipv4Addr::new(10, 201, 0, 0)) | subnet,
            v6,
        }
    }

    /// The network address of the lease's /22.
    pub fn v4_network(&self) -> Ipv4Addr {
        Ipv4Addr::from(self.v4)
    }

    /// The network address of the lease's /64.
    pub fn v6_network(&self) -> Ipv6Addr {
        let mut octets = [0; 16];
        octets[..8].copy_from_slice(&self.v6);
        Ipv6Addr::from(octets)
    }

    /// The addresses of a rank; none from rank [`RANKS_MAX`] on.
    pub fn rank(&self, rank: u32) -> Option<RankAddress> {
        if rank >= RANKS_MAX {
            return None;
        }
        let parts: [&[u8]; 2] = [self.lease.as_bytes(), &rank.to_be_bytes()];
        let own = hash(Domain::LeaseAddress, &parts);
        let mut octets = [0; 16];
        octets[..8].copy_from_slice(&self.v6);
        octets[8..].copy_from_slice(&own[..8]);
        Some(RankAddress {
            v4: Ipv4Addr::from(self.v4 + 1 + rank),
            v6: Ipv6Addr::from(octets),
        })
    }

    /// The rank that has an IPv4 address.
    pub fn rank_of(&self, address: Ipv4Addr) -> Option<u32> {
        let rank = u32::from(address).checked_sub(self.v4 + 1)?;
        (rank < RANKS_MAX).then_some(rank)
    }

    /// The full name of a rank, such as `rank0.0a1b2c3d.gridbay`.
    pub fn name(&self, rank: u32) -> String {
        format!("{}.{}.gridbay", short_name(rank), self.lease)
    }

    /// The text of `/etc/hosts` for ranks `0..ranks`, at most [`RANKS_MAX`].
    pub fn hosts_file(&self, ranks: u32) -> String {
        let mut text = String::from("127.0.0.1 localhost\n::1 localhost ip6-localhost\n");
        for rank in 0..ranks.min(RANKS_MAX) {
            if let Some(address) = self.rank(rank) {
                let (name, short) = (self.name(rank), short_name(rank));
                for ip in [IpAddr::V4(address.v4), IpAddr::V6(address.v6)] {
                    let _ = writeln!(text, "{ip} {name} {short}");
                }
            }
        }
        text
    }

    /// The text of `/etc/resolv.conf`: the lease's own resolver, and short names for its ranks.
    pub fn resolver_file(&self) -> String {
        let resolver = self.rank(RESOLVER).map(|address| address.v4);
        let server = resolver.map_or_else(String::new, |v4| format!("nameserver {v4}\n"));
        format!("{server}search {}.gridbay\n", self.lease)
    }

    /// The machine file that MPI and others read, one line a rank: `rank0 slots=1`.
    pub fn machine_file(&self, ranks: u32, slots: u32) -> String {
        let mut text = String::new();
        for rank in 0..ranks.min(RANKS_MAX) {
            let _ = writeln!(text, "{} slots={slots}", short_name(rank));
        }
        text
    }
}

/// The short name of a rank, such as `rank0`.
pub fn short_name(rank: u32) -> String {
    format!("rank{rank}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn plan(network: u8, lease: u8) -> Plan {
        Plan::new(&NetworkId([network; 32]), &LeaseId([lease; 32]))
    }

    #[test]
    fn ranks_of_a_lease_have_distinct_addresses_inside_its_networks() {
        let plan = plan(1, 2);
        let mut seen = BTreeSet::new();
        for rank in 0..RANKS_MAX {
            let address = plan.rank(rank).expect("a rank below the bound");
            assert!(seen.insert(IpAddr::V4(address.v4)) && seen.insert(IpAddr::V6(address.v6)));
            let v4 = u32::from(address.v4);
            assert_eq!(v4 >> 10, u32::from(plan.v4_network()) >> 10);
            assert_eq!(plan.rank_of(address.v4), Some(rank));
            assert!((1..1023).contains(&(v4 & 1023)), "no network or broadcast");
            assert_eq!(address.v6.octets()[..8], plan.v6_network().octets()[..8]);
        }
        assert_eq!(plan.rank(RANKS_MAX), None);
        let (network, broadcast) = (plan.v4, plan.v4 + 1023);
        for nobody in [0, network - 1, network, broadcast, u32::MAX] {
            assert_eq!(plan.rank_of(Ipv4Addr::from(nobody)), None);
        }
    }

    #[test]
    fn the_plan_is_pinned() {
        let plan = plan(1, 2);
        let first = plan.rank(0).expect("rank 0");
        assert_eq!(first.v4, Ipv4Addr::new(10, 201, 8, 1));
        assert_eq!(first.v6.octets()[0], 0xfd);
        assert_eq!(first.v6.octets()[6..8], [2, 2]);
        assert_eq!(plan.name(0), "rank0.02020202.gridbay");
    }

    #[test]
    fn networks_and_leases_are_apart_in_ipv6() {
        let all = [plan(1, 2), plan(2, 2), plan(1, 3)];
        let networks: BTreeSet<_> = all.iter().map(Plan::v6_network).collect();
        let members: BTreeSet<_> = all
            .iter()
            .filter_map(|plan| plan.rank(5))
            .map(|a| a.v6)
            .collect();
        assert_eq!((networks.len(), members.len()), (3, 3));
    }

    #[test]
    fn files_name_every_rank() {
        let plan = plan(1, 2);
        assert_eq!(plan.machine_file(2, 1), "rank0 slots=1\nrank1 slots=1\n");
        let hosts = plan.hosts_file(2);
        assert_eq!(hosts.lines().count(), 6);
        assert!(hosts.contains("10.201.8.2 rank1.02020202.gridbay rank1\n"));
        let resolver = "nameserver 10.201.11.189\nsearch 02020202.gridbay\n";
        assert_eq!(plan.resolver_file(), resolver);
    }
}
