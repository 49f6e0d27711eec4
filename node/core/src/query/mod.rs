//! The discovery query: which sellers' nodes fit, in which order, and which of them together.
//!
//! ```text
//! query      = [ condition ] [ "choose" group ] [ "sort" "by" key { "," key } ] [ "limit" count ]
//! condition  = conjunct { "||" conjunct }
//! conjunct   = term { "&&" term }
//! term       = attribute operator value
//!            | attribute "in" "[" value { "," value } "]"
//!            | switch
//!            | "!" ( switch | "(" condition ")" )
//!            | "(" condition ")"
//! operator   = "==" | "!=" | "<" | "<=" | ">" | ">="
//! group      = count "nodes" [ "from" [ "==" | ">=" | "<=" ] count "sites" ]
//!              [ "with" "rtt_between" ( "<" | "<=" ) duration ]
//! key        = attribute [ "asc" | "desc" ]
//! attribute  = "cpu" | "mem" | … | "rtt" "(" "me" ")" | "x." name
//! value      = number | size | duration | text | "true" | "false"
//! number     = digits [ "." digits ]                          up to six decimals: 4, 0.25
//! size       = digits ( "B" | "KiB" | "MiB" | "GiB" | "TiB" )  8GiB
//! duration   = digits ( "us" | "ms" | "s" )                    50ms
//! text       = '"' … '"'      `*` stands for any run of characters; `\"`, `\\` for themselves
//! ```
//!
//! 1. [`parse`](Query::from_str) reads text; every mistake is a [`QueryError`] with its place and
//!    what to write instead. Types are checked there: a query that was read compares like with like
//!    ([`attribute`], [`value`]).
//! 2. A condition is asked of one offer of one node ([`subject`]) at a time, so `cpu >= 4 && price
//!    < 5` is about the same units. A node fits if one of its offers does. What a node does not say
//!    is neither true nor false: no comparison with it holds, and neither does its negation
//!    ([`truth`]).
//! 3. Nodes that fit are put in order ([`order`]): by the keys, unknown values last; without keys
//!    by price; ties by id.
//! 4. A group is chosen among them ([`group`]), or `limit` cuts the list.
//! 5. [`explain`] tells how many nodes each condition left, and how many it alone removed.
//!
//! Everything here is a pure function of its arguments, without clock, chance or floats. [`bucket`]
//! makes the names by which unknown nodes are looked up.

pub mod answer;
pub mod attribute;
pub mod bucket;
pub mod condition;
pub mod error;
pub mod explain;
pub mod group;
mod lexer;
pub mod order;
mod parser;
pub mod pattern;
pub mod roundtrip;
pub mod subject;
pub mod truth;
pub mod value;

#[cfg(test)]
mod tests;

pub use answer::{Answer, Found, find};
pub use error::QueryError;

use condition::Condition;
use group::Group;
use order::Key;
use std::fmt;
use std::str::FromStr;

/// Bytes of a query's text at the most.
pub const QUERY_BYTES: usize = 4_096;
/// Brackets and negations that may lie in one another.
pub const DEPTH: usize = 32;
/// Comparisons of one query at the most.
pub const COMPARISONS: usize = 64;
/// Values of one list at the most.
pub const LIST: usize = 64;
/// Sort keys of one query at the most.
pub const KEYS: usize = 8;
/// Nodes that `limit` may name at the most.
pub const LIMIT: u32 = 10_000;

// The comparisons at the top are counted in the bits of a word.
const _: () = assert!(COMPARISONS <= 64);

/// A query that was read: well typed and within all bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The condition on nodes; `None` for none.
    pub condition: Option<Condition>,
    /// The condition on several of them together.
    pub group: Option<Group>,
    /// In which order, at most [`KEYS`].
    pub keys: Vec<Key>,
    /// How many at the most, 1 to [`LIMIT`]; never beside a group.
    pub limit: Option<u32>,
}

impl Query {
    /// The conditions that are joined by `&&` at the top, in order.
    pub fn conjuncts(&self) -> &[Condition] {
        match &self.condition {
            None => &[],
            Some(Condition::All(all)) => all,
            Some(one) => std::slice::from_ref(one),
        }
    }
}

impl FromStr for Query {
    type Err = QueryError;
    fn from_str(text: &str) -> Result<Query, QueryError> {
        parser::parse(text)
    }
}

/// In the one form that reads back as the same query.
impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.condition.as_ref().map(ToString::to_string));
        parts.extend(self.group.map(|group| format!("choose {group}")));
        if !self.keys.is_empty() {
            let keys: Vec<String> = self.keys.iter().map(ToString::to_string).collect();
            parts.push(format!("sort by {}", keys.join(", ")));
        }
        parts.extend(self.limit.map(|limit| format!("limit {limit}")));
        f.write_str(&parts.join(" "))
    }
}
