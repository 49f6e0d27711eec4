//! Keys and signatures: Ed25519, checked strictly.
//!
//! A [`PublicKey`] that exists is a valid curve point and not weak, so every later check is one
//! `verify_strict`. Batch verification is never used: its verdict can depend on its neighbours.

use crate::hash::{Domain, signing_bytes};
use crate::ids::{NetworkId, bytes_from_hex, deserialize_bytes, serialize_bytes, to_hex};
use crate::memo;
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Why a key or signature was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The bytes are no point of the curve.
    #[error("not a public key")]
    NotAKey,
    /// A key of small order, under which anything verifies.
    #[error("weak public key")]
    WeakKey,
    /// The signature does not belong to key and message.
    #[error("wrong signature")]
    WrongSignature,
}

/// A public key: a checked, strong point of the curve.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Checks 32 bytes. A point has one encoding: a coordinate of the field's prime or more, which
    /// the curve library would reduce, is refused.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<PublicKey, KeyError> {
        let reducible =
            bytes[0] >= 0xed && bytes[1..31].iter().all(|b| *b == 0xff) && bytes[31] | 0x80 == 0xff;
        if reducible {
            return Err(KeyError::NotAKey);
        }
        let parse = || {
            let key = VerifyingKey::from_bytes(bytes).map_err(|_| KeyError::NotAKey)?;
            if key.is_weak() {
                return Err(KeyError::WeakKey);
            }
            Ok(key)
        };
        memo::key(bytes, parse).map(PublicKey)
    }
    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }
    /// All 64 hex digits.
    pub fn to_hex(&self) -> String {
        to_hex(self.as_bytes())
    }
    /// Checks `signature` over `body` for `domain` on `network`.
    pub fn verify(
        &self,
        domain: Domain,
        network: &NetworkId,
        body: &[u8],
        signature: &Signature,
    ) -> Result<(), KeyError> {
        let message = signing_bytes(domain, network, body);
        let check = || {
            let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
            self.0.verify_strict(&message, &signature).is_ok()
        };
        if memo::passes(&[self.as_bytes(), &message, &signature.0], check) {
            Ok(())
        } else {
            Err(KeyError::WrongSignature)
        }
    }
}

impl PartialOrd for PublicKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for PublicKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}
impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.as_bytes()[..4]))
    }
}
impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}
impl FromStr for PublicKey {
    type Err = KeyError;
    fn from_str(text: &str) -> Result<PublicKey, KeyError> {
        let bytes = bytes_from_hex(text).map_err(|_| KeyError::NotAKey)?;
        PublicKey::from_bytes(&bytes)
    }
}
impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        serialize_bytes(self.as_bytes(), s)
    }
}
impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        PublicKey::from_bytes(&deserialize_bytes(d)?).map_err(D::Error::custom)
    }
}

/// A signature: 64 bytes, judged only together with key and message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature(pub [u8; 64]);

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({})", to_hex(&self.0[..4]))
    }
}
impl Serialize for Signature {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        serialize_bytes(&self.0, s)
    }
}
impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        deserialize_bytes(d).map(Signature)
    }
}

/// A private key. Never serialised, never shown; wiped when dropped.
#[derive(Clone)]
pub struct SecretKey(SigningKey);

impl SecretKey {
    /// The key of a 32-byte seed; the caller brings the randomness.
    pub fn from_seed(seed: &[u8; 32]) -> SecretKey {
        SecretKey(SigningKey::from_bytes(seed))
    }
    /// The seed, for the one module that stores keys.
    pub fn seed(&self) -> [u8; 32] {
        self.0.to_bytes()
    }
    /// The public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }
    /// Signs `body` for `domain` on `network`.
    pub fn sign(&self, domain: Domain, network: &NetworkId, body: &[u8]) -> Signature {
        let message = signing_bytes(domain, network, body);
        let signature = self.0.sign(&message).to_bytes();
        memo::made(&[self.public().as_bytes(), &message, &signature]);
        Signature(signature)
    }
}
impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey(of {})", self.public())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_bind_domain_network_and_body() {
        let key = SecretKey::from_seed(&[7; 32]);
        let (net, other) = (NetworkId([1; 32]), NetworkId([2; 32]));
        let sig = key.sign(Domain::Entry, &net, b"body");
        let public = key.public();
        assert_eq!(public.verify(Domain::Entry, &net, b"body", &sig), Ok(()));
        for (domain, net, body) in [
            (Domain::Vote, net, &b"body"[..]),
            (Domain::Entry, other, b"body"),
            (Domain::Entry, net, b"bodx"),
        ] {
            assert_eq!(
                public.verify(domain, &net, body, &sig),
                Err(KeyError::WrongSignature)
            );
        }
    }

    #[test]
    fn weak_and_broken_keys_are_refused() {
        let mut identity = [0; 32];
        identity[0] = 1;
        assert_eq!(PublicKey::from_bytes(&identity), Err(KeyError::WeakKey));
        // The 19 coordinates that have a second encoding, with either sign.
        for (low, sign) in (0xed..=0xffu8).flat_map(|low| [(low, 0x7f), (low, 0xff)]) {
            let mut second = [0xff; 32];
            (second[0], second[31]) = (low, sign);
            assert_eq!(PublicKey::from_bytes(&second), Err(KeyError::NotAKey));
        }
        let off_curve = (0..=255u8)
            .map(|b| [b; 32])
            .filter(|b| PublicKey::from_bytes(b) == Err(KeyError::NotAKey))
            .count();
        assert!(
            off_curve > 50,
            "about half of all strings are off the curve"
        );
        assert!("zz".parse::<PublicKey>().is_err());
    }
}
