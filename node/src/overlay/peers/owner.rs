//! The meaning of the owner's marks: a blocked peer is shut out, a trusted one is kept and sought.

use std::time::Instant;

use libp2p::PeerId;

use super::marks::Mark;
use super::{Order, Peers};
use crate::overlay::error::SeekError;
use crate::overlay::wire::behaviour::Gossip;

impl Peers {
    /// Sets or takes back a mark.
    pub(crate) fn mark(&mut self, gossip: &mut Gossip, peer: PeerId, mark: Option<Mark>) {
        if peer == self.shared.local {
            return;
        }
        let before = self.marks.set(peer, mark);
        if mark != Some(Mark::Trusted) && self.marks.end_trust_keeping(&peer) {
            self.release(peer);
        }
        if before == Some(Mark::Blocked) && mark != before {
            self.orders.push(Order::Unblock(peer));
            self.dialer.retry(&peer, Instant::now());
        }
        match mark {
            Some(Mark::Blocked) => self.shut_out(peer),
            Some(Mark::Trusted) => self.trust(gossip, peer),
            None => {}
        }
        self.orders.push(Order::Show);
    }

    fn shut_out(&mut self, peer: PeerId) {
        self.orders.push(Order::Block(peer));
        self.dialer.refused(&peer);
        self.orders.push(Order::EndSeek(peer, SeekError::Blocked));
        self.orders.push(Order::LeaveTable(peer));
        self.orders.push(Order::Disconnect(peer));
    }

    fn trust(&mut self, gossip: &mut Gossip, peer: PeerId) {
        self.standing.pardon(&peer);
        self.orders.push(Order::Unblock(peer));
        gossip.set_application_score(&peer, 0.0);
        if !self.dialer.is_kept(&peer) {
            self.marks.begin_trust_keeping(peer);
            self.keep_on(peer, &[]);
        }
        if !self.is_empty() {
            self.orders.push(Order::Seek(peer));
        }
    }

    /// Has trusted peers sought that are not connected.
    pub(crate) fn attend_trusted(&mut self, now: Instant) {
        let connected = &self.connected;
        let is_peer = |peer: &PeerId| connected.get(peer).is_some_and(|p| p.admitted);
        let missing = self.marks.missing(is_peer, now);
        self.orders.extend(missing.into_iter().map(Order::Seek));
    }
}
