//! Free loopback ports, each good for TCP and UDP.
//!
//! They are taken from below the range that the system hands out by itself, so that a port stays
//! free while its node is down: nobody gets it for an outgoing connection.

use anyhow::bail;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

const FIRST: u16 = 12_000;
const COUNT: u16 = 18_000;

/// `n` different ports that were free a moment ago.
pub(super) fn free(n: usize) -> anyhow::Result<Vec<u16>> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.subsec_nanos());
    // Runs that start at the same time begin their search in different places.
    let start = (process::id().wrapping_mul(7_919) ^ now) % u32::from(COUNT);
    let mut held = Vec::new();
    for step in 0..u32::from(COUNT) {
        if held.len() == n {
            break;
        }
        let port = FIRST + ((start + step) % u32::from(COUNT)) as u16;
        let place = (Ipv4Addr::LOCALHOST, port);
        if let (Ok(tcp), Ok(udp)) = (TcpListener::bind(place), UdpSocket::bind(place)) {
            held.push((port, tcp, udp));
        }
    }
    if held.len() < n {
        bail!("only {} of {n} loopback ports are free", held.len());
    }
    Ok(held.into_iter().map(|(port, ..)| port).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_differ_and_are_free() {
        let mut ports = free(20).unwrap();
        let one = TcpListener::bind((Ipv4Addr::LOCALHOST, ports[0]));
        assert!(one.is_ok());
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 20);
    }
}
