//! Identifiers: 32-byte hashes, one type per kind.
//!
//! On the wire and on disk an id is a CBOR byte string of 32 bytes; in text (JSON, TOML, the
//! command line) it is 64 lower-case hex digits. `Display` shows the first eight.

use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Text that is not the hex form of `expected` bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} bytes as {} hex digits", expected * 2)]
pub struct NotHex {
    /// Number of bytes wanted.
    pub expected: usize,
}

/// Parses exactly `N` bytes of hex, upper or lower case.
pub fn bytes_from_hex<const N: usize>(text: &str) -> Result<[u8; N], NotHex> {
    data_encoding::HEXLOWER_PERMISSIVE
        .decode(text.as_bytes())
        .ok()
        .and_then(|v| v.try_into().ok())
        .ok_or(NotHex { expected: N })
}

/// Lower-case hex of `bytes`.
pub fn to_hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

pub(crate) fn serialize_bytes<const N: usize, S: Serializer>(
    bytes: &[u8; N],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        serializer.serialize_str(&to_hex(bytes))
    } else {
        serializer.serialize_bytes(bytes)
    }
}

pub(crate) fn deserialize_bytes<'de, const N: usize, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<[u8; N], D::Error> {
    struct Exact<const N: usize>;
    impl<const N: usize> Visitor<'_> for Exact<N> {
        type Value = [u8; N];
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{N} bytes")
        }
        fn visit_bytes<E: serde::de::Error>(self, v: &[u8]) -> Result<[u8; N], E> {
            v.try_into().map_err(|_| E::invalid_length(v.len(), &self))
        }
        fn visit_str<E: serde::de::Error>(self, v: &str) -> Result<[u8; N], E> {
            bytes_from_hex(v).map_err(E::custom)
        }
    }
    if deserializer.is_human_readable() {
        let text = String::deserialize(deserializer)?;
        bytes_from_hex(&text).map_err(D::Error::custom)
    } else {
        deserializer.deserialize_bytes(Exact::<N>)
    }
}

/// Serde form of a plain byte array field: byte string in CBOR, hex in text.
pub mod byte_array {
    use super::{Deserializer, Serializer, deserialize_bytes, serialize_bytes};

    /// See the module.
    pub fn serialize<const N: usize, S: Serializer>(v: &[u8; N], s: S) -> Result<S::Ok, S::Error> {
        serialize_bytes(v, s)
    }

    /// See the module.
    pub fn deserialize<'de, const N: usize, D: Deserializer<'de>>(
        d: D,
    ) -> Result<[u8; N], D::Error> {
        deserialize_bytes(d)
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub [u8; 32]);

        impl $name {
            /// The 32 bytes.
            pub fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
            /// All 64 hex digits.
            pub fn to_hex(&self) -> String {
                to_hex(&self.0)
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&to_hex(&self.0[..4]))
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
        impl FromStr for $name {
            type Err = NotHex;
            fn from_str(text: &str) -> Result<Self, NotHex> {
                bytes_from_hex(text).map(Self)
            }
        }
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                serialize_bytes(&self.0, s)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                deserialize_bytes(d).map(Self)
            }
        }
    )*};
}

ids! {
    /// A network: hash of its genesis.
    NetworkId;
    /// An account: hash of its opening entry or genesis member.
    AccountId;
    /// A class of alike units: hash of its key.
    ClassId;
    /// A seller's offer: hash of account and label.
    OfferId;
    /// An entry: hash of its canonical bytes without the signature; the idempotency key.
    EntryId;
    /// An order: the id of the commitment or buy entry that made it.
    OrderId;
    /// A lease: hash of its order and the height it started at.
    LeaseId;
    /// A clearing: hash of class and height.
    ClearingId;
    /// A block: hash of its header.
    BlockId;
    /// A validator: hash of its consensus key.
    ValidatorId;
    /// The content of a staged file, by hash.
    ContentId;
    /// A 32-byte hash of no special kind: roots, commitments, salted job hashes.
    Hash32;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_bytes_forms_round_trip() {
        let id = AccountId([0xab; 32]);
        assert_eq!(id.to_string(), "abababab");
        assert_eq!(id.to_hex().parse::<AccountId>().unwrap(), id);
        assert!("ab".parse::<AccountId>().is_err());
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(json, format!("\"{}\"", id.to_hex()));
        assert_eq!(serde_json::from_str::<AccountId>(&json).unwrap(), id);
        let cbor = serde_cbor::to_vec(&id).unwrap();
        assert_eq!(cbor[..2], [0x58, 32]);
        assert_eq!(serde_cbor::from_slice::<AccountId>(&cbor).unwrap(), id);
    }
}
