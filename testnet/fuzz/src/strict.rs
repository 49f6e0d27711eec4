//! The promise of every decoder: accepted bytes are the only encoding of their value.

use crate::cbor;
use crate::mutate::Rng;
use crate::{Verdict, cbor::Rewrite};
use gridbay_protocol::codec::{self, CodecError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Other ways to write a value that one run tries.
const REWRITES: usize = 12;

/// Decodes bytes as a `T` of at most `max` bytes; if they are one,
///
/// 1. encoding the value gives the bytes back, and decoding those gives the value;
/// 2. a parser of our own finds them canonical;
/// 3. every other way to write the same value is refused;
/// 4. `probe` holds, which calls what a node calls on a decoded value before it trusts it.
pub(crate) fn only<T>(bytes: &[u8], max: usize, probe: impl FnOnce(&T)) -> Verdict
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let value = match codec::decode::<T>(bytes, max) {
        Ok(value) => value,
        Err(error) => {
            let too_large = matches!(error, CodecError::TooLarge { .. });
            assert_eq!(too_large, bytes.len() > max, "the size is judged first");
            return Verdict::Refused;
        }
    };
    assert_eq!(
        codec::encode(&value),
        bytes,
        "encoding gives the bytes back"
    );
    let again = codec::decode::<T>(bytes, max);
    assert_eq!(again.as_ref(), Ok(&value), "decoding is a function");
    assert_only_encoding::<T>(bytes);
    probe(&value);
    Verdict::Accepted
}

/// Promises 2 and 3 for bytes that were accepted as a `T`.
fn assert_only_encoding<T: Serialize + DeserializeOwned + Debug>(bytes: &[u8]) {
    assert_eq!(cbor::check(bytes), Ok(()), "accepted, but not canonical");
    let mut rng = Rng::of(bytes);
    for _ in 0..REWRITES {
        let rewrite = Rewrite::ALL[rng.below(Rewrite::ALL.len())];
        let Some(other) = rewrite.apply(bytes, &mut rng) else {
            continue;
        };
        let read = codec::decode::<T>(&other, other.len());
        assert!(
            read.is_err(),
            "{rewrite:?} gives a second encoding {other:02x?} of {read:?}"
        );
    }
}
