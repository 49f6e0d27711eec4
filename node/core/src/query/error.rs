//! Mistakes in the text of a query, their places, and corrections.

use super::attribute::Attribute;
use super::value::{BadNumber, Kind, Value};
use super::{COMPARISONS, DEPTH, LIMIT, QUERY_BYTES};
use std::fmt;

/// A mistake in the text of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// Byte at which it begins, a boundary of characters, at most the text's length.
    pub at: usize,
    /// The problem.
    pub problem: Problem,
}

/// The mistake.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the texts tell what the fields are")]
pub enum Problem {
    /// The text is too long.
    #[error("the query has {0} bytes, above {QUERY_BYTES}")]
    TooLong(usize),
    /// A character that begins nothing.
    #[error("`{0}` means nothing here")]
    Character(char),
    /// A text without its end.
    #[error("a text without its closing quote")]
    OpenText,
    /// A backslash before something else than a quote or a backslash.
    #[error("a backslash before another character than \" and \\")]
    Escape,
    /// Digits that are no number, size or duration.
    #[error("`{text}` is no value")]
    Number {
        text: String,
        /// Why.
        why: BadNumber,
    },
    /// Too many brackets and negations in one another.
    #[error("more than {DEPTH} brackets and negations lie in one another")]
    TooDeep,
    /// Too many comparisons.
    #[error("more than {COMPARISONS} comparisons")]
    TooMany,
    /// Too many values or keys, or none.
    #[error("{0} have 1 to {1} items")]
    Length(&'static str, usize),
    /// Something else stands where this must stand.
    #[error("found {found} where {wanted} must stand")]
    Expected { wanted: &'static str, found: String },
    /// A name that nothing has.
    #[error("nothing is called `{name}`")]
    Unknown {
        name: String,
        /// The attributes that may be meant.
        near: Vec<Attribute>,
    },
    /// Something compared with a value of another type.
    #[error("{attribute} is {}, and {value} is {}", .attribute.meaning(), .value.kind().name())]
    Kind { attribute: Attribute, value: Value },
    /// An order asked of what has none.
    #[error("{attribute} is {}: none is larger than another", .kind.name())]
    Order { attribute: Attribute, kind: Kind },
    /// A name alone that is neither true nor false.
    #[error("{0} alone is no condition: it is {meaning}", meaning = .0.meaning())]
    Alone(Attribute),
    /// A negation of a bare comparison.
    #[error("what `!` denies is not clear")]
    Negation,
    /// `rtt` of something else than `me`.
    #[error("round trips are known from this node only")]
    RttOf,
    /// `rtt_between` as a condition on one node.
    #[error("rtt_between is about several nodes")]
    Between,
    /// Owners' own statements cannot be sorted by.
    #[error("{0} has no type to sort by")]
    Sort(Attribute),
    /// A number of things out of range.
    #[error("the number of {what} is 1 to {most}")]
    Count { what: &'static str, most: u32 },
    /// `limit` beside a group.
    #[error("a group says itself how many nodes it has")]
    LimitOfGroup,
}

impl Problem {
    /// Advice: one line without a full stop.
    pub fn hint(&self) -> String {
        match self {
            Problem::TooLong(_) | Problem::TooDeep | Problem::TooMany => "ask for less".into(),
            Problem::Length(..) => "ask for less, or for something".into(),
            Problem::Character('\'') => "write texts in double quotes, as in \"amd64\"".into(),
            Problem::Character('=') => "write == to compare".into(),
            Problem::Character('&' | '|') => "write && for and, || for or".into(),
            Problem::Character('-') => "nothing that can be asked for is below zero".into(),
            Problem::Character(_) => "see the examples in docs/discovery.md".into(),
            Problem::OpenText => "write \" after the text".into(),
            Problem::Escape => "write \\\\ for a backslash, \\\" for a quote".into(),
            Problem::Number { why, .. } => match why {
                BadNumber::Number => "write a smaller number with at most six decimals".into(),
                BadNumber::Unit => {
                    "sizes end in B, KiB, MiB, GiB or TiB, durations in us, ms or s".into()
                }
                BadNumber::Whole => {
                    "write a whole number and a smaller unit, as in 1536MiB or 500us".into()
                }
            },
            Problem::Expected { wanted, found } => expected(wanted, found),
            Problem::Unknown { name, near } => unknown(name, near),
            Problem::Kind { attribute, value } => instead(attribute, value),
            Problem::Order { attribute, .. } => {
                format!("write {attribute} == …, {attribute} != … or {attribute} in […]")
            }
            Problem::Alone(attribute) => match attribute.kind() {
                Some(kind) if kind.is_ordered() => {
                    format!("compare it, as in {attribute} >= {}", first(kind))
                }
                _ => format!("compare it, as in {attribute} == \"…\""),
            },
            Problem::Negation => "put what is denied in brackets, as in !(cpu < 4)".into(),
            Problem::RttOf => {
                "write rtt(me), or choose n nodes with rtt_between < 20ms for pairs".into()
            }
            Problem::Between => "write choose 4 nodes with rtt_between < 20ms".into(),
            Problem::Sort(_) => "sort by price, rtt(me), cpu, site …".into(),
            Problem::Count { what, .. } => format!("write another number of {what}"),
            Problem::LimitOfGroup => {
                format!("leave out `limit`; it cuts lists of up to {LIMIT} nodes")
            }
        }
    }
}

/// The first example of a type.
fn first(kind: Kind) -> &'static str {
    kind.example().split(' ').next().unwrap_or_default()
}

fn expected(wanted: &str, found: &str) -> String {
    let word = found.trim_matches('`');
    if wanted == VALUE && word.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return format!("texts stand in double quotes: write \"{word}\"");
    }
    if wanted == CONDITION && found.starts_with(|c: char| c.is_ascii_digit() || c == '"') {
        return "write the name first, as in cpu >= 4".into();
    }
    format!("write {wanted}")
}

/// Where a value must stand.
pub(super) const VALUE: &str = "a value such as 4, 8GiB, 50ms, \"amd64\" or true";
/// Where a condition must stand.
pub(super) const CONDITION: &str = "a condition such as cpu >= 4";

fn unknown(name: &str, near: &[Attribute]) -> String {
    if near.is_empty() {
        return format!(
            "what owners say of their nodes begins with x., as in x.{}; other names are in docs/discovery.md",
            name.to_ascii_lowercase().replace('.', "_")
        );
    }
    let names: Vec<String> = near.iter().map(ToString::to_string).collect();
    format!("did you mean {}?", names.join(" or "))
}

/// The text to write in place of a value of another type.
fn instead(attribute: &Attribute, value: &Value) -> String {
    match (attribute.kind(), value) {
        (Some(Kind::Size), Value::Number(_)) => format!("write {value}GiB"),
        (Some(Kind::Duration), Value::Number(_)) => format!("write {value}ms"),
        (Some(Kind::Text), Value::Number(_) | Value::Switch(_)) => format!("write \"{value}\""),
        (Some(Kind::Text), Value::Size(_) | Value::Duration(_)) => format!("write \"{value}\""),
        (Some(kind), _) => format!("write {} such as {}", attribute.meaning(), kind.example()),
        (None, _) => "write another value".into(),
    }
}

impl QueryError {
    /// Column of its place, counted in characters from 1.
    pub fn column(&self, text: &str) -> usize {
        1 + text
            .get(..self.at)
            .map_or(0, |before| before.chars().count())
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.at, self.problem)
    }
}

impl std::error::Error for QueryError {}
