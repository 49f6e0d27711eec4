//! Variety among the peers that we choose, and how crowded their networks are.
//!
//! A known peer is not dialled while its origin already has [`SHARE`] of the peers that we want. Of
//! one lookup at most [`PER_LOOKUP`] peers of an origin are learnt. Both rules apply only where
//! peers do not all share an address.

use std::collections::BTreeMap;
use std::net::IpAddr;

use libp2p::{Multiaddr, PeerId};

use super::Peers;
use super::gate::origin;
use super::peer::Peer;
use crate::overlay::command::Found;

/// One part in so many of the peers that we want may be of one origin.
const SHARE: usize = 4;
/// Peers of one origin learnt from one lookup, which finds up to 20.
const PER_LOOKUP: usize = 5;

impl Peers {
    /// Connected peers by origin.
    pub(super) fn crowds(&self) -> BTreeMap<IpAddr, usize> {
        let mut crowds = BTreeMap::new();
        for of in self.connected.values().filter_map(first_origin) {
            *crowds.entry(of).or_default() += 1;
        }
        crowds
    }

    /// Whether enough peers of where these addresses are have been chosen already.
    pub(super) fn is_crowded(&self, addresses: &[Multiaddr]) -> bool {
        if !self.shared.tuning.ip_colocation {
            return false;
        }
        let most = (self.shared.limits.wanted_peers / SHARE).max(1);
        let crowds = self.crowds();
        let full = |of: IpAddr| crowds.get(&of).is_some_and(|n| *n >= most);
        let mut origins = addresses.iter().filter_map(origin).peekable();
        origins.peek().is_some() && origins.all(full)
    }

    /// Those found by a lookup that are learnt.
    pub(super) fn varied<'a>(&self, found: &'a Found) -> Vec<&'a (PeerId, Vec<Multiaddr>)> {
        if !self.shared.tuning.ip_colocation {
            return found.iter().collect();
        }
        let mut seen: BTreeMap<IpAddr, usize> = BTreeMap::new();
        let few = |(_, addresses): &&(PeerId, Vec<Multiaddr>)| {
            let first = addresses.iter().find_map(origin);
            first.is_none_or(|of| {
                let count = seen.entry(of).or_default();
                *count += 1;
                *count <= PER_LOOKUP
            })
        };
        found.iter().filter(few).collect()
    }
}

fn first_origin(peer: &Peer) -> Option<IpAddr> {
    peer.direct().find_map(origin)
}

/// Peers of this one's origin, itself among them; 0 if that is unknown.
pub(super) fn crowd_of(crowds: &BTreeMap<IpAddr, usize>, peer: &Peer) -> usize {
    let of = first_origin(peer);
    of.and_then(|of| crowds.get(&of).copied()).unwrap_or(0)
}
