//! Where this node may be made to dial.
//!
//! Records, answers of the DHT, hole punching, AutoNAT's requests to be dialled back: all of them
//! name addresses, and their writer would have us knock at doors that it cannot reach itself. So a
//! dial passes one gate in the transport, which no protocol can go around, once before names are
//! resolved and once after it:
//!
//! 1. Addresses of the Internet are dialled.
//! 2. Others only if our owner named them, if their machine was found on the LAN by multicast, or
//!    if a peer of ours was there.
//! 3. Loopback too where all that we listen on is there, or all that we were told to start from
//!    lies in private ranges and some of it there. Private addresses too in such a federation.
//! 4. Link-local addresses and those at which clouds keep their machines' secrets only if our owner
//!    named the very port. Nobody listens at multicast, unspecified, and reserved ones.
//! 5. Names only if our owner named them. Their addresses may be private or loopback: then their
//!    port counts.

use std::collections::{BTreeSet, VecDeque};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use libp2p::Multiaddr;
use libp2p::core::Transport;
use libp2p::core::transport::{DialOpts, ListenerId, TransportError, TransportEvent};
use libp2p::multiaddr::Protocol;

use super::addresses::{Range, ip, is_global, is_loopback, port, range};
use crate::overlay::config::OverlayConfig;

/// Hosts of peers that are remembered, and ends that our owner named.
const REMEMBERED: usize = 1024;

#[derive(Debug, Default)]
struct Known {
    loopback: bool,
    private: bool,
    /// The addresses that the owner named.
    ends: BTreeSet<(IpAddr, u16)>,
    names: BTreeSet<String>,
    ports: BTreeSet<u16>,
    /// Machines of peers, the latest last.
    hosts: VecDeque<IpAddr>,
    refused: usize,
}

impl Known {
    fn may_reach(&self, host: IpAddr, port: u16) -> bool {
        let host = host.to_canonical();
        let named = || self.ends.contains(&(host, port));
        let near = || {
            let ends = (host, 0)..=(host, u16::MAX);
            self.hosts.contains(&host)
                || self.ports.contains(&port)
                || self.ends.range(ends).next().is_some()
        };
        match range(host) {
            Range::Global => true,
            Range::Private => self.private || near(),
            Range::Loopback => {
                self.loopback || named() || self.hosts.contains(&host) || self.ports.contains(&port)
            }
            Range::Link | Range::Metadata => named(),
            Range::Nowhere => false,
        }
    }
}

/// The addresses that may be dialled; shared with the transport.
#[derive(Clone, Debug)]
pub(crate) struct Scope(Arc<Mutex<Known>>);

impl Scope {
    pub(crate) fn new(config: &OverlayConfig) -> Self {
        let told = config.told();
        let private = is_private(&told);
        let scope = Self(Arc::new(Mutex::new(Known {
            loopback: config.listen.iter().all(is_loopback)
                || (private && told.iter().any(is_loopback)),
            private,
            ..Known::default()
        })));
        scope.named(&told);
        scope
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Our owner named these.
    pub(crate) fn named(&self, addresses: &[Multiaddr]) {
        let mut known = self.known();
        for address in addresses {
            if known.ends.len() >= REMEMBERED || known.names.len() >= REMEMBERED {
                return;
            }
            let port = port(address);
            match (ip(address), name(address), port) {
                (Some(host), _, Some(port)) => {
                    known.ends.insert((host.to_canonical(), port));
                }
                (None, Some(name), Some(port)) => {
                    known.names.insert(name);
                    known.ports.insert(port);
                }
                _ => {}
            }
        }
    }

    /// A peer of ours is on these machines, or was found there on the LAN.
    pub(crate) fn met<'a>(&self, addresses: impl IntoIterator<Item = &'a Multiaddr>) {
        let hosts = addresses.into_iter().filter_map(ip);
        let mut known = self.known();
        for host in hosts.map(|host| host.to_canonical()) {
            if !is_global(host) && !known.hosts.contains(&host) {
                known.hosts.push_back(host);
                if known.hosts.len() > REMEMBERED {
                    known.hosts.pop_front();
                }
            }
        }
    }

    /// Whether an address may be dialled; if not, it is counted.
    fn may_dial(&self, address: &Multiaddr) -> bool {
        let mut known = self.known();
        let may = match (ip(address), name(address)) {
            (Some(host), _) => known.may_reach(host, port(address).unwrap_or_default()),
            (None, Some(name)) => known.names.contains(&name),
            (None, None) => false,
        };
        known.refused += usize::from(!may);
        may
    }

    /// Dials refused since the last time.
    pub(crate) fn take_refused(&self) -> usize {
        std::mem::take(&mut self.known().refused)
    }
}

/// The name of a host.
fn name(address: &Multiaddr) -> Option<String> {
    match address.iter().next()? {
        Protocol::Dns(name) | Protocol::Dns4(name) | Protocol::Dns6(name) => {
            Some(name.to_ascii_lowercase())
        }
        _ => None,
    }
}

/// Whether all that we know of the federation lies in private ranges: then these count for public.
pub(crate) fn is_private(told: &[Multiaddr]) -> bool {
    let mut hosts = told.iter().filter_map(ip).peekable();
    hosts.peek().is_some() && !hosts.any(is_global)
}

/// A transport that dials only where its [`Scope`] lets it.
pub(crate) struct Gated<T> {
    pub(crate) inner: T,
    pub(crate) scope: Scope,
}

impl<T: Transport + Unpin> Transport for Gated<T> {
    type Output = T::Output;
    type Error = T::Error;
    type ListenerUpgrade = T::ListenerUpgrade;
    type Dial = T::Dial;

    fn listen_on(
        &mut self,
        id: ListenerId,
        address: Multiaddr,
    ) -> Result<(), TransportError<Self::Error>> {
        self.inner.listen_on(id, address)
    }

    fn remove_listener(&mut self, id: ListenerId) -> bool {
        self.inner.remove_listener(id)
    }

    fn dial(
        &mut self,
        address: Multiaddr,
        options: DialOpts,
    ) -> Result<Self::Dial, TransportError<Self::Error>> {
        if !self.scope.may_dial(&address) {
            tracing::debug!(%address, "not dialled: nobody whom we trust named it");
            return Err(TransportError::MultiaddrNotSupported(address));
        }
        self.inner.dial(address, options)
    }

    fn poll(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<TransportEvent<Self::ListenerUpgrade, Self::Error>> {
        Pin::new(&mut self.get_mut().inner).poll(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::config::{TransportSeed, Tuning};
    use libp2p::PeerId;

    fn scope(listen: &str, bootstrap: &[&str]) -> Scope {
        let listen = vec![listen.parse().unwrap()];
        let far = Tuning::wide_area();
        let mut config = OverlayConfig::new(TransportSeed([1; 32]), [1; 32], listen, far);
        let contact = |text: &&str| (PeerId::random(), text.parse().unwrap());
        config.bootstrap = bootstrap.iter().map(contact).collect();
        Scope::new(&config)
    }

    /// Those of the addresses that may be dialled.
    fn dialled(scope: &Scope, hosts: &[&str]) -> Vec<String> {
        let all = hosts.iter().map(|host| format!("/{host}/tcp/7411"));
        all.filter(|a| scope.may_dial(&a.parse().unwrap()))
            .collect()
    }

    /// One of each range, and a name.
    const HOSTS: [&str; 16] = [
        "ip4/198.51.100.7",
        "ip6/2001:db8::7",
        "ip4/192.168.1.1",
        "ip4/100.64.0.1",
        "ip6/fd12::1",
        "ip4/127.0.0.1",
        "ip6/::1",
        "ip6/::ffff:127.0.0.1",
        "ip4/169.254.169.254",
        "ip4/169.254.1.1",
        "ip6/fe80::1",
        "ip6/fd00:ec2::254",
        "ip4/100.100.100.200",
        "ip4/224.0.0.1",
        "ip4/0.0.0.0",
        "dns4/metadata.example",
    ];

    #[test]
    fn strangers_make_a_node_of_the_internet_dial_the_internet_alone() {
        let scope = scope("/ip4/0.0.0.0/tcp/7411", &["/ip4/198.51.100.1/tcp/7411"]);
        let expected = ["/ip4/198.51.100.7/tcp/7411", "/ip6/2001:db8::7/tcp/7411"];
        assert_eq!(dialled(&scope, &HOSTS), expected);
        assert_eq!((scope.take_refused(), scope.take_refused()), (14, 0));
        assert!(!scope.may_dial(&"/dnsaddr/a.example".parse().unwrap()));
        assert!(!scope.may_dial(&"/ip6zone/eth0/ip6/fe80::1/tcp/1".parse().unwrap()));
    }

    #[test]
    fn what_the_owner_named_or_a_peer_of_ours_was_at_is_dialled() {
        let told = ["/ip4/198.51.100.1/tcp/7411", "/dns4/node.example/tcp/9"];
        let scope = scope("/ip4/0.0.0.0/tcp/7411", &told);
        let may = |text: &str| scope.may_dial(&text.parse().unwrap());
        assert!(may("/dns4/Node.example/tcp/9") && may("/ip4/172.18.0.2/tcp/9"));
        assert!(!may("/ip4/169.254.169.254/tcp/9") && !may("/ip4/172.18.0.2/tcp/80"));
        scope.named(&["/ip4/169.254.1.1/tcp/5".parse().unwrap()]);
        assert!(may("/ip4/169.254.1.1/tcp/5") && !may("/ip4/169.254.1.1/tcp/80"));
        scope.met(&["/ip4/192.168.1.1/udp/3/quic-v1".parse().unwrap()]);
        assert!(may("/ip4/192.168.1.1/tcp/7411") && !may("/ip4/192.168.1.2/tcp/7411"));
        scope.met(&["/ip4/169.254.169.254/tcp/80".parse().unwrap()]);
        assert!(!may("/ip4/169.254.169.254/tcp/80"));
    }

    #[test]
    fn who_lives_on_loopback_or_in_private_ranges_dials_there() {
        let local = scope("/ip4/127.0.0.1/tcp/0", &[]);
        let loopback = ["ip4/127.0.0.1", "ip6/::1", "ip4/127.9.9.9"];
        assert_eq!(dialled(&local, &loopback).len(), 3);
        assert!(dialled(&local, &["ip4/10.0.0.1"]).is_empty());
        let federation = scope("/ip4/0.0.0.0/tcp/7411", &["/ip4/10.1.0.1/tcp/7411"]);
        let private = ["ip4/10.9.9.9", "ip4/192.168.1.1", "ip6/fd12::1"];
        assert_eq!(dialled(&federation, &private).len(), 3);
        let never = ["ip4/127.0.0.1", "ip4/100.100.100.200", "ip4/169.254.9.9"];
        assert!(dialled(&federation, &never).is_empty());
        let demo = scope("/ip4/0.0.0.0/tcp/7411", &["/ip4/127.0.0.1/tcp/7412"]);
        assert_eq!(dialled(&demo, &loopback).len(), 3);
    }
}
