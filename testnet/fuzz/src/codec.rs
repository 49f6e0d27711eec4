//! The strict codec itself, on a type that nests in every way a wire type may.

use crate::cbor::{self, Rewrite};
use crate::mutate::{self, Rng};
use crate::reader::Reader;
use crate::{Target, Verdict, decoder, strict};
use gridbay_protocol::codec;
use gridbay_protocol::ids::Hash32;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(crate) const NESTED: Target = decoder(
    "codec_nested",
    "bytes as a recursive type: depth is bounded, what is accepted is the only encoding",
    nested,
    seeds,
);
pub(crate) const REWRITES: Target = decoder(
    "codec_rewrites",
    "a value of the recursive type built from the bytes: it encodes, decodes to itself, and no other way \
     to write it is accepted",
    rewrites,
    || mutate::tapes(40, 40),
);

const BYTES_MAX: usize = 256 * 1024;

/// One variant for every form that serde knows and the wire types use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Nested {
    Nothing,
    Whole(u64),
    Signed(i64),
    Small(u8),
    Truth(bool),
    Text(String),
    Bytes(#[serde(with = "serde_bytes")] Vec<u8>),
    Id(Hash32),
    List(Vec<Nested>),
    Map(BTreeMap<String, Nested>),
    Pairs(BTreeMap<(u64, u8), u32>),
    Maybe(Option<Box<Nested>>),
    Both {
        left: Box<Nested>,
        right: Option<u32>,
    },
    Record(Record),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    id: Hash32,
    inner: Vec<Nested>,
    unit: (),
    pair: (u16, String),
}

fn nested(bytes: &[u8]) -> Verdict {
    strict::only::<Nested>(bytes, BYTES_MAX, |_| {})
}

/// A value from choices; at most `depth` levels.
fn build(reader: &mut Reader<'_>, depth: usize) -> Nested {
    let leaf = depth == 0 || reader.is_empty();
    let some = |reader: &mut Reader<'_>| -> Vec<Nested> {
        let n = reader.below(4);
        (0..n).map(|_| build(reader, depth - 1)).collect()
    };
    match reader.below(if leaf { 8 } else { 14 }) {
        0 => Nested::Nothing,
        1 => Nested::Whole(reader.number()),
        2 => Nested::Signed(reader.number() as i64),
        3 => Nested::Small(reader.byte()),
        4 => Nested::Truth(reader.once_in(2)),
        5 => Nested::Text(String::from_utf8_lossy(reader.bytes(40)).into_owned()),
        6 => Nested::Bytes(reader.bytes(300).to_vec()),
        7 => Nested::Id(Hash32([reader.byte(); 32])),
        8 => Nested::List(some(reader)),
        9 => {
            let values = some(reader);
            let named = |value| {
                let key = String::from_utf8_lossy(reader.bytes(4)).into_owned();
                (key, value)
            };
            Nested::Map(values.into_iter().map(named).collect())
        }
        10 => {
            let n = reader.below(4);
            let row = |_| ((reader.number(), reader.byte()), reader.number() as u32);
            Nested::Pairs((0..n).map(row).collect())
        }
        11 => Nested::Maybe(
            reader
                .once_in(2)
                .then(|| Box::new(build(reader, depth - 1))),
        ),
        12 => Nested::Both {
            left: Box::new(build(reader, depth - 1)),
            right: reader.once_in(2).then(|| reader.number() as u32),
        },
        _ => Nested::Record(Record {
            id: Hash32([reader.byte(); 32]),
            inner: some(reader),
            unit: (),
            pair: (reader.short(), "pair".into()),
        }),
    }
}

fn rewrites(bytes: &[u8]) -> Verdict {
    let value = build(&mut Reader::new(bytes), 6);
    let encoded = codec::encode(&value);
    assert_eq!(codec::decode::<Nested>(&encoded, BYTES_MAX), Ok(value));
    assert_eq!(cbor::check(&encoded), Ok(()));
    let mut rng = Rng::of(bytes);
    for rewrite in Rewrite::ALL {
        if let Some(other) = rewrite.apply(&encoded, &mut rng) {
            let read = codec::decode::<Nested>(&other, usize::MAX);
            assert!(read.is_err(), "{rewrite:?}: {other:02x?} reads as {read:?}");
        }
    }
    Verdict::Accepted
}

/// Values of many shapes.
fn seeds() -> Vec<Vec<u8>> {
    let inputs = (REWRITES.seeds)();
    let value = |input: &Vec<u8>| build(&mut Reader::new(input), 6);
    inputs
        .iter()
        .map(|input| codec::encode(&value(input)))
        .collect()
}
