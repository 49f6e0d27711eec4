//! Adverts: units that a seller can spare right now (soft state, gossiped, expiring).

use crate::codec::{self, CodecError};
use crate::hash::Domain;
use crate::ids::{AccountId, ClassId, NetworkId, OfferId};
use crate::keys::{KeyError, PublicKey, SecretKey, Signature};
use crate::limits;
use crate::units::Price;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One line of an advert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdvertLine {
    /// The offer on the ledger that binds the seller.
    pub offer: OfferId,
    /// Its class.
    pub class: ClassId,
    /// Units free now: a hint.
    pub free: u32,
    /// Price hint per unit-slot.
    pub price: Price,
}

/// A round trip that a node measured, coarsely. A claim: nobody verifies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundTrip {
    /// Transport key of the node at its other end.
    pub to: PublicKey,
    /// Milliseconds, rounded up.
    pub ms: u16,
}

/// A seller's node's statements about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Advert {
    /// The seller.
    pub account: AccountId,
    /// Key that signs; needs the role `operate`.
    pub key: PublicKey,
    /// Transport key of the node.
    pub node: PublicKey,
    /// Counts up; a higher one replaces a lower one of the same node.
    pub sequence: u64,
    /// Last height at which it counts.
    pub valid_until: u64,
    /// Offers, ascending by id.
    pub lines: Vec<AdvertLine>,
    /// Attributes such as `site`, `arch`, at most [`limits::ADVERT_ATTRIBUTES`].
    pub attributes: BTreeMap<String, String>,
    /// Round trips to nodes that others measure as well, ascending by node, at most
    /// [`limits::LANDMARKS`].
    pub round_trips: Vec<RoundTrip>,
    /// Multiaddr texts. Nodes leave them out, and nobody reads them: where a node is reached its
    /// own record says, which is signed by its transport key and put anew whenever that changes
    /// ([`crate::node_record`]).
    pub addresses: Vec<String>,
}

/// An advert with its signature: what is gossiped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedAdvert {
    /// The advert.
    pub advert: Advert,
    /// By `advert.key`.
    pub signature: Signature,
}

/// Why an advert is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AdvertError {
    /// Malformed.
    #[error("malformed advert")]
    Bytes(#[from] CodecError),
    /// Out of range.
    #[error("an advert out of range")]
    Invalid,
    /// Wrongly signed.
    #[error("a wrongly signed advert")]
    Signature(#[from] KeyError),
}

impl SignedAdvert {
    /// Signs an advert.
    pub fn new(network: &NetworkId, advert: Advert, key: &SecretKey) -> SignedAdvert {
        let signature = key.sign(Domain::Advert, network, &codec::encode(&advert));
        SignedAdvert { advert, signature }
    }
    /// Parses gossiped bytes and checks ranges and signature.
    pub fn receive(network: &NetworkId, bytes: &[u8]) -> Result<SignedAdvert, AdvertError> {
        let signed: SignedAdvert = codec::decode(bytes, limits::ADVERT_BYTES)?;
        let advert = &signed.advert;
        let short = |s: &String| s.len() <= limits::ADDRESS_CHARS;
        if advert.lines.len() > limits::OFFERS_PER_ACCOUNT
            || !advert.lines.windows(2).all(|w| w[0].offer < w[1].offer)
            || !advert
                .lines
                .iter()
                .all(|l| l.free <= limits::OFFER_UNITS && l.price <= Price::MAX)
            || advert.addresses.len() > limits::ADDRESSES
            || advert.round_trips.len() > limits::LANDMARKS
            || !advert.round_trips.windows(2).all(|w| w[0].to < w[1].to)
            || advert.attributes.len() > limits::ADVERT_ATTRIBUTES
            || !advert.addresses.iter().all(short)
            || !advert.attributes.iter().all(|(k, v)| short(k) && short(v))
        {
            return Err(AdvertError::Invalid);
        }
        advert.key.verify(
            Domain::Advert,
            network,
            &codec::encode(advert),
            &signed.signature,
        )?;
        Ok(signed)
    }
}
