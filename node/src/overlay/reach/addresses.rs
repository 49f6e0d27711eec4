//! Addresses, and the claimed ones that the node believes.
//!
//! 1. An address is *direct* (host, then TCP or QUIC) or a *circuit* (a direct address of a relay,
//!    its peer id, then `p2p-circuit`). Names of hosts are taken from the node's own configuration
//!    only: a stranger that could name one would make the node ask name servers for it.
//! 2. A peer may claim to listen anywhere, and could make a node that believes it dial strangers.
//!    So an address enters the routing table only when its IP is the one from which the peer talks
//!    to this node; the port alone is taken on trust. Addresses in a record that the peer signed,
//!    or that it claims over a circuit, are dialled a bounded number of times, and believed when it
//!    answers there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};

/// Addresses kept per peer.
pub(crate) const PER_PEER: usize = 12;

/// Those of `claimed` that a peer seen at `seen` may be reached at, without peer id, no doubles.
pub(crate) fn believable(claimed: &[Multiaddr], seen: &Multiaddr) -> Vec<Multiaddr> {
    if is_circuit(seen) {
        return Vec::new();
    }
    let Some(source) = ip(seen) else {
        return Vec::new();
    };
    filtered(claimed, |a| ip(a) == Some(source) && is_direct(a, false))
}

/// The dialable ones among addresses told by somebody else, without the peer's own id, bounded.
pub(crate) fn dialable(addresses: &[Multiaddr]) -> Vec<Multiaddr> {
    filtered(addresses, |a| is_direct(a, false) || is_dialable_circuit(a))
}

/// The dialable ones among addresses that we were configured with: names of hosts count too.
pub(crate) fn configured(addresses: &[Multiaddr]) -> Vec<Multiaddr> {
    filtered(addresses, |a| is_direct(a, true) || is_dialable_circuit(a))
}

/// The addresses that a peer claims over a circuit and the node may try: direct ones that everybody
/// can reach, and those in a network that the node is in too.
pub(crate) fn worth_a_try(claimed: &[Multiaddr], own: &[Multiaddr]) -> Vec<Multiaddr> {
    let neighbour = |ip: IpAddr| {
        own.iter()
            .filter_map(self::ip)
            .any(|o| prefix(o) == prefix(ip))
    };
    filtered(claimed, |a| {
        let host = ip(a).filter(|ip| is_global(*ip) || (!ip.is_loopback() && neighbour(*ip)));
        is_direct(a, false) && host.is_some()
    })
}

fn filtered(addresses: &[Multiaddr], good: impl Fn(&Multiaddr) -> bool) -> Vec<Multiaddr> {
    let mut kept = Vec::new();
    for address in addresses.iter().filter(|a| good(a)).map(without_peer) {
        if !kept.contains(&address) && kept.len() < PER_PEER {
            kept.push(address);
        }
    }
    kept
}

/// Whether an address names one host and a transport we speak: IP (or, if allowed, a name), then
/// TCP or QUIC v1, a real port, and at most a peer id after it.
pub(crate) fn is_direct(address: &Multiaddr, names: bool) -> bool {
    let mut parts = address.iter();
    let mut head = parts.by_ref();
    is_endpoint(&mut head, names)
        && matches!(
            (parts.next(), parts.next()),
            (None | Some(Protocol::P2p(_)), None)
        )
}

/// A direct address of a relay, its peer id, `p2p-circuit`, and at most the peer id of the target.
fn is_dialable_circuit(address: &Multiaddr) -> bool {
    let mut parts = address.iter();
    let mut head = parts.by_ref();
    is_endpoint(&mut head, false)
        && matches!(parts.next(), Some(Protocol::P2p(_)))
        && parts.next() == Some(Protocol::P2pCircuit)
        && matches!(
            (parts.next(), parts.next()),
            (None | Some(Protocol::P2p(_)), None)
        )
}

fn is_endpoint<'a>(parts: &mut impl Iterator<Item = Protocol<'a>>, names: bool) -> bool {
    let host = match parts.next() {
        Some(Protocol::Ip4(ip)) => !ip.is_unspecified() && !ip.is_multicast(),
        Some(Protocol::Ip6(ip)) => !ip.is_unspecified() && !ip.is_multicast(),
        Some(Protocol::Dns(_) | Protocol::Dns4(_) | Protocol::Dns6(_)) => names,
        _ => false,
    };
    host && match parts.next() {
        Some(Protocol::Tcp(port)) => port != 0,
        Some(Protocol::Udp(port)) => port != 0 && parts.next() == Some(Protocol::QuicV1),
        _ => false,
    }
}

/// Whether an address leads through a relay.
pub fn is_circuit(address: &Multiaddr) -> bool {
    address.iter().any(|p| p == Protocol::P2pCircuit)
}

/// The relay of a circuit.
pub(crate) fn relay_of(circuit: &Multiaddr) -> Option<PeerId> {
    let mut last = None;
    for part in circuit {
        match part {
            Protocol::P2p(peer) => last = Some(peer),
            Protocol::P2pCircuit => return last,
            _ => {}
        }
    }
    None
}

/// Whether an address is on this machine alone.
pub(crate) fn is_loopback(address: &Multiaddr) -> bool {
    ip(address).is_some_and(|ip| ip.is_loopback())
}

/// Whether an address is QUIC's.
pub fn is_quic(address: &Multiaddr) -> bool {
    address.iter().any(|p| p == Protocol::QuicV1)
}

/// Whether a connection to an address is rather wanted than one over the other transport: QUIC to
/// other machines, which nothing on the way can slow down or break by reading it; on this machine
/// TCP, since nothing is lost there, and the kernel does what QUIC does by itself.
pub(crate) fn is_first_choice(address: &Multiaddr) -> bool {
    is_quic(address) != is_loopback(address)
}

/// Peer and address of a multiaddr that ends in `/p2p/<peer>`; `None` without a peer.
pub fn split_peer(address: &Multiaddr) -> Option<(PeerId, Multiaddr)> {
    let mut address = address.clone();
    match address.pop() {
        Some(Protocol::P2p(peer)) => Some((peer, address)),
        _ => None,
    }
}

/// The address without a peer id at its end; that of a circuit's relay stays.
pub(crate) fn without_peer(address: &Multiaddr) -> Multiaddr {
    split_peer(address).map_or_else(|| address.clone(), |(_, address)| address)
}

/// The IP of a direct address, or of the relay of a circuit.
pub fn ip(address: &Multiaddr) -> Option<IpAddr> {
    match address.iter().next()? {
        Protocol::Ip4(ip) => Some(IpAddr::V4(ip)),
        Protocol::Ip6(ip) => Some(IpAddr::V6(ip)),
        _ => None,
    }
}

/// Port of a direct address.
pub fn port(address: &Multiaddr) -> Option<u16> {
    address.iter().find_map(|p| match p {
        Protocol::Tcp(port) | Protocol::Udp(port) => Some(port),
        _ => None,
    })
}

/// From how far an IP can be reached, as far as its range tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    /// From anywhere.
    Global,
    /// Within a site or behind a carrier: RFC 1918, RFC 4193, RFC 6598.
    Private,
    /// On this machine.
    Loopback,
    /// On one link: RFC 3927, RFC 4291.
    Link,
    /// Where clouds tell their machines secrets.
    Metadata,
    /// By nobody: unspecified, multicast, broadcast, reserved.
    Nowhere,
}

/// Where clouds tell their machines secrets: nobody else is there.
const METADATA: [IpAddr; 5] = [
    // Azure's, which looks like an address of the internet.
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
];

/// The range of an IP. An IPv4 address within an IPv6 one counts as IPv4.
pub(crate) fn range(ip: IpAddr) -> Range {
    let ip = ip.to_canonical();
    if METADATA.contains(&ip) {
        return Range::Metadata;
    }
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, c, _] = ip.octets();
            match (a, b, c) {
                (0 | 224..=255, ..) | (192, 0, 0) => Range::Nowhere,
                (127, ..) => Range::Loopback,
                (169, 254, _) => Range::Link,
                (10, ..) | (172, 16..=31, _) | (192, 168, _) | (100, 64..=127, _) => Range::Private,
                _ => Range::Global,
            }
        }
        IpAddr::V6(ip) => match ip.segments() {
            _ if ip.is_unspecified() || ip.is_multicast() => Range::Nowhere,
            _ if ip.is_loopback() => Range::Loopback,
            [0xfe80..=0xfebf, ..] => Range::Link,
            [0xfc00..=0xfdff, ..] => Range::Private,
            // Translated into IPv4 on the way (RFC 6052, RFC 3056).
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
                range(Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low)).into())
            }
            _ => Range::Global,
        },
    }
}

/// Whether an IP can be reached from anywhere, as far as its range tells: not loopback, link-local,
/// private (RFC 1918, RFC 4193) or shared by a carrier (RFC 6598).
pub fn is_global(ip: IpAddr) -> bool {
    range(ip) == Range::Global
}

/// Whether the last 64 bits of an IPv6 address are made of the hardware's (RFC 4291, appendix A).
fn names_hardware(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(ip) if matches!(ip.octets(), [.., 0xff, 0xfe, _, _, _]))
}

/// The block that a site of private addresses usually is. 10/8 is routed whole within an
/// institution; of 172.16/12 machines take 16 bits for each network of their own (containers), and
/// 192.168/16 has no more anyway. A carrier's range is one.
fn site(ip: IpAddr) -> [u8; 2] {
    match ip.to_canonical() {
        IpAddr::V4(ip) => match ip.octets() {
            [a @ (172 | 192), b, ..] => [a, b],
            [a, ..] => [a, 0],
        },
        IpAddr::V6(_) => [0; 2],
    }
}

/// Whether a peer seen at `seen` could use an address of this node: one of the Internet that does
/// not name the hardware, or one in the range and [`site`] in which the peer is itself. A peer that
/// comes through a relay is nowhere.
pub(crate) fn is_of_use(own: &Multiaddr, seen: &Multiaddr) -> bool {
    let Some(host) = ip(own) else {
        return true;
    };
    let near = || {
        let there = ip(seen).filter(|_| !is_circuit(seen));
        there.is_some_and(|there| range(there) == range(host) && site(there) == site(host))
    };
    match range(host) {
        Range::Global => !names_hardware(host),
        Range::Loopback | Range::Private => near(),
        Range::Link | Range::Metadata | Range::Nowhere => false,
    }
}

/// The network of a host as far as one owner usually reaches: 24 bits of IPv4, 48 of IPv6.
pub fn prefix(ip: IpAddr) -> [u8; 6] {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, c, _] = ip.octets();
            [0, 0, 4, a, b, c]
        }
        IpAddr::V6(ip) => {
            let [a, b, c, d, e, f, ..] = ip.octets();
            [a, b, c, d, e, f]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RELAY: &str = "12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN";

    fn addresses(list: &[&str]) -> Vec<Multiaddr> {
        list.iter().map(|a| a.parse().unwrap()).collect()
    }

    #[test]
    fn only_the_host_that_talks_to_us_is_believed() {
        let claimed = addresses(&[
            "/ip4/127.0.0.1/tcp/9",
            "/ip4/10.0.0.2/tcp/4101",
            "/ip4/10.0.0.2/tcp/4101",
            "/ip4/10.0.0.2/udp/4101/quic-v1",
            "/ip4/10.0.0.3/tcp/4101",
            "/ip4/10.0.0.2/tcp/0",
            "/ip4/10.0.0.2/udp/53",
        ]);
        let seen = "/ip4/10.0.0.2/udp/55555/quic-v1".parse().unwrap();
        let expected = addresses(&["/ip4/10.0.0.2/tcp/4101", "/ip4/10.0.0.2/udp/4101/quic-v1"]);
        assert_eq!(believable(&claimed, &seen), expected);
        let through = format!("/ip4/10.0.0.2/tcp/1/p2p/{RELAY}/p2p-circuit");
        assert_eq!(believable(&claimed, &through.parse().unwrap()), []);
    }

    #[test]
    fn wildcards_names_and_odd_tails_are_not_dialable() {
        let bad = addresses(&[
            "/ip4/0.0.0.0/tcp/1",
            "/ip4/224.0.0.1/tcp/1",
            "/dns4/a.b/tcp/1",
            "/ip4/1.2.3.4",
        ]);
        assert_eq!(dialable(&bad), []);
        assert_eq!(configured(&bad), addresses(&["/dns4/a.b/tcp/1"]));
        let good = addresses(&["/ip6/::1/udp/4/quic-v1"]);
        assert_eq!(dialable(&good), good);
        assert!(!is_direct(&"/ip4/1.2.3.4/tcp/5/ws".parse().unwrap(), true));
    }

    #[test]
    fn a_circuit_names_its_relay_and_loses_only_the_last_peer_id() {
        let circuit = format!("/ip4/1.2.3.4/udp/4/quic-v1/p2p/{RELAY}/p2p-circuit");
        let circuit: Multiaddr = circuit.parse().unwrap();
        let whole = circuit.clone().with(Protocol::P2p(PeerId::random()));
        assert_eq!(dialable(&[whole]), std::slice::from_ref(&circuit));
        assert_eq!(relay_of(&circuit).unwrap().to_string(), RELAY);
        assert!(is_circuit(&circuit) && !is_direct(&circuit, true));
        let twice: Multiaddr = format!("{circuit}/p2p/{RELAY}/p2p-circuit")
            .parse()
            .unwrap();
        assert_eq!(dialable(&[twice]), []);
    }

    #[test]
    fn over_a_circuit_only_what_anybody_or_a_neighbour_reaches_is_tried() {
        let claimed = addresses(&[
            "/ip4/127.0.0.1/tcp/7",
            "/ip4/10.1.1.9/tcp/7",
            "/ip4/10.2.1.9/tcp/7",
            "/ip4/8.8.8.8/tcp/7",
        ]);
        let own = addresses(&["/ip4/10.1.1.2/tcp/7", "/ip4/127.0.0.1/tcp/7"]);
        assert_eq!(
            worth_a_try(&claimed, &own),
            addresses(&["/ip4/10.1.1.9/tcp/7", "/ip4/8.8.8.8/tcp/7"])
        );
    }

    #[test]
    fn ranges_that_nobody_outside_reaches_are_not_global() {
        for (text, global) in [
            ("10.0.0.1", false),
            ("100.64.0.1", false),
            ("100.128.0.1", true),
            ("192.168.1.1", false),
            ("127.0.0.1", false),
            ("198.51.100.7", true),
            ("fd00::1", false),
            ("fe80::1", false),
            ("2001:db8::1", true),
            ("::1", false),
            ("::ffff:10.0.0.1", false),
            ("64:ff9b::7f00:1", false),
            ("2002:a00:1::1", false),
            ("255.255.255.255", false),
        ] {
            assert_eq!(is_global(text.parse().unwrap()), global, "{text}");
        }
    }

    #[test]
    fn a_peer_is_told_what_it_could_use() {
        let told = |own: &str, seen: &str| is_of_use(&own.parse().unwrap(), &seen.parse().unwrap());
        let (lan, far) = ("/ip4/192.168.1.9/tcp/1", "/ip4/198.51.100.9/tcp/1");
        assert!(told("/ip4/203.0.113.1/tcp/1", far) && told("/ip6/2001:db8::1/tcp/1", lan));
        assert!(told("/ip4/192.168.7.1/tcp/1", lan) && !told("/ip4/192.168.7.1/tcp/1", far));
        assert!(!told("/ip4/172.17.0.1/tcp/1", lan) && !told("/ip4/127.0.0.1/tcp/1", lan));
        assert!(told("/ip4/127.0.0.1/tcp/1", "/ip4/127.3.0.1/tcp/9"));
        let container = "/ip4/172.17.0.1/tcp/1";
        assert!(
            !told(container, "/ip4/172.20.3.4/tcp/1"),
            "it leads nowhere"
        );
        assert!(told(container, "/ip4/172.17.0.9/tcp/1"));
        assert!(
            told("/ip4/10.1.0.1/tcp/1", "/ip4/10.9.0.1/tcp/1"),
            "one site"
        );
        assert!(told("/ip6/::ffff:10.1.0.1/tcp/1", "/ip4/10.9.0.1/tcp/1"));
        assert!(!told("/ip4/10.1.0.1/tcp/1", "/ip4/172.17.0.9/tcp/1"));
        assert!(!told("/ip4/10.1.0.1/tcp/1", "/ip6/fd00::1/tcp/1"));
        assert!(told("/ip6/fd00::2/tcp/1", "/ip6/fd12::1/tcp/1"));
        for own in [
            "/ip6/fe80::1/tcp/1",
            "/ip4/169.254.3.3/tcp/1",
            "/ip6/2001:db8::211:22ff:fe33:4455/tcp/1",
        ] {
            assert!(!told(own, "/ip6/fe80::2/tcp/1") && !told(own, far), "{own}");
        }
        let circuit = format!("/ip4/192.168.1.2/tcp/1/p2p/{RELAY}/p2p-circuit");
        assert!(!told("/ip4/192.168.7.1/tcp/1", &circuit));
    }

    #[test]
    fn one_peer_fills_no_more_than_its_share() {
        let claimed: Vec<Multiaddr> = (1..200)
            .map(|p| format!("/ip4/10.0.0.2/tcp/{p}").parse().unwrap())
            .collect();
        assert_eq!(believable(&claimed, &claimed[0]).len(), PER_PEER);
    }
}
