//! The one codec: strict canonical CBOR.
//!
//! A value has exactly one encoding: fields in declaration order, shortest integers, definite
//! lengths. [`decode`] accepts nothing else:
//!
//! 1. refuse more than `max` bytes;
//! 2. parse (the parser bounds its recursion and refuses trailing bytes);
//! 3. encode the parsed value again and compare; refuse any difference.
//!
//! Step 3 makes hashes and signatures over received bytes safe, because the parser on its own
//! accepts many encodings of one value. No other module may name the CBOR library.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::Cell;
use std::io;

/// Why bytes were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// More bytes than the type may have.
    #[error("{len} bytes, at most {max} allowed")]
    TooLarge {
        /// Bytes received.
        len: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// Not a value of the type.
    #[error("malformed bytes")]
    Malformed,
    /// A value of the type, but not in its one canonical encoding.
    #[error("not the canonical encoding")]
    NotCanonical,
}

/// Canonical bytes of a value.
///
/// # Panics
/// If a type holds what the codec cannot express (a map with failing keys, a 128-bit integer
/// beyond 64 bits): a mistake in the type, found by its golden test.
pub fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    encoded(value, <[u8]>::to_vec)
}

/// What `read` makes of the canonical bytes of a value, for which nothing is allocated: hashes and
/// signatures need the bytes for a moment only.
///
/// # Panics
/// As [`encode`] does.
pub fn encoded<T: Serialize, R>(value: &T, read: impl FnOnce(&[u8]) -> R) -> R {
    // Taken out, so that a value whose parts are encoded by themselves finds another.
    let mut bytes = SCRATCH.take();
    let written = value.serialize(&mut serde_cbor::Serializer::new(&mut bytes));
    written.expect("wire types encode");
    let result = read(&bytes);
    if bytes.capacity() <= SCRATCH_BYTES {
        bytes.clear();
        SCRATCH.set(bytes);
    }
    result
}

/// Parses the canonical encoding of a `T` of at most `max` bytes.
pub fn decode<T: Serialize + DeserializeOwned>(bytes: &[u8], max: usize) -> Result<T, CodecError> {
    if bytes.len() > max {
        return Err(CodecError::TooLarge {
            len: bytes.len(),
            max,
        });
    }
    let value: T = serde_cbor::from_slice(bytes).map_err(|_| CodecError::Malformed)?;
    let mut left = Expected(bytes);
    let same = serde_cbor::to_writer(&mut left, &value).is_ok() && left.0.is_empty();
    same.then_some(value).ok_or(CodecError::NotCanonical)
}

/// The most bytes that a thread keeps for the next value.
const SCRATCH_BYTES: usize = 64 * 1024;

thread_local! {
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The bytes that are still to be written: others fail.
struct Expected<'b>(&'b [u8]);

impl io::Write for Expected<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let rest = self.0.strip_prefix(bytes);
        self.0 = rest.ok_or(io::ErrorKind::InvalidData)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        lot: u64,
        price: u64,
    }

    #[test]
    fn only_the_canonical_encoding_is_accepted() {
        let good = encode(&Sample { lot: 5, price: 300 });
        assert_eq!(
            decode::<Sample>(&good, 64),
            Ok(Sample { lot: 5, price: 300 })
        );
        let swapped = [
            &[0xa2, 0x65][..],
            b"price",
            &[0x19, 1, 44, 0x63],
            b"lot",
            &[5],
        ]
        .concat();
        let long_int = [
            &[0xa2, 0x63][..],
            b"lot",
            &[0x18, 5, 0x65],
            b"price",
            &[0x19, 1, 44],
        ]
        .concat();
        let indefinite = [
            &[0xbf, 0x63][..],
            b"lot",
            &[5, 0x65],
            b"price",
            &[0x19, 1, 44, 0xff],
        ]
        .concat();
        let array = vec![0x82, 5, 0x19, 1, 44];
        let tagged = [&[0xc1][..], &good].concat();
        for bad in [swapped, long_int, indefinite, array, tagged] {
            assert_eq!(
                decode::<Sample>(&bad, 64),
                Err(CodecError::NotCanonical),
                "{bad:02x?}"
            );
        }
        let trailing = [&good[..], &[0]].concat();
        assert_eq!(decode::<Sample>(&trailing, 64), Err(CodecError::Malformed));
        assert_eq!(
            decode::<Sample>(&good, 4),
            Err(CodecError::TooLarge {
                len: good.len(),
                max: 4
            })
        );
    }

    #[test]
    fn parts_may_be_encoded_while_a_value_is() {
        struct Nested(u64);
        impl Serialize for Nested {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_bytes(&encode(&self.0))
            }
        }
        let all = [Nested(1), Nested(300)];
        assert_eq!(encode(&all), [0x82, 0x41, 1, 0x43, 0x19, 1, 44]);
        assert_eq!(encode(&all[0]), [0x41, 1], "the bytes before are gone");
        let large = vec![7u8; 2 * SCRATCH_BYTES];
        assert_eq!(encode(&large).len(), large.len() + 5);
        assert_eq!(encoded(&5u64, <[u8]>::len), 1);
    }

    #[test]
    fn deep_nesting_is_an_error_not_a_crash() {
        let bomb = vec![0x81u8; 100_000];
        assert_eq!(
            decode::<Vec<Vec<u8>>>(&bomb, 200_000),
            Err(CodecError::Malformed)
        );
    }
}
