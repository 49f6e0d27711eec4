//! Orders that only the owner of a node may give.
//!
//! ```text
//! the owner's node                          the node
//!   Challenge                ─────────►
//!                            ◄─────────     Challenge(number, proof)
//!   Order(order, challenge, key, signature)
//!                            ─────────►
//!                            ◄─────────     Done(outcome) | Failed(why) | Refused
//! ```
//!
//! 1. A challenge is a number that the node never repeats, its time, and a proof that this run of
//!    this node made it for this asker. The node keeps nothing of it, so strangers who ask for
//!    challenges cost no memory, and cannot take the owner's place.
//! 2. A signature covers network, node, challenge and the order's own bytes: what one node was told
//!    moves no other one.
//! 3. The numbers of challenges that carried an order are kept as long as these are fresh. So an
//!    order that somebody kept is of no use a second time, and no clocks have to agree.

use gridbay_protocol::hash::{Domain, hash};
use gridbay_protocol::ids::{NetworkId, byte_array};
use gridbay_protocol::keys::{PublicKey, SecretKey, Signature};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a signature is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The network.
    pub network: NetworkId,
    /// Transport key of the node that is to obey.
    pub node: PublicKey,
}

/// A number that a node made up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Challenge {
    /// When, in milliseconds of the node's run.
    pub at_ms: u64,
    /// Counts the challenges of this run.
    pub count: u64,
    /// Made with a secret of this run, for one asker.
    #[serde(with = "byte_array")]
    proof: [u8; 32],
}

impl Challenge {
    /// The challenge for an asker.
    pub fn new(secret: &[u8; 32], asker: &PublicKey, now: Duration, count: u64) -> Challenge {
        let at_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        Challenge {
            at_ms,
            count,
            proof: proof(secret, asker, at_ms, count),
        }
    }
    /// Whether it was made with this secret for this asker.
    pub fn is_for(&self, secret: &[u8; 32], asker: &PublicKey) -> bool {
        self.proof == proof(secret, asker, self.at_ms, self.count)
    }
}

fn proof(secret: &[u8; 32], asker: &PublicKey, at_ms: u64, count: u64) -> [u8; 32] {
    let (at, count) = (at_ms.to_be_bytes(), count.to_be_bytes());
    hash(
        Domain::OwnerChallenge,
        &[secret, asker.as_bytes(), &at, &count],
    )
}

/// An order and its signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// The order as JSON: these very bytes are signed.
    pub order: String,
    /// The challenge that it answers.
    pub challenge: Challenge,
    /// The signer.
    pub key: PublicKey,
    /// Its signature.
    pub signature: Signature,
}

impl Signed {
    /// Signs.
    pub fn new(place: &Place, challenge: Challenge, order: String, key: &SecretKey) -> Signed {
        let body = body(place, &challenge, &order);
        Signed {
            signature: key.sign(Domain::OwnerOrder, &place.network, &body),
            key: key.public(),
            challenge,
            order,
        }
    }
    /// Whether the key that it names has signed it for this place and its challenge.
    pub fn is_signed(&self, place: &Place) -> bool {
        let body = body(place, &self.challenge, &self.order);
        let checked = self
            .key
            .verify(Domain::OwnerOrder, &place.network, &body, &self.signature);
        checked.is_ok()
    }
}

fn body(place: &Place, challenge: &Challenge, order: &str) -> Vec<u8> {
    let mut body = Vec::with_capacity(80 + order.len());
    body.extend(place.node.as_bytes());
    body.extend(challenge.at_ms.to_be_bytes());
    body.extend(challenge.count.to_be_bytes());
    body.extend(challenge.proof);
    body.extend(order.as_bytes());
    body
}
