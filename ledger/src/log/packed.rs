//! Hashes as byte strings on the wire, for `#[serde(with = …)]`.
//!
//! [`one`] is a byte string of exactly 32 bytes, [`list`] one byte string that holds the hashes end
//! to end: a length that is no multiple of 32, or above 256 hashes, is refused before anything is
//! copied.

use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use std::fmt;

type Hash = [u8; 32];

/// Most hashes in one list: the longest path of the state tree; paths of logs are far shorter.
pub(crate) const MAX_HASHES: usize = 256;

/// A single hash.
pub(crate) mod one {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(hash: &Hash, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(hash)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Hash, D::Error> {
        from.deserialize_bytes(HashVisitor)
    }
}

/// A bounded list of hashes.
pub(crate) mod list {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(hashes: &[Hash], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(hashes.as_flattened())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Hash>, D::Error> {
        from.deserialize_bytes(ListVisitor)
    }
}

struct HashVisitor;

impl Visitor<'_> for HashVisitor {
    type Value = Hash;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a byte string of 32 bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Hash, E> {
        bytes
            .try_into()
            .map_err(|_| E::invalid_length(bytes.len(), &self))
    }
}

struct ListVisitor;

impl Visitor<'_> for ListVisitor {
    type Value = Vec<Hash>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a byte string of at most {MAX_HASHES} times 32 bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<Hash>, E> {
        let (hashes, rest) = bytes.as_chunks::<32>();
        if !rest.is_empty() || hashes.len() > MAX_HASHES {
            return Err(E::invalid_length(bytes.len(), &self));
        }
        Ok(hashes.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::value::{BytesDeserializer, Error};

    fn decode(bytes: &[u8]) -> Result<Vec<Hash>, Error> {
        list::deserialize(BytesDeserializer::new(bytes))
    }

    #[test]
    fn lists_are_whole_and_bounded() {
        let hashes = vec![[1; 32], [2; 32]];
        assert_eq!(decode(hashes.as_flattened()), Ok(hashes));
        assert_eq!(decode(&[]), Ok(vec![]));
        assert_eq!(decode(&[7; 32 * MAX_HASHES]), Ok(vec![[7; 32]; MAX_HASHES]));
        assert!(decode(&[0; 31]).is_err());
        assert!(decode(&[0; 33]).is_err());
        assert!(decode(&[0; 32 * (MAX_HASHES + 1)]).is_err());
    }

    #[test]
    fn a_hash_has_32_bytes() {
        let decode = |bytes| one::deserialize(BytesDeserializer::<Error>::new(bytes));
        assert_eq!(decode(&[9; 32]), Ok([9; 32]));
        assert!(decode(&[9; 31]).is_err());
        assert!(decode(&[9; 33]).is_err());
    }
}
