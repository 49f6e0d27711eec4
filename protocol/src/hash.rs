//! Domain-separated hashing and the bytes that are signed.
//!
//! Every hash is BLAKE3 in key-derivation mode under a [`Domain`] of its own, over fields that
//! are each prefixed by their length; every signature covers the domain, the network and the
//! canonical bytes. A value of one kind can therefore never stand in for another kind or for
//! the same kind on another network.

use crate::ids::NetworkId;

named! {
    /// The subject of a hash or a signature. The text, of which the version is a part, is unique
    /// and never reused with another meaning.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Domain as text {
        /// Genesis file to network id.
        Genesis = "gridbay/genesis/1",
        /// Opening entry (or genesis member) to account id.
        Account = "gridbay/account/1",
        /// Class key to class id.
        Class = "gridbay/class/1",
        /// Seller and label to offer id.
        Offer = "gridbay/offer/1",
        /// Canonical entry to entry id, and the signature over it.
        Entry = "gridbay/entry/1",
        /// Sealed bid to commitment.
        Commitment = "gridbay/commitment/1",
        /// Header to block id.
        Block = "gridbay/block/1",
        /// Order and height of its start to lease id.
        Lease = "gridbay/lease/1",
        /// Class and height to clearing id.
        Clearing = "gridbay/clearing/1",
        /// Effect to leaf of the effects log.
        Effect = "gridbay/effect/1",
        /// State record to its key in the state tree.
        StateKey = "gridbay/state-key/1",
        /// State record to its value in the state tree.
        StateValue = "gridbay/state-value/1",
        /// Validator key to validator id.
        Validator = "gridbay/validator/1",
        /// Validator set to the hash carried by headers.
        ValidatorSet = "gridbay/validator-set/1",
        /// Commit certificate to the hash carried by the next header.
        Certificate = "gridbay/certificate/1",
        /// Prevote or precommit.
        Vote = "gridbay/vote/1",
        /// Proposal of a block id.
        Proposal = "gridbay/proposal/1",
        /// Step of a validator's beacon chain.
        BeaconChain = "gridbay/beacon-chain/1",
        /// Mixing of a reveal into the beacon.
        Beacon = "gridbay/beacon/1",
        /// Draw of the election.
        Election = "gridbay/election/1",
        /// Order of entries and bids by beacon.
        Rank = "gridbay/rank/1",
        /// Grant inside an invitation.
        Invitation = "gridbay/invitation/1",
        /// Job text with its salt.
        Work = "gridbay/work/1",
        /// Evidence of equivocation.
        Evidence = "gridbay/evidence/1",
        /// Better allocation of reservations in a block.
        Hint = "gridbay/hint/1",
        /// Advert gossiped by a seller.
        Advert = "gridbay/advert/1",
        /// Content of a staged file.
        Content = "gridbay/content/1",
        /// Message between the agents of a buyer and a seller.
        Agent = "gridbay/agent/1",
        /// Receipt of a validator that acknowledges an entry.
        Receipt = "gridbay/receipt/1",
        /// Record of where a node can be reached.
        NodeRecord = "gridbay/node-record/1",
        /// From the name of a thing looked up in the DHT to its key there.
        DhtKey = "gridbay/dht-key/1",
        /// Network id to the prefix that the private networks of its leases share.
        LeaseNet = "gridbay/lease-net/1",
        /// Lease and rank to the rank's address in the lease's private network.
        LeaseAddress = "gridbay/lease-address/1",
        /// Keys of two members of a lease to the key of their probes.
        LeasePath = "gridbay/lease-path/1",
        /// Member of a lease to the tag that handshakes with it carry.
        LeaseTag = "gridbay/lease-tag/1",
        /// Order to a rank of a cluster that is held.
        RankOrder = "gridbay/rank-order/1",
        /// Order of an owner to a node.
        OwnerOrder = "gridbay/owner-order/1",
        /// Secret, asker and number to the proof that a node made a challenge.
        OwnerChallenge = "gridbay/owner-challenge/1",
    }
}

/// Hash of `parts` under `domain`; each part is prefixed by its length as 8 bytes.
pub fn hash(domain: Domain, parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(domain.text());
    for part in parts {
        hasher.update(&(part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

/// [`hash`] of one part that comes piece by piece.
#[derive(Debug)]
pub(crate) struct PartHasher(blake3::Hasher);

impl PartHasher {
    /// For a part of so many bytes.
    pub(crate) fn new(domain: Domain, bytes: u64) -> PartHasher {
        let mut hasher = blake3::Hasher::new_derive_key(domain.text());
        hasher.update(&bytes.to_be_bytes());
        PartHasher(hasher)
    }
    pub(crate) fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }
    pub(crate) fn finish(self) -> [u8; 32] {
        *self.0.finalize().as_bytes()
    }
}

/// Bytes that a signature over `body` covers: domain text, a zero byte, network, body.
pub fn signing_bytes(domain: Domain, network: &NetworkId, body: &[u8]) -> Vec<u8> {
    let text = domain.text().as_bytes();
    let mut out = Vec::with_capacity(text.len() + 1 + 32 + body.len());
    out.extend_from_slice(text);
    out.push(0);
    out.extend_from_slice(network.as_bytes());
    out.extend_from_slice(body);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn domains_are_unique_and_no_prefix_of_one_another() {
        let texts: BTreeSet<_> = Domain::ALL.iter().map(|d| d.text()).collect();
        assert_eq!(texts.len(), Domain::ALL.len());
    }

    #[test]
    fn field_boundaries_count() {
        assert_ne!(
            hash(Domain::Entry, &[b"ab", b"c"]),
            hash(Domain::Entry, &[b"a", b"bc"])
        );
        assert_ne!(hash(Domain::Entry, &[b"a"]), hash(Domain::Block, &[b"a"]));
    }
}
