//! A relay that a buyer's node asks to carry, with its last word.

use super::relays::Ends;
use crate::relay::{Carried, Signed, Tickets};
use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::{LeaseId, OfferId};
use gridbay_protocol::keys::PublicKey;

/// Milliseconds to wait for the answer to a wish: a dead relay must be replaced within ten seconds.
const ANSWER_MS: u64 = 1_500;

/// A relay that is asked to carry for pairs of a lease.
#[derive(Clone, Debug)]
pub struct Source {
    /// The lease whose members it carries for.
    pub carries: LeaseId,
    /// Its node.
    pub node: PublicKey,
    /// The lease that pays, and the offer whose unit it is; none if nothing does.
    pub paid_by: Option<(LeaseId, OfferId)>,
    /// Its last word, and the pairs that it is about.
    pub answer: Option<(Vec<Ends>, Signed<Carried>)>,
    /// All its tickets follow from it.
    secret: [u8; 32],
    /// When it first answered well.
    pub(super) since_ms: u64,
    pub(super) ask_from_ms: u64,
    /// Whether a wish is on its way.
    pub(super) asking: bool,
    pub(super) failures: u32,
    /// Whether neither end of any of its pairs hears anything by it, long after it began.
    pub(super) deaf: bool,
}

impl Source {
    pub(super) fn new(
        carries: LeaseId,
        node: PublicKey,
        paid_by: Option<(LeaseId, OfferId)>,
        entropy: &[u8; 32],
    ) -> Source {
        let pays = paid_by.map_or([0; 32], |(lease, _)| lease.0);
        let parts: [&[u8]; 5] = [entropy, b"relay", &carries.0, node.as_bytes(), &pays];
        Source {
            carries,
            node,
            paid_by,
            answer: None,
            secret: hash(Domain::Agent, &parts),
            since_ms: 0,
            ask_from_ms: 0,
            asking: false,
            failures: 0,
            deaf: false,
        }
    }
    pub(super) fn is(&self, carries: &LeaseId, node: &PublicKey, paid: Option<LeaseId>) -> bool {
        let own = (
            &self.carries,
            &self.node,
            self.paid_by.map(|(lease, _)| lease),
        );
        own == (carries, node, paid)
    }
    /// Whether it is to be asked now, and is: a wish that was not answered until then failed.
    pub(super) fn ask(&mut self, now_ms: u64) -> bool {
        let due = now_ms >= self.ask_from_ms;
        if due {
            self.failures += u32::from(self.asking);
            (self.asking, self.ask_from_ms) = (true, now_ms + ANSWER_MS);
        }
        due
    }
    /// The tickets of a pair.
    pub(super) fn tickets(&self, pair: &Ends) -> Tickets {
        let [low, high] = pair;
        let parts: [&[u8]; 3] = [&self.secret, low.as_bytes(), high.as_bytes()];
        Tickets(hash(Domain::Agent, &parts))
    }
    /// Whether it carries by its own word, and goes on to.
    pub fn carries(&self) -> bool {
        let left = self.answer.as_ref().map(|(_, a)| a.said.left);
        self.failures == 0 && !self.deaf && left.is_some_and(|left| left > 0)
    }
    /// Whether its last wish was not answered well, or nobody hears it.
    pub(super) fn fails(&self) -> bool {
        self.failures > 0 || self.deaf
    }
    /// What it carried for a pair by its last word, from either end.
    pub fn bytes(&self, pair: &Ends) -> Option<[u64; 2]> {
        let (pairs, answer) = self.answer.as_ref()?;
        let at = pairs.iter().position(|of| of == pair)?;
        answer.said.bytes.get(at).copied()
    }
}
