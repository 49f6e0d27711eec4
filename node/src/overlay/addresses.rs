//! Which claimed addresses we believe.
//!
//! A peer may say anything about where it listens, and whoever believes it can be made to dial
//! strangers. So an address enters the routing table only when its IP is the one from which the peer
//! talks to us; the port alone is taken on trust. Addresses confirmed by others (AutoNAT,
//! relay circuits) will enter here as well.

use std::net::IpAddr;

use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};

/// Addresses kept per peer.
pub(crate) const PER_PEER: usize = 8;

/// Those of `claimed` that a peer seen at `seen` may be reached at, without peer id, no doubles.
pub(crate) fn believable(claimed: &[Multiaddr], seen: &Multiaddr) -> Vec<Multiaddr> {
    let Some(source) = ip(seen) else {
        return Vec::new();
    };
    let mut kept = Vec::new();
    for address in claimed
        .iter()
        .filter(|a| ip(a) == Some(source) && is_dialable(a))
    {
        let address = without_peer(address);
        if !kept.contains(&address) && kept.len() < PER_PEER {
            kept.push(address);
        }
    }
    kept
}

/// The dialable ones among addresses told by somebody else, without peer ids, bounded.
pub(crate) fn dialable(addresses: &[Multiaddr]) -> Vec<Multiaddr> {
    addresses
        .iter()
        .filter(|a| is_dialable(a))
        .map(without_peer)
        .take(PER_PEER)
        .collect()
}

/// Whether an address names one host and a transport we speak: IP, then TCP or QUIC v1, a real
/// port, and at most a peer id after it.
fn is_dialable(address: &Multiaddr) -> bool {
    let mut parts = address.iter();
    let host = match parts.next() {
        Some(Protocol::Ip4(ip)) => IpAddr::V4(ip),
        Some(Protocol::Ip6(ip)) => IpAddr::V6(ip),
        _ => return false,
    };
    if host.is_unspecified() || host.is_multicast() {
        return false;
    }
    let transport = match parts.next() {
        Some(Protocol::Tcp(port)) => port != 0,
        Some(Protocol::Udp(port)) => port != 0 && parts.next() == Some(Protocol::QuicV1),
        _ => false,
    };
    transport
        && matches!(
            (parts.next(), parts.next()),
            (None | Some(Protocol::P2p(_)), None)
        )
}

/// Peer and address of a multiaddr that ends in `/p2p/<peer>`; `None` without a peer.
pub fn split_peer(address: &Multiaddr) -> Option<(PeerId, Multiaddr)> {
    let mut address = address.clone();
    match address.pop() {
        Some(Protocol::P2p(peer)) => Some((peer, address)),
        _ => None,
    }
}

/// The address without a peer id at its end.
fn without_peer(address: &Multiaddr) -> Multiaddr {
    address
        .iter()
        .filter(|p| !matches!(p, Protocol::P2p(_)))
        .collect()
}

fn ip(address: &Multiaddr) -> Option<IpAddr> {
    match address.iter().next()? {
        Protocol::Ip4(ip) => Some(IpAddr::V4(ip)),
        Protocol::Ip6(ip) => Some(IpAddr::V6(ip)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }

    #[test]
    fn wildcards_names_and_odd_tails_are_not_dialable() {
        for bad in [
            "/ip4/0.0.0.0/tcp/1",
            "/ip4/224.0.0.1/tcp/1",
            "/dns4/a.b/tcp/1",
            "/ip4/1.2.3.4",
        ] {
            assert!(!is_dialable(&bad.parse().unwrap()), "{bad}");
        }
        assert!(is_dialable(&"/ip6/::1/udp/4/quic-v1".parse().unwrap()));
        assert!(!is_dialable(&"/ip4/1.2.3.4/tcp/5/ws".parse().unwrap()));
    }

    #[test]
    fn one_peer_fills_no_more_than_its_share() {
        let claimed: Vec<Multiaddr> = (1..200)
            .map(|p| format!("/ip4/10.0.0.2/tcp/{p}").parse().unwrap())
            .collect();
        assert_eq!(believable(&claimed, &claimed[0]).len(), PER_PEER);
    }
}
