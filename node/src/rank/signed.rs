//! Orders that only those may give who hold a cluster.
//!
//! ```text
//! rank                                      the owner's node
//!   Hello(version, nonce)    ─────────►
//!                            ◄─────────     Signed(order, key, signature)
//!   Answer                   ─────────►
//! ```
//!
//! 1. The rank chooses a nonce for each connection, so an order that somebody kept is of no use a
//!    second time, and no clocks have to agree.
//! 2. A signature covers network, lease, rank, nonce and the order's own bytes: what one rank was
//!    told moves no other one.

use gridbay_protocol::hash::Domain;
use gridbay_protocol::ids::{LeaseId, NetworkId, byte_array};
use gridbay_protocol::keys::{PublicKey, SecretKey, Signature};
use serde::{Deserialize, Serialize};

/// The version of this protocol.
pub(crate) const VERSION: u32 = 1;

/// What a signature is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The network in which the lease was bought.
    pub(crate) network: NetworkId,
    /// The lease.
    pub(crate) lease: LeaseId,
    /// The rank.
    pub(crate) rank: u32,
}

/// The first words of a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// [`VERSION`].
    pub(crate) v: u32,
    /// Made for this connection.
    #[serde(with = "byte_array")]
    pub(crate) nonce: [u8; 32],
}

/// An order and its signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Signed {
    /// The order as JSON: these very bytes are signed.
    pub(crate) order: String,
    /// The signer.
    pub(crate) key: PublicKey,
    /// Its signature.
    pub(crate) signature: Signature,
}

impl Signed {
    /// Signs.
    pub(crate) fn new(place: &Place, hello: &Hello, order: String, key: &SecretKey) -> Signed {
        let body = body(place, hello, &order);
        Signed {
            signature: key.sign(Domain::RankOrder, &place.network, &body),
            key: key.public(),
            order,
        }
    }

    /// Whether the key that it names has signed it for this place and connection.
    pub(crate) fn is_signed(&self, place: &Place, hello: &Hello) -> bool {
        let body = body(place, hello, &self.order);
        let checked = self
            .key
            .verify(Domain::RankOrder, &place.network, &body, &self.signature);
        checked.is_ok()
    }
}

fn body(place: &Place, hello: &Hello, order: &str) -> Vec<u8> {
    let mut body = Vec::with_capacity(72 + order.len());
    body.extend(place.lease.0);
    body.extend(place.rank.to_be_bytes());
    body.extend(hello.v.to_be_bytes());
    body.extend(hello.nonce);
    body.extend(order.as_bytes());
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_good_for_one_place_one_connection_and_one_order() {
        let key = SecretKey::from_seed(&[1; 32]);
        let place = Place {
            network: NetworkId([2; 32]),
            lease: LeaseId([3; 32]),
            rank: 4,
        };
        let hello = Hello {
            v: VERSION,
            nonce: [5; 32],
        };
        let signed = Signed::new(&place, &hello, "\"list\"".to_owned(), &key);
        assert!(signed.is_signed(&place, &hello));
        let rank = Place { rank: 5, ..place };
        let lease = Place {
            lease: LeaseId([9; 32]),
            ..place
        };
        let network = Place {
            network: NetworkId([9; 32]),
            ..place
        };
        for other in [rank, lease, network] {
            assert!(!signed.is_signed(&other, &hello));
        }
        let later = Hello {
            nonce: [6; 32],
            ..hello
        };
        assert!(!signed.is_signed(&place, &later), "said again");
        let mut other = signed.clone();
        other.order = "\"stop\"".to_owned();
        assert!(!other.is_signed(&place, &hello));
        let mut other = signed;
        other.key = SecretKey::from_seed(&[7; 32]).public();
        assert!(!other.is_signed(&place, &hello));
    }
}
