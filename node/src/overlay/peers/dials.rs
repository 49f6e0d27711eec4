//! Dials: the peers that the node keeps connected, and those that it calls now.

use std::collections::BTreeSet;
use std::time::Instant;

use libp2p::{Multiaddr, PeerId};

use super::{Order, Peers};
use crate::overlay::command::Found;
use crate::overlay::reach::addresses::configured;
use crate::overlay::stats::Count;

impl Peers {
    /// Keeps a peer connected from now on, by the owner's word.
    pub(crate) fn keep(&mut self, peer: PeerId, addresses: &[Multiaddr]) {
        self.marks.end_trust_keeping(&peer);
        self.keep_on(peer, addresses);
    }

    /// Keeps a peer connected from now on.
    pub(super) fn keep_on(&mut self, peer: PeerId, addresses: &[Multiaddr]) {
        if peer == self.shared.local {
            return;
        }
        if !self
            .dialer
            .keep(peer, configured(addresses), Instant::now())
        {
            tracing::warn!(%peer, "too many peers to keep connected");
        }
        let kept = self.dialer.is_kept(&peer);
        self.orders.push(Order::Slot(peer, kept));
        if self.is_connected(&peer) {
            self.dialer.connected(&peer);
        }
    }

    /// No longer keeps a peer connected.
    pub(crate) fn release(&mut self, peer: PeerId) {
        self.dialer.release(&peer);
        self.orders.push(Order::Slot(peer, false));
    }

    /// Of the kept peers these rest from now on, and no others: they may be given up.
    pub(crate) fn rest(&mut self, peers: &BTreeSet<PeerId>) {
        self.dialer.rest(peers, Instant::now());
    }

    /// When a kept peer is due to be dialled.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.dialer.next_due()
    }

    /// Begins every dial that is due.
    pub(crate) fn dial_due(&mut self) {
        let (now, wanted) = (Instant::now(), self.shared.limits.wanted_peers);
        let room = wanted.saturating_sub(self.connected.len());
        for (peer, addresses) in self.dialer.take_due(now, room) {
            if !self.dialer.is_kept(&peer) && self.is_crowded(&addresses) {
                self.shared.counters.count(Count::DialsCrowded);
                self.dialer.failed(&peer, now);
            } else {
                self.orders.push(Order::Dial(peer, addresses));
            }
        }
    }

    /// A dial failed, or could not begin.
    pub(crate) fn dial_failed(&mut self, peer: &PeerId) {
        self.dialer.failed(peer, Instant::now());
    }

    /// All pauses begin at the first again: our own network has changed.
    pub(crate) fn hurry(&mut self) {
        self.dialer.hurry();
    }

    /// A lookup found these peers: those of them that add variety are learnt, and dialled if more
    /// are wanted.
    pub(crate) fn on_found(&mut self, found: &Found) {
        let learnt = self.varied(found);
        let crowded = found.len() - learnt.len();
        self.shared.counters.count_n(Count::LearntCrowded, crowded);
        for (peer, addresses) in learnt {
            if *peer != self.shared.local {
                self.learn(*peer, addresses.clone());
            }
        }
        self.dial_due();
    }
}
