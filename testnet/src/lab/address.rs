//! Addresses of a lab: everything follows from the number of a public link and from how often an
//! address was changed.
//!
//! | what | IPv4 | IPv6 |
//! |---|---|---|
//! | public link `n`, generation `g` | `45.n.(1+g).0/30`: router `.1`, machine `.2` | `2a45:n:1+g::/64`: `::1`, `::2` |
//! | hosts behind a router that does not translate | `45.n.250.0/24`: router `.1`, hosts from `.10` | `2a45:n:250::/64` |
//! | hosts behind one that does | `10.n.0.0/24`: router `.1`, hosts from `.10` | none |
//! | between the two routers of a `double` network | `100.64.n.0/24`: provider `.1`, router `.2` | none |
//!
//! They look public so that programs treat them so; no packet of theirs leaves the namespaces. All
//! addresses of a link begin with its number, through every change, which is how a delay is found
//! for a packet.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How often a link's address can change: the third byte ends before that of the hosts.
pub(super) const GENERATIONS: u8 = 200;
/// Hosts behind one router at the most: their addresses move within a /24.
pub(super) const HOSTS_PER_NETWORK: usize = 60;
/// First IPv4 byte of public addresses.
pub(super) const PUBLIC_V4: u8 = 45;
/// First IPv6 group of public addresses.
pub(super) const PUBLIC_V6: u16 = 0x2a45;
const LAN: u8 = 250;

/// An address with the bits of its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Net {
    /// The address.
    pub(super) address: IpAddr,
    /// Bits that its neighbours share.
    pub(super) bits: u8,
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

/// Addresses of the two ends of a cable, or of a router and one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// The end nearer to the public network.
    pub(super) up: Net,
    /// The end farther from it.
    pub(super) down: Net,
}

/// A public link, IPv4 then IPv6.
pub(super) fn public_link(number: u8, generation: u8) -> [Pair; 2] {
    let part = 1 + generation % GENERATIONS;
    [
        v4([PUBLIC_V4, number, part], 2, 30),
        v6(number, part.into(), 2),
    ]
}

/// A host behind a router that does not translate, IPv4 then IPv6.
pub(super) fn public_lan(number: u8, place: usize, generation: u8) -> [Pair; 2] {
    let last = last_byte(place, generation);
    [
        v4([PUBLIC_V4, number, LAN], last, 24),
        v6(number, LAN.into(), last.into()),
    ]
}

/// A host behind a router that translates.
pub(super) fn private_lan(number: u8, place: usize, generation: u8) -> Pair {
    v4([10, number, 0], last_byte(place, generation), 24)
}

/// Between a provider's router and a customer's.
pub(super) fn provider_lan(number: u8) -> Pair {
    v4_of(Ipv4Addr::new(100, 64, number, 1), 2, 24)
}

/// All addresses that a link has had or will have, IPv4 then IPv6.
pub(super) fn prefixes(number: u8) -> [Net; 2] {
    let v4 = Ipv4Addr::new(PUBLIC_V4, number, 0, 0);
    let v6 = Ipv6Addr::new(PUBLIC_V6, number.into(), 0, 0, 0, 0, 0, 0);
    [(v4.into(), 16), (v6.into(), 32)].map(|(address, bits)| Net { address, bits })
}

/// Four blocks of sixty are taken in turn, so a host's new address is never its neighbour's.
fn last_byte(place: usize, generation: u8) -> u8 {
    assert!(place < HOSTS_PER_NETWORK, "a topology is checked");
    10 + HOSTS_PER_NETWORK as u8 * (generation % 4) + place as u8
}

fn v4(net: [u8; 3], last: u8, bits: u8) -> Pair {
    v4_of(Ipv4Addr::new(net[0], net[1], net[2], 1), last, bits)
}

fn v4_of(up: Ipv4Addr, last: u8, bits: u8) -> Pair {
    let [a, b, c, _] = up.octets();
    let net = |address: Ipv4Addr| Net {
        address: address.into(),
        bits,
    };
    Pair {
        up: net(up),
        down: net(Ipv4Addr::new(a, b, c, last)),
    }
}

fn v6(number: u8, part: u16, last: u16) -> Pair {
    let net = |last: u16| Net {
        address: Ipv6Addr::new(PUBLIC_V6, number.into(), part, 0, 0, 0, 0, last).into(),
        bits: 64,
    };
    Pair {
        up: net(1),
        down: net(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn addresses_are_written_as_the_table_says() {
        let shown = |pair: Pair| format!("{} {}", pair.up, pair.down);
        let [v4, v6] = public_link(7, 0);
        assert_eq!(shown(v4), "45.7.1.1/30 45.7.1.2/30");
        assert_eq!(shown(v6), "2a45:7:1::1/64 2a45:7:1::2/64");
        let [v4, v6] = public_lan(7, 2, 1);
        assert_eq!(shown(v4), "45.7.250.1/24 45.7.250.72/24");
        assert_eq!(shown(v6), "2a45:7:fa::1/64 2a45:7:fa::48/64");
        assert_eq!(shown(private_lan(7, 0, 0)), "10.7.0.1/24 10.7.0.10/24");
        assert_eq!(shown(provider_lan(7)), "100.64.7.1/24 100.64.7.2/24");
        assert_eq!(
            prefixes(7).map(|n| n.to_string()),
            ["45.7.0.0/16", "2a45:7::/32"]
        );
    }

    #[test]
    fn no_two_generations_share_an_address() {
        let links = (0..GENERATIONS).map(|g| public_link(200, g)[0].down.to_string());
        let lans = (0..4).flat_map(|g| {
            (0..HOSTS_PER_NETWORK).map(move |p| public_lan(200, p, g)[0].down.to_string())
        });
        let all: Vec<String> = links.chain(lans).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    }
}
