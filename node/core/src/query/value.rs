//! Values and their types, as they are written in a query.
//!
//! A number is counted in millionths, which makes every written one exact; a size in bytes; a
//! duration in microseconds. Values of different types are never compared: that is refused when the
//! query is read.

use gridbay_protocol::units::Credits;
use std::fmt;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `4`.
    Number,
    /// `8GiB`.
    Size,
    /// `50ms`.
    Duration,
    /// `"amd64"`.
    Text,
    /// `true`.
    Switch,
}

impl Kind {
    /// With its article, as in "a size".
    pub fn name(self) -> &'static str {
        match self {
            Kind::Number => "a number",
            Kind::Size => "a size",
            Kind::Duration => "a duration",
            Kind::Text => "a text",
            Kind::Switch => "true or false",
        }
    }
    /// One of them.
    pub fn example(self) -> &'static str {
        match self {
            Kind::Number => "4 or 0.25",
            Kind::Size => "8GiB",
            Kind::Duration => "50ms",
            Kind::Text => "\"amd64\"",
            Kind::Switch => "true",
        }
    }
    /// Whether values of it are smaller and larger than one another.
    pub fn is_ordered(self) -> bool {
        matches!(self, Kind::Number | Kind::Size | Kind::Duration)
    }
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// In millionths, up to `i64::MAX`.
    Number(u64),
    /// In bytes.
    Size(u64),
    /// In microseconds.
    Duration(u64),
    /// With `*` for any run of characters; at most [`super::QUERY_BYTES`].
    Text(String),
    /// Either way.
    Switch(bool),
}

/// Units of sizes in bytes, largest first.
const SIZES: [(&str, u64); 5] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];
/// Units of durations in microseconds, largest first.
const DURATIONS: [(&str, u64); 3] = [("s", 1_000_000), ("ms", 1_000), ("us", 1)];

/// Why a number with or without a unit is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadNumber {
    /// Too large, or with more than six decimals.
    Number,
    /// The unit is none.
    Unit,
    /// A size or duration with decimals, or too large.
    Whole,
}

impl Value {
    /// Its type.
    pub fn kind(&self) -> Kind {
        match self {
            Value::Number(_) => Kind::Number,
            Value::Size(_) => Kind::Size,
            Value::Duration(_) => Kind::Duration,
            Value::Text(_) => Kind::Text,
            Value::Switch(_) => Kind::Switch,
        }
    }

    /// Reads digits and the unit that follows them, which may be empty.
    pub(super) fn of_number(digits: &str, unit: &str) -> Result<Value, BadNumber> {
        if unit.is_empty() {
            let number: Credits = digits.parse().map_err(|_| BadNumber::Number)?;
            return Ok(Value::Number(number.micros()));
        }
        let find = |units: &[(&str, u64)]| units.iter().find(|(u, _)| *u == unit).map(|u| u.1);
        let times = |factor: u64| {
            let count = digits.parse::<u64>().ok();
            let product = count.and_then(|count| count.checked_mul(factor));
            product.ok_or(BadNumber::Whole)
        };
        if let Some(factor) = find(&SIZES) {
            return times(factor).map(Value::Size);
        }
        let factor = find(&DURATIONS).ok_or(BadNumber::Unit)?;
        times(factor).map(Value::Duration)
    }

    /// Reads what a node says of itself as a value of a type; `None` if it is none.
    pub fn of_text(text: &str, kind: Kind) -> Option<Value> {
        match kind {
            Kind::Text => Some(Value::Text(text.to_owned())),
            Kind::Switch => text.parse().ok().map(Value::Switch),
            Kind::Number | Kind::Size | Kind::Duration => {
                let letter = |c: char| !c.is_ascii_digit() && c != '.';
                let (digits, unit) = text.split_at(text.find(letter).unwrap_or(text.len()));
                let value = Value::of_number(digits, unit).ok()?;
                (value.kind() == kind).then_some(value)
            }
        }
    }

    /// Its amount, if it has one.
    pub fn amount(&self) -> Option<u64> {
        match self {
            Value::Number(n) | Value::Size(n) | Value::Duration(n) => Some(*n),
            Value::Text(_) | Value::Switch(_) => None,
        }
    }

    /// An amount of an ordered type.
    pub fn of_amount(amount: u64, kind: Kind) -> Value {
        match kind {
            Kind::Size => Value::Size(amount),
            Kind::Duration => Value::Duration(amount),
            Kind::Number | Kind::Text | Kind::Switch => Value::Number(amount),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(micros) => {
                let number = Credits::from_micros(*micros).unwrap_or(Credits::MAX);
                write!(f, "{number}")
            }
            Value::Size(bytes) => in_units(f, *bytes, &SIZES),
            Value::Duration(micros) => in_units(f, *micros, &DURATIONS),
            Value::Text(text) => {
                let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
                write!(f, "\"{escaped}\"")
            }
            Value::Switch(on) => write!(f, "{on}"),
        }
    }
}

/// In the largest unit that leaves no fraction.
fn in_units(f: &mut fmt::Formatter<'_>, amount: u64, units: &[(&str, u64)]) -> fmt::Result {
    let whole = units
        .iter()
        .find(|(_, factor)| amount.is_multiple_of(*factor));
    let (unit, factor) = whole.unwrap_or(&("", 1));
    write!(f, "{}{unit}", amount / factor)
}
