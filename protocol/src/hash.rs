//! Domain-separated hashing and the bytes that are signed.
//!
//! Every hash is BLAKE3 in key-derivation mode under a [`Domain`] of its own, over fields that
//! are each prefixed by their length; every signature covers the domain, the network and the
//! canonical bytes. A value of one kind can therefore never stand in for another kind or for
//! the same kind on another network.

use crate::ids::NetworkId;

/// The subject of a hash or a signature. The version is part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Genesis file to network id.
    Genesis,
    /// Opening entry (or genesis member) to account id.
    Account,
    /// Class key to class id.
    Class,
    /// Seller and label to offer id.
    Offer,
    /// Canonical entry to entry id, and the signature over it.
    Entry,
    /// Sealed bid to commitment.
    Commitment,
    /// Header to block id.
    Block,
    /// Order and height of its start to lease id.
    Lease,
    /// Class and height to clearing id.
    Clearing,
    /// Effect to leaf of the effects log.
    Effect,
    /// State record to its key in the state tree.
    StateKey,
    /// State record to its value in the state tree.
    StateValue,
    /// Validator key to validator id.
    Validator,
    /// Validator set to the hash carried by headers.
    ValidatorSet,
    /// Commit certificate to the hash carried by the next header.
    Certificate,
    /// Prevote or precommit.
    Vote,
    /// Proposal of a block id.
    Proposal,
    /// Step of a validator's beacon chain.
    BeaconChain,
    /// Mixing of a reveal into the beacon.
    Beacon,
    /// Draw of the election.
    Election,
    /// Order of entries and bids by beacon.
    Rank,
    /// Grant inside an invitation.
    Invitation,
    /// Job text with its salt.
    Work,
    /// Evidence of equivocation.
    Evidence,
    /// Better allocation of reservations in a block.
    Hint,
    /// Advert gossiped by a seller.
    Advert,
    /// Content of a staged file.
    Content,
    /// Message between the agents of a buyer and a seller.
    Agent,
    /// Receipt of a validator that acknowledges an entry.
    Receipt,
    /// Record of where a node can be reached.
    NodeRecord,
    /// From the name of a thing looked up in the DHT to its key there.
    DhtKey,
}

impl Domain {
    /// All domains, for the test that their texts are unique.
    pub const ALL: [Domain; 31] = [
        Domain::Genesis,
        Domain::Account,
        Domain::Class,
        Domain::Offer,
        Domain::Entry,
        Domain::Commitment,
        Domain::Block,
        Domain::Lease,
        Domain::Clearing,
        Domain::Effect,
        Domain::StateKey,
        Domain::StateValue,
        Domain::Validator,
        Domain::ValidatorSet,
        Domain::Certificate,
        Domain::Vote,
        Domain::Proposal,
        Domain::BeaconChain,
        Domain::Beacon,
        Domain::Election,
        Domain::Rank,
        Domain::Invitation,
        Domain::Work,
        Domain::Evidence,
        Domain::Hint,
        Domain::Advert,
        Domain::Content,
        Domain::Agent,
        Domain::Receipt,
        Domain::NodeRecord,
        Domain::DhtKey,
    ];

    /// Text of the domain; unique, and never reused with another meaning.
    pub const fn text(self) -> &'static str {
        match self {
            Domain::Genesis => "gridbay/genesis/1",
            Domain::Account => "gridbay/account/1",
            Domain::Class => "gridbay/class/1",
            Domain::Offer => "gridbay/offer/1",
            Domain::Entry => "gridbay/entry/1",
            Domain::Commitment => "gridbay/commitment/1",
            Domain::Block => "gridbay/block/1",
            Domain::Lease => "gridbay/lease/1",
            Domain::Clearing => "gridbay/clearing/1",
            Domain::Effect => "gridbay/effect/1",
            Domain::StateKey => "gridbay/state-key/1",
            Domain::StateValue => "gridbay/state-value/1",
            Domain::Validator => "gridbay/validator/1",
            Domain::ValidatorSet => "gridbay/validator-set/1",
            Domain::Certificate => "gridbay/certificate/1",
            Domain::Vote => "gridbay/vote/1",
            Domain::Proposal => "gridbay/proposal/1",
            Domain::BeaconChain => "gridbay/beacon-chain/1",
            Domain::Beacon => "gridbay/beacon/1",
            Domain::Election => "gridbay/election/1",
            Domain::Rank => "gridbay/rank/1",
            Domain::Invitation => "gridbay/invitation/1",
            Domain::Work => "gridbay/work/1",
            Domain::Evidence => "gridbay/evidence/1",
            Domain::Hint => "gridbay/hint/1",
            Domain::Advert => "gridbay/advert/1",
            Domain::Content => "gridbay/content/1",
            Domain::Agent => "gridbay/agent/1",
            Domain::Receipt => "gridbay/receipt/1",
            Domain::NodeRecord => "gridbay/node-record/1",
            Domain::DhtKey => "gridbay/dht-key/1",
        }
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
