//! Peers that the owner blocked or trusts.
//!
//! 1. A blocked peer is disconnected, refused whichever way it comes, and neither dialled nor
//!    sought, until the owner takes the mark back. A ban that ends does not lift it.
//! 2. A trusted peer is pardoned, kept connected in a slot that no stranger can take, and never
//!    banned for its score. Without an address, or with one that no longer serves, it is sought
//!    anew every [`PAUSE`].
//! 3. A mark replaces the other; nothing here is forgotten by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::time::{Duration, Instant};

use libp2p::PeerId;

/// When trusted peers are sought first: by then somebody is connected who can be asked.
const FIRST: Duration = Duration::from_secs(2);
/// How often trusted peers that are not connected are sought.
const PAUSE: Duration = Duration::from_secs(30);
/// How many of them each time, in turn: others are sought as well.
const AT_ONCE: usize = 16;

named! {
    /// The owner's mark on a peer.
    pub enum Mark {
        /// Not to be spoken to.
        Blocked = "blocked",
        /// To be kept connected and never banned for its score.
        Trusted = "trusted",
    }
}

/// The marks, and what was done for their sake.
#[derive(Debug)]
pub(super) struct Marks {
    marks: BTreeMap<PeerId, Mark>,
    /// Peers kept for no other reason than trust.
    kept_for_trust: BTreeSet<PeerId>,
    /// The trusted peer that was sought last, and when the next ones are.
    attended: Option<PeerId>,
    next_attention: Instant,
}

impl Marks {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            marks: BTreeMap::new(),
            kept_for_trust: BTreeSet::new(),
            attended: None,
            next_attention: now + FIRST,
        }
    }

    /// Sets or takes back a mark. Returns the one before.
    pub(super) fn set(&mut self, peer: PeerId, mark: Option<Mark>) -> Option<Mark> {
        match mark {
            Some(mark) => self.marks.insert(peer, mark),
            None => self.marks.remove(&peer),
        }
    }

    pub(super) fn is(&self, peer: &PeerId, mark: Mark) -> bool {
        self.marks.get(peer) == Some(&mark)
    }

    /// A peer is kept for the sake of trust.
    pub(super) fn begin_trust_keeping(&mut self, peer: PeerId) {
        self.kept_for_trust.insert(peer);
    }

    /// It no longer is, or for another reason. Returns whether it was.
    pub(super) fn end_trust_keeping(&mut self, peer: &PeerId) -> bool {
        self.kept_for_trust.remove(peer)
    }

    /// Step 2: trusted peers that are to be sought now.
    pub(super) fn missing(
        &mut self,
        is_peer: impl Fn(&PeerId) -> bool,
        now: Instant,
    ) -> Vec<PeerId> {
        if now < self.next_attention {
            return Vec::new();
        }
        self.next_attention = now + PAUSE;
        let after = self.attended.map_or(Bound::Unbounded, Bound::Excluded);
        let rest = self.marks.range((after, Bound::Unbounded));
        let missing = |(peer, mark): &(&PeerId, &Mark)| **mark == Mark::Trusted && !is_peer(peer);
        let trusted = rest.chain(&self.marks).filter(missing);
        let trusted: Vec<PeerId> = trusted.take(AT_ONCE).map(|(peer, _)| *peer).collect();
        self.attended = trusted.last().copied().or(self.attended);
        trusted
    }
}
