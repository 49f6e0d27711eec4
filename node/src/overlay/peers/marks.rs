//! Peers that the owner blocked or trusts.
//!
//! 1. A blocked peer is disconnected, refused whichever way it comes, and neither dialled nor sought, until the owner takes the
//!    mark back. A ban that ends does not lift it.
//! 2. A trusted peer is pardoned, kept connected in a slot that no stranger can take, and never banned for its score. Without an
//!    address, or with one that no longer serves, it is sought anew every [`PAUSE`].
//! 3. A mark replaces the other; nothing here is forgotten by itself.

use std::ops::Bound;
use std::time::{Duration, Instant};

use libp2p::PeerId;
use serde::{Deserialize, Serialize};

use crate::overlay::error::SeekError;
use crate::overlay::task::Task;

/// When trusted peers are sought first: by then somebody is connected who can be asked.
pub(crate) const FIRST: Duration = Duration::from_secs(2);
/// How often trusted peers that are not connected are sought.
const PAUSE: Duration = Duration::from_secs(30);
/// How many of them each time, in turn: others are sought as well.
const AT_ONCE: usize = 16;

/// What the owner says of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Not to be spoken to.
    Blocked,
    /// To be kept connected and never banned for its score.
    Trusted,
}

impl Task {
    /// Sets or takes back a mark.
    pub(crate) fn mark(&mut self, peer: PeerId, mark: Option<Mark>) {
        if peer == self.shared.local {
            return;
        }
        let before = match mark {
            Some(mark) => self.marks.insert(peer, mark),
            None => self.marks.remove(&peer),
        };
        if mark != Some(Mark::Trusted) && self.kept_for_trust.remove(&peer) {
            self.release(peer);
        }
        if before == Some(Mark::Blocked) && mark != before {
            self.swarm.behaviour_mut().blocked.unblock_peer(peer);
            self.dialer.retry(&peer, Instant::now());
        }
        match mark {
            Some(Mark::Blocked) => self.shut_out(peer),
            Some(Mark::Trusted) => {
                self.standing.pardon(&peer);
                let behaviour = self.swarm.behaviour_mut();
                behaviour.blocked.unblock_peer(peer);
                behaviour.gossip.set_application_score(&peer, 0.0);
                if !self.dialer.is_kept(&peer) {
                    self.kept_for_trust.insert(peer);
                    self.keep(peer, Vec::new());
                }
                if !self.peers.is_empty() {
                    self.seek(peer);
                }
            }
            None => {}
        }
        self.publish_peers();
    }

    /// Step 1.
    fn shut_out(&mut self, peer: PeerId) {
        self.swarm.behaviour_mut().blocked.block_peer(peer);
        self.dialer.refused(&peer);
        self.end_seek(&peer, SeekError::Blocked);
        self.swarm.behaviour_mut().kad.remove_peer(&peer);
        // An error means that it was not connected.
        let _gone = self.swarm.disconnect_peer_id(peer);
    }

    /// A ban has ended.
    pub(crate) fn end_ban(&mut self, peer: PeerId) {
        if !self.is_marked(&peer, Mark::Blocked) {
            self.swarm.behaviour_mut().blocked.unblock_peer(peer);
        }
    }

    pub(crate) fn is_marked(&self, peer: &PeerId, mark: Mark) -> bool {
        self.marks.get(peer) == Some(&mark)
    }

    /// Step 2.
    pub(crate) fn attend_trusted(&mut self, now: Instant) {
        if now < self.next_attention {
            return;
        }
        self.next_attention = now + PAUSE;
        let after = self.attended.map_or(Bound::Unbounded, Bound::Excluded);
        let rest = self.marks.range((after, Bound::Unbounded));
        let missing =
            |(peer, mark): &(&PeerId, &Mark)| **mark == Mark::Trusted && !self.is_peer(peer);
        let trusted = rest.chain(&self.marks).filter(missing);
        let trusted: Vec<PeerId> = trusted.take(AT_ONCE).map(|(peer, _)| *peer).collect();
        for peer in trusted {
            self.attended = Some(peer);
            self.seek(peer);
        }
    }
}
