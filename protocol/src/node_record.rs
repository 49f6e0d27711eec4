//! Node records: where a node can be reached right now (soft state, kept by the DHT, expiring).
//!
//! 1. A node signs its record with its transport key, so every holder of the record knows its
//!    author, and nobody else can write one for the node. It lies in the DHT under the peer id of
//!    that key.
//! 2. A record with a higher sequence replaces one with a lower; of two with the same the first
//!    stays.
//! 3. It counts until `expires`, at most [`limits::NODE_RECORD_SECONDS`] ahead of the reader's
//!    clock.
//!
//! An address in a record is a claim: it tells where to dial, and the connection proves who
//! answers.

use crate::codec::{self, CodecError};
use crate::hash::{Domain, hash};
use crate::ids::NetworkId;
use crate::keys::{KeyError, PublicKey, SecretKey, Signature};
use crate::limits;
use serde::{Deserialize, Serialize};

/// Where a node can be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeRecord {
    /// Transport key of the node; signs.
    pub node: PublicKey,
    /// Counts up, also from run to run: milliseconds since 1970 when it was signed.
    pub sequence: u64,
    /// Last second since 1970 in which it counts.
    pub expires: u64,
    /// Multiaddr texts without the node's own peer id, best first, at most [`limits::ADDRESSES`]:
    /// direct ones, then circuits through relays.
    pub addresses: Vec<String>,
}

/// A node record with its signature: what the DHT keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedNodeRecord {
    /// The record.
    pub record: NodeRecord,
    /// By `record.node`.
    pub signature: Signature,
}

/// Why a node record is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NodeRecordError {
    /// Malformed.
    #[error("malformed node record")]
    Bytes(#[from] CodecError),
    /// Too many or too long addresses.
    #[error("a node record with too many or too long addresses")]
    Range,
    /// Wrongly signed.
    #[error("a wrongly signed node record")]
    Signature(#[from] KeyError),
    /// It does not count any more, or counts longer than a record may.
    #[error("a node record that expires at {expires}, looked at in second {now}")]
    Expiry {
        /// Its last second.
        expires: u64,
        /// The second in which it was looked at.
        now: u64,
    },
}

/// Key under which those who provide something say so in the DHT: `kind` is what sort of thing,
/// `name` which.
pub fn rendezvous(network: &NetworkId, kind: &str, name: &[u8]) -> [u8; 32] {
    let parts: [&[u8]; 4] = [network.as_bytes(), b"provider", kind.as_bytes(), name];
    hash(Domain::DhtKey, &parts)
}

impl SignedNodeRecord {
    /// Signs a record.
    pub fn new(network: &NetworkId, record: NodeRecord, key: &SecretKey) -> SignedNodeRecord {
        let signature = key.sign(Domain::NodeRecord, network, &codec::encode(&record));
        SignedNodeRecord { record, signature }
    }

    /// Parses bytes from the DHT and checks ranges, expiry (`now`: seconds since 1970) and
    /// signature.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn receive(
        network: &NetworkId,
        bytes: &[u8],
        now: u64,
    ) -> Result<SignedNodeRecord, NodeRecordError> {
        let signed: SignedNodeRecord = codec::decode(bytes, limits::NODE_RECORD_BYTES)?;
        let record = &signed.record;
        let short = |s: &String| s.len() <= limits::ADDRESS_CHARS;
        if record.addresses.len() > limits::ADDRESSES || !record.addresses.iter().all(short) {
            return Err(NodeRecordError::Range);
        }
        let expires = record.expires;
        let latest = now.saturating_add(limits::NODE_RECORD_SECONDS);
        if !(now..=latest).contains(&expires) {
            return Err(NodeRecordError::Expiry { expires, now });
        }
        let bytes = codec::encode(record);
        record
            .node
            .verify(Domain::NodeRecord, network, &bytes, &signed.signature)?;
        Ok(signed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETWORK: NetworkId = NetworkId([7; 32]);

    fn record(addresses: usize, expires: u64) -> (NodeRecord, SecretKey) {
        let key = SecretKey::from_seed(&[3; 32]);
        let record = NodeRecord {
            node: key.public(),
            sequence: 1,
            expires,
            addresses: vec!["/ip4/192.0.2.1/tcp/7411".to_owned(); addresses],
        };
        (record, key)
    }

    fn received(record: NodeRecord, key: &SecretKey, now: u64) -> Result<(), NodeRecordError> {
        let bytes = codec::encode(&SignedNodeRecord::new(&NETWORK, record, key));
        SignedNodeRecord::receive(&NETWORK, &bytes, now).map(|_| ())
    }

    #[test]
    fn a_record_counts_until_it_expires_and_no_longer_than_records_may() {
        let latest = 1_000 + limits::NODE_RECORD_SECONDS;
        for (expires, good) in [
            (999, false),
            (1_000, true),
            (latest, true),
            (latest + 1, false),
        ] {
            let (record, key) = record(2, expires);
            assert_eq!(received(record, &key, 1_000).is_ok(), good, "{expires}");
        }
    }

    #[test]
    fn another_key_another_network_and_too_much_are_refused() {
        let (good, key) = record(2, 2_000);
        let other = SecretKey::from_seed(&[4; 32]);
        let forged = received(good.clone(), &other, 1_000);
        assert!(matches!(forged, Err(NodeRecordError::Signature(_))));
        let bytes = codec::encode(&SignedNodeRecord::new(&NETWORK, good, &key));
        let foreign = SignedNodeRecord::receive(&NetworkId([8; 32]), &bytes, 1_000);
        assert!(matches!(foreign, Err(NodeRecordError::Signature(_))));
        let (many, key) = record(limits::ADDRESSES + 1, 2_000);
        assert_eq!(received(many, &key, 1_000), Err(NodeRecordError::Range));
    }

    #[test]
    fn keys_in_the_dht_differ_by_network_kind_and_name() {
        let keys = [
            rendezvous(&NETWORK, "relay", b""),
            rendezvous(&NetworkId([8; 32]), "relay", b""),
            rendezvous(&NETWORK, "class", b""),
            rendezvous(&NETWORK, "class", b"small"),
        ];
        let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
    }
}
