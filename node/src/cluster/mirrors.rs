//! This node learns from where others see its data plane, so that members of a lease can punch
//! through its NAT ([`gridbay_vnet::mirror`]).
//!
//! 1. A machine with a public IPv4 address of its own needs nothing of this.
//! 2. Up to [`MIRRORS`] connected peers are asked, of different prefixes, those first that the node
//!    is always connected to (founders), then relays. The overlay knows at which host a peer is;
//!    the peer says its data plane's port and nothing else.
//! 3. They are asked every [`PERIOD`], which keeps the way through the NAT open as well. One that
//!    does not answer gives its place to another.
//! 4. What they see counts if two of them agree on the host, and it is a public one unless the
//!    mirror itself is not. Ports may differ where the NAT gives each destination another one:
//!    whoever writes to one of them is let in by a NAT at the other end that looks at hosts alone.
//! 5. When this machine's own addresses change, all ways are probed anew and everybody is asked.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use gridbay_core::agent::{AgentReply, AgentRequest};

use super::Clusters;
use crate::body::ask::{Asker, key_of};
use crate::overlay::{self, OverlayHandle, PeerId, PeerInfo};

/// Rule 2.
const MIRRORS: usize = 3;
/// Rule 3.
const PERIOD: Duration = Duration::from_secs(20);
/// The same until the outside address is known, and how often addresses are looked at.
const LOOK: Duration = Duration::from_secs(2);
/// Questions without an answer after which a mirror is left.
const MISSES: u32 = 4;
/// How long one is left alone that does not answer.
const REST: Duration = Duration::from_secs(600);
/// Peers left alone that are remembered at the most.
const RESTING: usize = 256;
/// Mirrors that must agree.
const AGREE: usize = 2;

/// A peer whose data plane is asked.
#[derive(Debug)]
struct Mirror {
    at: SocketAddr,
    misses: u32,
}

#[derive(Default)]
struct Mirrors {
    known: BTreeMap<PeerId, Mirror>,
    rests: BTreeMap<PeerId, Instant>,
}

/// Asks as long as the node runs.
pub(crate) async fn keep(clusters: Clusters, overlay: OverlayHandle) {
    let asker = Asker::new(overlay.clone());
    let (mut mirrors, mut hosts) = (Mirrors::default(), Vec::new());
    let mut asked: Option<Instant> = None;
    loop {
        // Addresses of loopback do not change.
        let alone = !hosts.is_empty() && hosts.iter().all(IpAddr::is_loopback);
        tokio::time::sleep(if alone { PERIOD } else { LOOK }).await;
        let own = own_hosts(&overlay);
        if own != hosts {
            let first = std::mem::replace(&mut hosts, own).is_empty();
            asked = None;
            if !first {
                clusters.moved();
            }
        }
        if hosts
            .iter()
            .any(|ip| ip.is_ipv4() && overlay::is_global(*ip))
        {
            continue;
        }
        let known = clusters.outside().is_some();
        if asked.is_some_and(|at| known && at.elapsed() < PERIOD) {
            continue;
        }
        asked = Some(Instant::now());
        mirrors.choose(&asker, &overlay.peers()).await;
        mirrors.ask(&clusters);
    }
}

/// The addresses of this machine; not those of relays that lead to it.
fn own_hosts(overlay: &OverlayHandle) -> Vec<IpAddr> {
    let listening = overlay.addresses();
    let own = listening.iter().filter(|at| !overlay::is_circuit(at));
    let mut hosts: Vec<IpAddr> = own.filter_map(overlay::ip).collect();
    hosts.sort_unstable();
    hosts.dedup();
    hosts
}

impl Mirrors {
    /// Rule 2.
    async fn choose(&mut self, asker: &Asker, peers: &[PeerInfo]) {
        let now = Instant::now();
        self.rests.retain(|_, until| now < *until);
        let stays = |peer: &PeerId, at: IpAddr| {
            let mut same = peers.iter().filter(|p| p.peer == *peer);
            same.any(|p| host(p) == Some(at))
        };
        self.known.retain(|peer, m| stays(peer, m.at.ip()));
        let mut able: Vec<(&PeerInfo, IpAddr)> =
            peers.iter().filter_map(|p| Some((p, host(p)?))).collect();
        able.sort_by_key(|(peer, _)| (!peer.kept, !peer.relays));
        for (peer, ip) in able {
            let near = |m: &Mirror| overlay::prefix(m.at.ip()) == overlay::prefix(ip);
            if self.known.len() >= MIRRORS {
                return;
            }
            if self.rests.contains_key(&peer.peer) || self.known.values().any(near) {
                continue;
            }
            let reply = match key_of(&peer.peer) {
                Some(key) => asker.ask(&key, &AgentRequest::Mirror).await,
                None => None,
            };
            match reply {
                Some(AgentReply::Mirror(port)) if port > 0 => {
                    let at = SocketAddr::new(ip, port);
                    self.known.insert(peer.peer, Mirror { at, misses: 0 });
                }
                _ => self.leave(peer.peer),
            }
        }
    }

    /// Rule 3.
    fn ask(&mut self, clusters: &Clusters) {
        let seen = clusters.seen();
        for mirror in self.known.values_mut() {
            let answers = seen.iter().any(|(of, _)| *of == mirror.at);
            mirror.misses = if answers { 0 } else { mirror.misses + 1 };
            clusters.mirror(mirror.at);
        }
        let silent = self.known.iter().filter(|(_, m)| m.misses > MISSES);
        let silent: Vec<PeerId> = silent.map(|(peer, _)| *peer).collect();
        for peer in silent {
            self.known.remove(&peer);
            self.leave(peer);
        }
    }

    fn leave(&mut self, peer: PeerId) {
        if self.rests.len() < RESTING {
            self.rests.insert(peer, Instant::now() + REST);
        }
    }
}

/// Where a peer is, if that can be asked: reached directly, by IPv4, on another machine.
fn host(peer: &PeerInfo) -> Option<IpAddr> {
    let ip = overlay::ip(&peer.address).filter(|_| peer.via.is_none())?;
    (ip.is_ipv4() && !ip.is_loopback()).then_some(ip)
}

/// Rule 4: `seen` are mirrors with what each of them sees.
pub(super) fn agreed(seen: &[(SocketAddr, SocketAddr)]) -> Option<SocketAddr> {
    let sound = |(mirror, seen): &&(SocketAddr, SocketAddr)| {
        let private = |ip: IpAddr| matches!(ip, IpAddr::V4(ip) if ip.is_private());
        let near = private(seen.ip()) && !overlay::is_global(mirror.ip());
        seen.port() > 0 && (overlay::is_global(seen.ip()) || near)
    };
    let mut hosts: BTreeMap<IpAddr, BTreeMap<u16, usize>> = BTreeMap::new();
    for (_, seen) in seen.iter().filter(sound) {
        let ports = hosts.entry(seen.ip()).or_default();
        *ports.entry(seen.port()).or_default() += 1;
    }
    let votes = |ports: &BTreeMap<u16, usize>| ports.values().sum::<usize>();
    let (host, ports) = hosts.iter().max_by_key(|(_, ports)| votes(ports))?;
    let (port, _) = ports.iter().max_by_key(|(_, votes)| **votes)?;
    (votes(ports) >= AGREE).then_some(SocketAddr::new(*host, *port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_must_agree_on_a_host_that_they_can_see() {
        let seen = |all: &[(&str, &str)]| -> Vec<(SocketAddr, SocketAddr)> {
            let at = |text: &str| text.parse().unwrap();
            all.iter().map(|(of, seen)| (at(of), at(seen))).collect()
        };
        let agreed = |all: &[(&str, &str)]| agreed(&seen(all)).map(|at| at.to_string());
        let (a, b, c) = ("45.1.1.2:7", "45.2.1.2:7", "45.3.1.2:7");
        let own = "45.9.1.2:40001";
        assert_eq!(agreed(&[]), None);
        assert_eq!(agreed(&[(a, own)]), None, "alone");
        assert_eq!(agreed(&[(a, own), (b, own)]).as_deref(), Some(own));
        assert_eq!(agreed(&[(a, own), (b, "45.9.9.2:40001")]), None);
        let liar = [(a, own), (b, "45.66.1.2:53"), (c, own)];
        assert_eq!(agreed(&liar).as_deref(), Some(own));
        let varies = [
            (a, "45.9.1.2:40001"),
            (b, "45.9.1.2:40002"),
            (c, "45.9.1.2:40002"),
        ];
        assert_eq!(agreed(&varies).as_deref(), Some("45.9.1.2:40002"));
        let private = "192.168.7.7:53";
        assert_eq!(agreed(&[(a, private), (b, private)]), None);
        let near = [("10.0.0.1:7", private), ("10.1.0.1:7", private)];
        assert_eq!(agreed(&near).as_deref(), Some(private));
        let nowhere = [
            "127.0.0.1:9",
            "169.254.169.254:9",
            "255.255.255.255:9",
            "45.9.1.2:0",
        ];
        for bad in nowhere {
            assert_eq!(agreed(&[(a, bad), (b, bad)]), None, "{bad}");
        }
    }
}
