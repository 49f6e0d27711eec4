//! A reader of CBOR of our own, independent of the library under the codec: the second opinion.
//!
//! It knows the part of RFC 8949 that canonical gridbay bytes may use: integers, byte and text
//! strings, arrays and maps of definite length, `false`, `true` and `null`, every head as short as
//! it can be. All else is an error with its offset. From the items it finds, [`Rewrite`] makes
//! other ways to write the same value, each legal for a lenient parser, none for the codec.

mod rewrite;

pub use rewrite::Rewrite;

use crate::mutate::Rng;

const UINT: u8 = 0;
const NEGATIVE: u8 = 1;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;
const SIMPLE: u8 = 7;
const NULL: u8 = 0xf6;
/// Deeper items are refused.
const DEPTH: usize = 200;

/// Bytes that are not canonical: what is wrong, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotCanonical {
    /// Offset of the item.
    pub at: usize,
    /// The mistake.
    pub what: &'static str,
}

/// An item, or a key or value inside one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    major: u8,
    argument: u64,
    /// Where it begins.
    pub at: usize,
    /// Where its head ends.
    body: usize,
    /// Where it ends.
    pub end: usize,
}

impl Item {
    fn is_string(&self) -> bool {
        matches!(self.major, BYTES | TEXT)
    }
    fn is_list(&self) -> bool {
        matches!(self.major, ARRAY | MAP)
    }
    fn is_integer(&self) -> bool {
        matches!(self.major, UINT | NEGATIVE)
    }
}

/// The shortest head.
fn head(major: u8, argument: u64) -> Vec<u8> {
    let widths = [0, 1, 2, 4, 8];
    let fits = widths
        .into_iter()
        .find(|width| *width == least_width(argument));
    wide_head(major, argument, fits.unwrap_or(8))
}

/// Bytes that an argument needs behind the first one.
fn least_width(argument: u64) -> usize {
    match argument {
        0..=23 => 0,
        24..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}

/// A head with its argument in so many bytes: 0 (inside the first byte), 1, 2, 4 or 8.
fn wide_head(major: u8, argument: u64, width: usize) -> Vec<u8> {
    let info = match width {
        0 => argument as u8,
        1 => 24,
        2 => 25,
        4 => 26,
        _ => 27,
    };
    let mut bytes = vec![major << 5 | info];
    bytes.extend_from_slice(&argument.to_be_bytes()[8 - width..]);
    bytes
}

/// Whether bytes are one canonical item.
///
/// # Errors
/// The first thing that is not.
pub fn check(bytes: &[u8]) -> Result<(), NotCanonical> {
    items(bytes).map(|_| ())
}

/// All items of canonical bytes, each before those inside it.
///
/// # Errors
/// The first thing that is not canonical.
pub fn items(bytes: &[u8]) -> Result<Vec<Item>, NotCanonical> {
    let mut found = Vec::new();
    let end = item(bytes, 0, 0, &mut found)?;
    if end == bytes.len() {
        Ok(found)
    } else {
        Err(NotCanonical {
            at: end,
            what: "bytes behind the item",
        })
    }
}

/// Reads the item at an offset and returns where it ends.
fn item(
    bytes: &[u8],
    at: usize,
    depth: usize,
    found: &mut Vec<Item>,
) -> Result<usize, NotCanonical> {
    let wrong = |what| NotCanonical { at, what };
    let first = *bytes.get(at).ok_or(wrong("nothing there"))?;
    let (major, info) = (first >> 5, first & 31);
    let width = match info {
        0..=23 => 0,
        24..=27 => 1 << (info - 24),
        _ => return Err(wrong("no definite length")),
    };
    let body = at + 1 + width;
    let field = bytes.get(at + 1..body).ok_or(wrong("half a head"))?;
    let argument = match width {
        0 => u64::from(info),
        _ => field.iter().fold(0, |n, byte| n << 8 | u64::from(*byte)),
    };
    if width != least_width(argument) {
        return Err(wrong("a longer head than it needs"));
    }
    let place = found.len();
    found.push(Item {
        major,
        argument,
        at,
        body,
        end: body,
    });
    let end = match major {
        UINT | NEGATIVE => body,
        BYTES | TEXT => {
            let len = usize::try_from(argument).ok();
            let end = len.and_then(|len| body.checked_add(len));
            let text = end.and_then(|end| bytes.get(body..end));
            let text = text.ok_or(wrong("half a string"))?;
            if major == TEXT && std::str::from_utf8(text).is_err() {
                return Err(wrong("a text that is not UTF-8"));
            }
            body + text.len()
        }
        ARRAY | MAP if depth == DEPTH => return Err(wrong("too deep")),
        ARRAY | MAP => {
            let mut end = body;
            for _ in 0..argument.saturating_mul(u64::from(major - ARRAY) + 1) {
                end = item(bytes, end, depth + 1, found)?;
            }
            end
        }
        SIMPLE if (0xf4..=NULL).contains(&first) => body,
        _ => return Err(wrong("a tag, a float or a simple value")),
    };
    found[place].end = end;
    Ok(end)
}

/// The items directly inside one: for a map key, value, key, value.
pub fn inside(items: &[Item], outer: &Item) -> Vec<Item> {
    let mut next = outer.body;
    let mut found = Vec::new();
    if outer.is_list() {
        for item in items.iter().filter(|item| item.at > outer.at) {
            if item.at == next && next < outer.end {
                found.push(*item);
                next = item.end;
            }
        }
    }
    found
}

/// Canonical bytes with one item changed so that the lengths around it still fit: a number replaced
/// by one at an edge, an item of a list removed or repeated, an item replaced by one of `donor`.
/// `None` if the bytes are not canonical or nothing fits.
pub fn edit(bytes: &[u8], donor: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
    let found = items(bytes).ok()?;
    let item = found[rng.below(found.len())];
    let other = match rng.below(3) {
        0 if item.is_integer() => head(item.major, rng.wide()),
        1 if item.is_list() && item.argument > 0 => {
            let mut parts = inside(&found, &item);
            let step = 1 + usize::from(item.major == MAP);
            let at = step * rng.below(parts.len() / step);
            let count = match rng.below(2) {
                0 => {
                    parts.drain(at..at + step);
                    item.argument - 1
                }
                _ => {
                    let again = parts[at..at + step].to_vec();
                    parts.splice(at..at, again);
                    item.argument + 1
                }
            };
            let body = parts.iter().flat_map(|part| &bytes[part.at..part.end]);
            [head(item.major, count), body.copied().collect()].concat()
        }
        _ => {
            let others = items(donor).ok()?;
            let alike: Vec<&Item> = others.iter().filter(|o| o.major == item.major).collect();
            let chosen = alike.get(rng.below(alike.len().max(1)))?;
            donor[chosen.at..chosen.end].to_vec()
        }
    };
    Some([&bytes[..item.at], &other, &bytes[item.end..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `{"a": [1, h'00ff'], "b": null}`
    const SAMPLE: &[u8] = b"\xa2\x61a\x82\x01\x42\x00\xff\x61b\xf6";

    #[test]
    fn canonical_bytes_pass_and_others_are_refused_at_their_place() {
        assert_eq!(check(SAMPLE), Ok(()));
        for (bad, at) in [
            (&b"\xa1\x18\x05\x00"[..], 1),
            (b"\x9f\x01\xff", 0),
            (b"\x82\x01", 2),
            (b"\x01\x02", 1),
            (b"\xc1\x01", 0),
            (b"\xf9\x00\x00", 0),
            (b"\xf7", 0),
            (b"\x61\xff", 0),
            (b"\x42\x00", 0),
            (b"", 0),
        ] {
            assert_eq!(check(bad).map_err(|e| e.at), Err(at), "{bad:02x?}");
        }
        let deep = [vec![0x81; DEPTH + 1], vec![0]].concat();
        assert_eq!(check(&deep).map_err(|e| e.what), Err("too deep"));
    }

    #[test]
    fn items_know_what_is_inside() {
        let found = items(SAMPLE).expect("canonical");
        assert_eq!(found.len(), 7);
        let parts = inside(&found, &found[0]);
        let ends: Vec<usize> = parts.iter().map(|part| part.end).collect();
        assert_eq!(ends, [3, 8, 10, 11]);
    }

    #[test]
    fn every_rewrite_finds_a_place_and_none_is_canonical_with_the_same_meaning() {
        let one_field = b"\xa1\x61k\x61v";
        for rewrite in Rewrite::ALL {
            let sample = if rewrite == Rewrite::Pair {
                one_field
            } else {
                SAMPLE
            };
            let changed = (0..50).filter_map(|seed| rewrite.apply(sample, &mut Rng(seed)));
            let changed: Vec<_> = changed.collect();
            assert!(changed.len() > 5, "{rewrite:?}");
            assert!(changed.iter().all(|bytes| bytes != sample), "{rewrite:?}");
        }
        let long = Rewrite::LongHead.apply(&[5], &mut Rng(1)).expect("it fits");
        assert_eq!(check(&long).map_err(|e| e.at), Err(0));
    }

    #[test]
    fn edits_keep_lengths_right() {
        let mut rng = Rng(3);
        let edited = (0..200).filter_map(|_| edit(SAMPLE, SAMPLE, &mut rng));
        let edited: Vec<_> = edited.collect();
        assert!(edited.len() > 100);
        assert!(edited.iter().all(|bytes| check(bytes).is_ok()));
        assert!(edited.iter().any(|bytes| bytes != SAMPLE));
    }
}
