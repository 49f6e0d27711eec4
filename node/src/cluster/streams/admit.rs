//! Whether a peer's stream is let in, and which one gives way to it.
//!
//! A stream that was let in counts towards its *share*: the lease of a member, or what a ticket
//! draws on. No share has more than a bound of its own. Where all places are taken, the share with
//! the most gives its latest one up to one that has fewer, so that no buyer crowds others out.

use std::collections::BTreeMap;
use std::time::Instant;

use gridbay_core::relay::Purse;
use gridbay_protocol::ids::LeaseId;
use gridbay_protocol::keys::PublicKey;
use gridbay_vnet::path::Ticket;

use super::pass::{LET_IN, PER_LEASE, PER_PURSE, Pass, Refusal};
use crate::cluster::{Clusters, Inner};

/// What a stream that was let in counts towards.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Share {
    Lease(LeaseId),
    /// None where its grant has ended.
    Purse(Option<Purse>),
}

impl Share {
    /// Streams that it may have, and the refusal of one more.
    fn bound(&self) -> (usize, Refusal) {
        match self {
            Share::Lease(_) => (PER_LEASE, Refusal::LeaseFull),
            Share::Purse(_) => (PER_PURSE, Refusal::PurseFull),
        }
    }
}

impl Clusters {
    /// Whether a peer may open a stream, and there is or can be room for it.
    pub(super) fn admits_stream(&self, from: &PublicKey, pass: &Pass) -> Result<(), Refusal> {
        let admitted = self.lock().admits(from, pass).map(drop);
        if let Err(refusal) = admitted {
            self.stream_refused(refusal);
        }
        admitted
    }

    /// A peer's stream was not let in.
    pub(super) fn stream_refused(&self, refusal: Refusal) {
        *self.lock().streams.refused.entry(refusal).or_default() += 1;
    }

    /// How many were not, by reason.
    pub(crate) fn streams_refused(&self) -> BTreeMap<Refusal, u64> {
        self.lock().streams.refused.clone()
    }

    /// Whether a peer is a member of any network here.
    pub(super) fn is_member(&self, peer: &PublicKey) -> bool {
        self.lock().is_member_of_any(peer)
    }
}

impl Inner {
    /// Whether a peer's new stream may be; whose stream gives way to it, if one has to.
    pub(super) fn admits(
        &self,
        from: &PublicKey,
        pass: &Pass,
    ) -> Result<Option<PublicKey>, Refusal> {
        if !self.lets_in(from, pass) {
            return Err(Refusal::Stranger);
        }
        let mut shares: BTreeMap<Share, Vec<(Instant, PublicKey)>> = BTreeMap::new();
        // A peer has one stream, and a ticket is of one node: these are replaced.
        let replaced = |peer: &PublicKey, other: &Pass| {
            peer == from || (matches!(pass, Pass::Relay(_)) && other == pass)
        };
        for (peer, other, since) in self.streams.let_in() {
            if !replaced(peer, other) {
                let share = shares.entry(self.share(other)).or_default();
                share.push((since, *peer));
            }
        }
        let own = self.share(pass);
        let count = shares.get(&own).map_or(0, Vec::len);
        let (bound, refusal) = own.bound();
        if count >= bound {
            return Err(refusal);
        }
        if shares.values().map(Vec::len).sum::<usize>() < LET_IN {
            return Ok(None);
        }
        let largest = shares.values().max_by_key(|share| share.len());
        let largest = largest.filter(|share| share.len() > count + 1);
        let latest = largest.and_then(|share| share.iter().max());
        latest.map(|(_, peer)| Some(*peer)).ok_or(Refusal::Full)
    }

    /// Whether a peer's stream may be: it is a member of any network here, or its ticket is known.
    pub(super) fn lets_in(&self, peer: &PublicKey, pass: &Pass) -> bool {
        match pass {
            Pass::Member(lease) if self.is_member(peer, lease) => true,
            Pass::Relay(ticket) if self.purse(ticket).is_some() => true,
            _ => self.streams.at(peer).is_some() && self.is_member_of_any(peer),
        }
    }

    fn is_member(&self, peer: &PublicKey, lease: &LeaseId) -> bool {
        let own = self.open.get(lease);
        own.is_some_and(|own| own.members.iter().any(|m| m.node == *peer))
    }

    fn is_member_of_any(&self, peer: &PublicKey) -> bool {
        let mut leases = self.open.keys();
        leases.any(|lease| self.is_member(peer, lease))
    }

    fn share(&self, pass: &Pass) -> Share {
        match pass {
            Pass::Member(lease) => Share::Lease(*lease),
            Pass::Relay(ticket) => Share::Purse(self.purse(ticket)),
        }
    }

    /// What a ticket draws on.
    fn purse(&self, ticket: &Ticket) -> Option<Purse> {
        let has = |pairs: &Vec<gridbay_core::relay::Tickets>| {
            pairs.iter().any(|pair| pair.ends().contains(ticket))
        };
        let mut all = self.relayed.iter();
        all.find(|(_, pairs)| has(pairs))
            .map(|((purse, _), _)| *purse)
    }
}

#[cfg(test)]
mod tests;
