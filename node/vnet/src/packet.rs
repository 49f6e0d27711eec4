//! What is read from an inner packet's header: source and destination.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Source and destination of an IP packet; none if it is no whole header of IPv4 or IPv6.
pub fn ends(packet: &[u8]) -> Option<(IpAddr, IpAddr)> {
    match packet.first()? >> 4 {
        4 => Some((v4(packet.get(12..16)?)?, v4(packet.get(16..20)?)?)),
        6 => Some((v6(packet.get(8..24)?)?, v6(packet.get(24..40)?)?)),
        _ => None,
    }
}

fn v4(octets: &[u8]) -> Option<IpAddr> {
    let octets: [u8; 4] = octets.try_into().ok()?;
    Some(IpAddr::V4(Ipv4Addr::from(octets)))
}

fn v6(octets: &[u8]) -> Option<IpAddr> {
    let octets: [u8; 16] = octets.try_into().ok()?;
    Some(IpAddr::V6(Ipv6Addr::from(octets)))
}
