//! Which addresses jobs reach: those of the internet, and none that this machine is nearer to than
//! a stranger is. Only an address that passes is connected to, whatever name led to it.

use std::net::{IpAddr, Ipv6Addr};

use nix::ifaddrs::getifaddrs;
use nix::sys::socket::SockaddrStorage;

use crate::overlay::{Range, range};

/// The mask of a link's network in IPv6 (RFC 4291, 2.5.4).
const LINK: u128 = u128::MAX << 64;

/// The networks that a machine is in, each by an address and its mask; both as wide as IPv6.
#[derive(Clone, Debug, Default)]
pub(super) struct Near(Vec<(u128, u128)>);

impl Near {
    /// This machine's, and these addresses besides.
    ///
    /// # Errors
    /// The kernel does not tell its interfaces.
    pub(super) fn now(others: &[IpAddr]) -> nix::Result<Near> {
        let mut near = Near::default();
        for interface in getifaddrs()? {
            let mask = interface.netmask.as_ref().and_then(ip);
            let own = interface.address.as_ref().and_then(ip);
            // The far end of a tunnel.
            let far = interface.destination.as_ref().and_then(ip);
            own.into_iter().for_each(|own| near.add(own, mask));
            far.into_iter().for_each(|far| near.add(far, None));
        }
        others.iter().for_each(|ip| near.add(*ip, None));
        Ok(near)
    }

    /// A network by an address in it. A mask that lets all through is that of a tunnel, and says
    /// nothing about neighbours. An IPv6 address given out by itself (DHCPv6) hides how wide its
    /// link is: a link has 64 bits of address at the least.
    fn add(&mut self, ip: IpAddr, mask: Option<IpAddr>) {
        let mask = match (ip, mask) {
            (IpAddr::V4(_), Some(IpAddr::V4(mask))) if !mask.is_unspecified() => {
                u128::from(u32::from(mask)) | (u128::MAX << 32)
            }
            (IpAddr::V6(_), Some(IpAddr::V6(mask))) if !mask.is_unspecified() => {
                u128::from(mask) & LINK
            }
            _ => u128::MAX,
        };
        self.0.push((wide(ip) & mask, mask));
    }

    fn has(&self, ip: IpAddr) -> bool {
        let wide = wide(ip);
        self.0.iter().any(|(net, mask)| wide & mask == *net)
    }

    /// Whether jobs may be connected to an address.
    pub(super) fn allows(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        let translated = translated(ip);
        is_of_the_internet(ip) && !self.has(ip) && !translated.is_some_and(|v4| self.has(v4))
    }
}

fn ip(address: &SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|a| IpAddr::V4(a.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|a| IpAddr::V6(a.ip())))
}

fn wide(ip: IpAddr) -> u128 {
    match ip.to_canonical() {
        IpAddr::V4(ip) => u128::from(ip.to_ipv6_mapped()),
        IpAddr::V6(ip) => u128::from(ip),
    }
}

/// The IPv4 address that an IPv6 one is translated into on its way (RFC 6052).
fn translated(ip: IpAddr) -> Option<IpAddr> {
    match ip {
        IpAddr::V6(ip) if is_translated(ip) => {
            let [.., a, b, c, d] = ip.octets();
            Some(IpAddr::from([a, b, c, d]))
        }
        _ => None,
    }
}

fn is_translated(ip: Ipv6Addr) -> bool {
    matches!(ip.segments(), [0x64, 0xff9b, 0, 0, 0, 0, _, _])
}

/// Stricter than [`range`], by which nodes judge one another: what is kept for books, measurements
/// and tunnels is nobody's, and of IPv6 only what is given out as unicast counts.
fn is_of_the_internet(ip: IpAddr) -> bool {
    if range(ip) != Range::Global {
        return false;
    }
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, c, _] = ip.octets();
            !matches!(
                (a, b, c),
                (192, 0, 2) | (198, 51, 100) | (203, 0, 113) | (198, 18 | 19, _) | (192, 88, 99)
            )
        }
        IpAddr::V6(ip) if is_translated(ip) => {
            translated(ip.into()).is_some_and(is_of_the_internet)
        }
        IpAddr::V6(ip) => match ip.segments() {
            // Tunnels and measurements, books, tunnels by IPv4 (6to4), books again.
            [0x2001, 0..=0x1ff, ..]
            | [0x2001, 0xdb8, ..]
            | [0x2002, ..]
            | [0x3fff, 0..=0xfff, ..] => false,
            // An IPv4 address on a site's own tunnel (ISATAP).
            [_, _, _, _, 0 | 0x200, 0x5efe, _, _] => false,
            [first, ..] => first & 0xe000 == 0x2000,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_internet_are_reached() {
        let near = Near::default();
        for (text, allowed) in [
            ("1.1.1.1", true),
            ("93.184.216.34", true),
            ("2606:4700::1", true),
            ("2a00:1450:4001::1", true),
            ("64:ff9b::101:101", true),
            ("::ffff:1.1.1.1", true),
            ("0.0.0.0", false),
            ("0.1.2.3", false),
            ("127.0.0.1", false),
            ("127.255.0.9", false),
            ("10.0.0.1", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("172.32.0.1", true),
            ("192.168.1.1", false),
            ("100.64.0.1", false),
            ("100.127.255.255", false),
            ("100.100.100.200", false),
            ("169.254.169.254", false),
            ("169.254.1.1", false),
            ("168.63.129.16", false),
            ("192.0.0.192", false),
            ("192.0.2.1", false),
            ("198.51.100.7", false),
            ("203.0.113.9", false),
            ("198.18.0.1", false),
            ("192.88.99.1", false),
            ("224.0.0.1", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("::10.0.0.1", false),
            ("::1.1.1.1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:10.0.0.1", false),
            ("::ffff:169.254.169.254", false),
            ("64:ff9b::10.0.0.1", false),
            ("64:ff9b::127.0.0.1", false),
            ("64:ff9b::198.51.100.7", false),
            ("64:ff9b:1::1.1.1.1", false),
            ("2002:a00:1::1", false),
            ("2002:101:101::1", false),
            ("2001::1", false),
            ("2001:2::1", false),
            ("2001:db8::1", false),
            ("3fff::1", false),
            ("2606:4700::5efe:10.0.0.1", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("fc00::1", false),
            ("fd00:ec2::254", false),
            ("ff02::1", false),
            ("4000::1", false),
        ] {
            assert_eq!(near.allows(text.parse().unwrap()), allowed, "{text}");
        }
    }

    #[test]
    fn neighbours_are_not_reached_whatever_their_addresses() {
        let mut near = Near::default();
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        near.add(ip("141.20.5.9"), Some(ip("255.255.252.0")));
        near.add(ip("2a00:1450:1:2::9"), Some(ip("ffff:ffff:ffff:ffff::")));
        near.add(
            ip("2a00:1450:9:9::7"),
            Some(ip("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")),
        );
        near.add(ip("93.184.216.34"), None);
        near.add(ip("8.8.8.8"), Some(ip("0.0.0.0")));
        for (text, allowed) in [
            ("141.20.5.9", false),
            ("141.20.7.255", false),
            ("::ffff:141.20.4.1", false),
            ("64:ff9b::141.20.4.1", false),
            ("141.20.8.1", true),
            ("2a00:1450:1:2:aaaa::1", false),
            ("2a00:1450:1:3::1", true),
            ("2a00:1450:9:9::8", false),
            ("93.184.216.34", false),
            ("93.184.216.35", true),
            ("8.8.8.8", false),
            ("8.8.8.9", true),
        ] {
            assert_eq!(near.allows(ip(text)), allowed, "{text}");
        }
    }

    #[test]
    fn this_machine_knows_its_own_networks() {
        let near = Near::now(&["1.1.1.1".parse().unwrap()]).unwrap();
        assert!(near.has([127, 9, 9, 9].into()), "its loopback");
        assert!(!near.allows([1, 1, 1, 1].into()), "its router");
    }
}
