//! Whether others can reach this node. Pure: the time comes in.
//!
//! 1. A node that listens on loopback alone is *local*: all its peers are on its machine, and
//!    nothing below matters.
//! 2. A node is *public* while at least one direct address of it is certain: declared by its owner,
//!    mapped by UPnP, or dialled by an AutoNAT server without a NAT between. In a federation that
//!    lives in private ranges altogether (every address that we started from is private) private
//!    addresses count; else they do not, since a neighbour on the LAN confirms them too. An address
//!    that a NAT gave us is told to others when an AutoNAT server reached it, but is not certain: a
//!    NAT that lets in whoever we have spoken to lets in that server, and nobody else.
//! 3. A node without a certain one is *private* once `patience` has passed; before that, nobody
//!    knows.
//! 4. Peers that we dialled over QUIC tell from where they see us. The same port for two hosts: a
//!    NAT with one mapping for all (punching works); different ports: one mapping for each (it does
//!    not, with others of the kind); our own address: none.
//! 5. A confirmed address whose IP no peer sees any more, while two or more see another one of the
//!    same family, is *stale*: the network has changed, and AutoNAT never takes an address back.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use libp2p::{Multiaddr, PeerId};

use super::addresses::{ip, is_circuit, is_global, is_quic, port};

named! {
    /// Whether others can dial this node.
    #[derive(Default)]
    pub enum Reach {
        /// On this machine only.
        Local = "local",
        /// Not found out yet.
        #[default]
        Unknown = "unknown",
        /// Yes.
        Public = "public",
        /// No: through relays, or after a punch.
        Private = "private",
    }
}

named! {
    /// The NAT or firewall between this node and the others.
    #[derive(Default)]
    pub enum Nat {
        /// Not found out: fewer than two hosts have told.
        #[default]
        Unknown = "unknown",
        /// No translation: peers see an address of ours.
        None = "none",
        /// One mapping for all destinations: a direct path can be punched.
        Cone = "cone",
        /// A mapping for each destination: no direct path to another one of the kind.
        Symmetric = "symmetric",
    }
}

/// The knowledge about this node's own addresses.
#[derive(Debug)]
pub(crate) struct Reachability {
    local: bool,
    private_federation: bool,
    since: Instant,
    patience: Duration,
    declared: Vec<Multiaddr>,
    /// Declared ones at which the last AutoNAT server that tried could not reach us.
    refuted: Vec<Multiaddr>,
    /// Whether each is certain (step 2).
    confirmed: BTreeMap<Multiaddr, bool>,
    /// Where peers that we dialled see us, by peer and whether over QUIC.
    seen: BTreeMap<(PeerId, bool), (IpAddr, Multiaddr)>,
}

impl Reachability {
    pub(crate) fn new(
        local: bool,
        private_federation: bool,
        patience: Duration,
        now: Instant,
    ) -> Self {
        Self {
            local,
            private_federation,
            since: now,
            patience,
            declared: Vec::new(),
            refuted: Vec::new(),
            confirmed: BTreeMap::new(),
            seen: BTreeMap::new(),
        }
    }

    /// The owner says that others reach us there.
    pub(crate) fn declare(&mut self, address: Multiaddr) {
        self.declared.push(address);
    }

    /// Somebody could not reach us there. Returns whether our owner says that others do: then it
    /// stays.
    pub(crate) fn refute(&mut self, address: &Multiaddr) -> bool {
        let declared = self.declared.contains(address);
        if declared && !self.refuted.contains(address) {
            self.refuted.push(address.clone());
        }
        declared
    }

    /// Declared addresses at which others do not reach us.
    pub(crate) fn refuted(&self) -> &[Multiaddr] {
        &self.refuted
    }

    /// Somebody reached us there; whether that is certain, see step 2.
    pub(crate) fn confirm(&mut self, address: Multiaddr, certain: bool) {
        self.refuted.retain(|refuted| *refuted != address);
        if !is_circuit(&address) {
            self.confirmed.insert(address, certain);
        }
    }

    pub(crate) fn expire(&mut self, address: &Multiaddr) {
        self.confirmed.remove(address);
    }

    /// A peer at `host`, which we dialled, sees us at `address`.
    pub(crate) fn see(&mut self, peer: PeerId, host: IpAddr, address: Multiaddr) {
        let quic = is_quic(&address);
        self.seen.insert((peer, quic), (host, address));
    }

    /// Where peers see us.
    pub(crate) fn seen(&self) -> BTreeSet<IpAddr> {
        self.seen.values().filter_map(|(_, a)| ip(a)).collect()
    }

    /// A peer is gone, and what it saw with it.
    pub(crate) fn forget(&mut self, peer: &PeerId) {
        self.seen.remove(&(*peer, false));
        self.seen.remove(&(*peer, true));
    }

    /// Step 3 begins anew: the network changed.
    pub(crate) fn begin_anew(&mut self, now: Instant) {
        self.since = now;
        self.seen.clear();
    }

    /// Direct addresses at which others may reach us, declared ones first.
    pub(crate) fn addresses(&self) -> Vec<Multiaddr> {
        let confirmed = self.confirmed.keys().filter(|a| self.counts(a));
        self.declared
            .iter()
            .chain(confirmed.filter(|a| !self.declared.contains(a)))
            .cloned()
            .collect()
    }

    /// Whether an address is in a range that counts.
    fn counts(&self, address: &Multiaddr) -> bool {
        self.private_federation || ip(address).is_none_or(is_global)
    }

    /// Steps 1 to 3.
    pub(crate) fn reach(&self, now: Instant) -> Reach {
        if self.local {
            Reach::Local
        } else if !self.declared.is_empty()
            || self
                .confirmed
                .iter()
                .any(|(a, certain)| *certain && self.counts(a))
        {
            Reach::Public
        } else if now.duration_since(self.since) >= self.patience {
            Reach::Private
        } else {
            Reach::Unknown
        }
    }

    /// Step 4; `own`: addresses on which we listen.
    pub(crate) fn nat(&self, own: &[Multiaddr]) -> Nat {
        let over_quic = self.seen.iter().filter(|((_, quic), _)| *quic);
        let seen: Vec<&(IpAddr, Multiaddr)> = over_quic.map(|(_, seen)| seen).collect();
        let Some((first_host, first)) = seen.first() else {
            return Nat::Unknown;
        };
        let end = |a: &Multiaddr| (ip(a), port(a));
        if own.iter().any(|o| end(o) == end(first)) {
            return Nat::None;
        }
        let others = || seen.iter().filter(|(host, _)| host != first_host);
        if others().next().is_none() {
            Nat::Unknown
        } else if others().all(|(_, a)| end(a) == end(first)) {
            Nat::Cone
        } else {
            Nat::Symmetric
        }
    }

    /// Step 5.
    pub(crate) fn stale(&self) -> Vec<Multiaddr> {
        let stale = |address: &&Multiaddr| {
            let Some(own) = ip(address) else { return false };
            let family = |a: &IpAddr| a.is_ipv4() == own.is_ipv4();
            let seen = self.seen.values().filter_map(|(_, a)| ip(a)).filter(family);
            let seen: Vec<IpAddr> = seen.collect();
            seen.len() >= 2 && !seen.contains(&own)
        };
        self.confirmed.keys().filter(stale).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn address(text: &str) -> Multiaddr {
        text.parse().unwrap()
    }

    fn start(private_federation: bool) -> (Reachability, Instant) {
        let now = Instant::now();
        (
            Reachability::new(false, private_federation, PATIENCE, now),
            now,
        )
    }

    #[test]
    fn private_until_an_address_is_confirmed_that_everybody_reaches() {
        let (mut reach, now) = start(false);
        assert_eq!(reach.reach(now), Reach::Unknown);
        assert_eq!(reach.reach(now + PATIENCE), Reach::Private);
        reach.confirm(address("/ip4/192.168.1.7/tcp/7411"), true);
        assert_eq!(reach.reach(now + PATIENCE), Reach::Private);
        let public = address("/ip4/198.51.100.7/tcp/7411");
        reach.confirm(public.clone(), false);
        assert_eq!(reach.reach(now + PATIENCE), Reach::Private);
        assert_eq!(reach.addresses(), std::slice::from_ref(&public));
        reach.confirm(public.clone(), true);
        assert_eq!(reach.reach(now), Reach::Public);
        assert_eq!(reach.addresses(), std::slice::from_ref(&public));
        reach.expire(&public);
        assert_eq!(reach.reach(now + PATIENCE), Reach::Private);
    }

    #[test]
    fn in_a_private_federation_private_addresses_count_and_circuits_never_do() {
        let (mut reach, now) = start(true);
        let relay = PeerId::random();
        reach.confirm(
            address(&format!("/ip4/10.0.0.1/tcp/1/p2p/{relay}/p2p-circuit")),
            true,
        );
        assert_eq!(reach.reach(now + PATIENCE), Reach::Private);
        reach.confirm(address("/ip4/10.0.0.7/tcp/7411"), true);
        assert_eq!(reach.reach(now), Reach::Public);
    }

    #[test]
    fn what_peers_see_tells_the_kind_of_nat() {
        let own = [address("/ip4/10.0.0.2/udp/7411/quic-v1")];
        let table: [(&[&str], Nat); 5] = [
            (&[], Nat::Unknown),
            (&["/ip4/198.51.100.7/udp/9/quic-v1"], Nat::Unknown),
            (
                &[
                    "/ip4/198.51.100.7/udp/9/quic-v1",
                    "/ip4/198.51.100.7/udp/9/quic-v1",
                ],
                Nat::Cone,
            ),
            (
                &[
                    "/ip4/198.51.100.7/udp/9/quic-v1",
                    "/ip4/198.51.100.7/udp/10/quic-v1",
                ],
                Nat::Symmetric,
            ),
            (&["/ip4/10.0.0.2/udp/7411/quic-v1"], Nat::None),
        ];
        for (seen, nat) in table {
            let (mut reach, _) = start(false);
            for (i, text) in (1u8..).zip(seen) {
                let host = IpAddr::from([203, 0, 113, i]);
                reach.see(PeerId::random(), host, address(text));
            }
            assert_eq!(reach.nat(&own), nat, "{seen:?}");
        }
    }

    #[test]
    fn a_declared_address_stays_though_nobody_reaches_it_and_is_told_until_somebody_does() {
        let (mut reach, now) = start(false);
        let (declared, other) = (
            address("/ip4/198.51.100.7/tcp/7411"),
            address("/ip4/198.51.100.7/tcp/9"),
        );
        reach.declare(declared.clone());
        assert!(reach.refute(&declared) && reach.refute(&declared));
        assert!(!reach.refute(&other));
        assert_eq!(reach.refuted(), std::slice::from_ref(&declared));
        assert_eq!(reach.reach(now), Reach::Public);
        reach.confirm(declared, true);
        assert!(reach.refuted().is_empty());
    }

    #[test]
    fn an_address_that_two_peers_see_replaced_is_stale() {
        let (mut reach, _) = start(false);
        let old = address("/ip4/198.51.100.7/udp/7411/quic-v1");
        reach.confirm(old.clone(), true);
        let new = address("/ip4/198.51.100.8/udp/7411/quic-v1");
        let host = IpAddr::from([203, 0, 113, 1]);
        let (a, b) = (PeerId::random(), PeerId::random());
        reach.see(a, host, new.clone());
        assert!(reach.stale().is_empty());
        reach.see(b, host, new);
        let seen = BTreeSet::from([IpAddr::from([198, 51, 100, 8])]);
        assert_eq!(reach.seen(), seen, "as its router's outer address");
        assert_eq!(reach.stale(), std::slice::from_ref(&old));
        reach.see(b, host, old);
        assert!(reach.stale().is_empty());
    }
}
