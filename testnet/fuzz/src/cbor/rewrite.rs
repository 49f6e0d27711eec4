//! Other ways to write the same value.

use super::{ARRAY, BYTES, Item, MAP, NULL, SIMPLE, TEXT, UINT, head, inside, items, wide_head};
use crate::mutate::Rng;

/// Other ways to write a value, all refused by a strict codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewrite {
    /// A head longer than it needs to be.
    LongHead,
    /// A list or a string of indefinite length.
    Indefinite,
    /// Two fields of a map in the other order.
    Swap,
    /// One field of a map twice.
    Duplicate,
    /// A further field that no type has.
    Unknown,
    /// A tag before an item.
    Tag,
    /// A byte behind the value.
    Trailing,
    /// A map as the array of its values.
    Packed,
    /// A map of one field as the array of its key and value.
    Pair,
    /// A field named by its number.
    Numbered,
    /// A byte string as text of its hex digits.
    Hex,
    /// A text as a byte string, or a byte string that is UTF-8 as a text.
    OtherString,
    /// A byte string as an array of numbers.
    Numbers,
    /// `undefined` in place of `null`.
    Undefined,
    /// A whole number as a float.
    Float,
}

impl Rewrite {
    /// All of them.
    pub const ALL: [Rewrite; 15] = [
        Rewrite::LongHead,
        Rewrite::Indefinite,
        Rewrite::Swap,
        Rewrite::Duplicate,
        Rewrite::Unknown,
        Rewrite::Tag,
        Rewrite::Trailing,
        Rewrite::Packed,
        Rewrite::Pair,
        Rewrite::Numbered,
        Rewrite::Hex,
        Rewrite::OtherString,
        Rewrite::Numbers,
        Rewrite::Undefined,
        Rewrite::Float,
    ];

    /// Canonical bytes written this way at a place that `rng` chooses; `None` if no place allows it
    /// or the bytes are not canonical.
    pub fn apply(self, bytes: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
        let items = items(bytes).ok()?;
        if self == Rewrite::Trailing {
            return Some([bytes, &[0]].concat());
        }
        let fit: Vec<&Item> = items.iter().filter(|i| self.fits(i, bytes)).collect();
        let chosen = fit.get(rng.below(fit.len().max(1))).copied()?;
        let other = self.rewrite(bytes, &items, chosen, rng)?;
        Some([&bytes[..chosen.at], &other, &bytes[chosen.end..]].concat())
    }

    fn fits(self, item: &Item, bytes: &[u8]) -> bool {
        match self {
            Rewrite::LongHead => item.major < SIMPLE && item.body - item.at < 9,
            Rewrite::Indefinite => item.is_string() || item.is_list(),
            Rewrite::Swap => item.major == MAP && item.argument >= 2,
            Rewrite::Duplicate | Rewrite::Packed | Rewrite::Numbered => {
                item.major == MAP && item.argument >= 1
            }
            Rewrite::Unknown => item.major == MAP && item.argument >= 2,
            Rewrite::Pair => item.major == MAP && item.argument == 1,
            Rewrite::Tag | Rewrite::Trailing => true,
            Rewrite::Hex | Rewrite::Numbers => item.major == BYTES,
            Rewrite::OtherString => item.is_string(),
            Rewrite::Undefined => bytes[item.at] == NULL,
            Rewrite::Float => item.is_integer() && item.argument < 1 << 20,
        }
    }

    /// The bytes that stand in place of an item.
    fn rewrite(self, bytes: &[u8], items: &[Item], item: &Item, rng: &mut Rng) -> Option<Vec<u8>> {
        let (whole, body) = (&bytes[item.at..item.end], &bytes[item.body..item.end]);
        let parts: Vec<&[u8]> = inside(items, item)
            .iter()
            .map(|part| &bytes[part.at..part.end])
            .collect();
        let fields: Vec<&[&[u8]]> = parts.chunks(2).collect();
        let map = |fields: &[&[&[u8]]]| {
            let mut out = head(MAP, fields.len() as u64);
            out.extend(fields.iter().flat_map(|field| field.concat()));
            out
        };
        Some(match self {
            Rewrite::LongHead => {
                let longer = [1, 2, 4, 8]
                    .into_iter()
                    .filter(|w| *w > item.body - item.at - 1);
                let longer: Vec<usize> = longer.collect();
                let width = longer[rng.below(longer.len())];
                [&wide_head(item.major, item.argument, width), body].concat()
            }
            Rewrite::Indefinite if item.is_list() => {
                [&[item.major << 5 | 31], body, &[0xff]].concat()
            }
            Rewrite::Indefinite => [&[item.major << 5 | 31], whole, &[0xff]].concat(),
            Rewrite::Swap => {
                let mut fields = fields;
                let at = rng.below(fields.len() - 1);
                fields.swap(at, at + 1);
                map(&fields)
            }
            Rewrite::Duplicate => {
                let mut fields = fields;
                fields.insert(rng.below(fields.len()), fields[rng.below(fields.len())]);
                map(&fields)
            }
            Rewrite::Unknown => {
                let mut fields = fields;
                let stranger: [&[u8]; 2] = [b"\x68stranger", &[NULL]];
                fields.push(&stranger);
                map(&fields)
            }
            Rewrite::Tag => [&[0xc1], whole].concat(),
            Rewrite::Packed => {
                let values: Vec<u8> = fields.iter().flat_map(|field| field[1].to_vec()).collect();
                [head(ARRAY, item.argument), values].concat()
            }
            Rewrite::Pair => [&head(ARRAY, 2), body].concat(),
            Rewrite::Numbered => {
                let at = rng.below(fields.len());
                let number = head(UINT, at as u64);
                let named: [&[u8]; 2] = [&number, fields[at][1]];
                let mut fields = fields;
                fields[at] = &named;
                map(&fields)
            }
            _ => return self.rewrite_value(item, body),
        })
    }
    /// As [`Rewrite::rewrite`], of a single value.
    fn rewrite_value(self, item: &Item, body: &[u8]) -> Option<Vec<u8>> {
        Some(match self {
            Rewrite::Hex => {
                let hex = data_encoding::HEXLOWER.encode(body);
                [head(TEXT, hex.len() as u64), hex.into_bytes()].concat()
            }
            Rewrite::OtherString if item.major == TEXT => {
                [&head(BYTES, item.argument), body].concat()
            }
            Rewrite::OtherString => {
                std::str::from_utf8(body).ok()?;
                [&head(TEXT, item.argument), body].concat()
            }
            Rewrite::Numbers => {
                let numbers = body.iter().flat_map(|byte| head(UINT, u64::from(*byte)));
                [head(ARRAY, item.argument), numbers.collect()].concat()
            }
            Rewrite::Undefined => vec![0xf7],
            Rewrite::Float => {
                let magnitude = item.argument as f64;
                let value = if item.major == UINT {
                    magnitude
                } else {
                    -1.0 - magnitude
                };
                [&[0xfb][..], &value.to_be_bytes()].concat()
            }
            _ => return None,
        })
    }
}
