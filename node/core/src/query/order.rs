//! The order in which a query lists the nodes that fit.
//!
//! 1. The lines of a node that fit are put in order by the keys, then by offer.
//! 2. Nodes are put in order by their first line, then by node, then by seller.
//!
//! Unknown values come last in either direction. Without keys, the order is by price.

use super::attribute::Attribute;
use super::subject::{Fact, Line, Subject};
use std::cmp::Ordering;
use std::fmt;

/// The direction of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Smallest first.
    Up,
    /// Largest first.
    Down,
}

/// One key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// By what; of a type, so never what an owner says.
    pub attribute: Attribute,
    /// Which way.
    pub direction: Direction,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.direction {
            Direction::Up => write!(f, "{}", self.attribute),
            Direction::Down => write!(f, "{} desc", self.attribute),
        }
    }
}

/// The keys of a query without keys.
pub(super) const BY_PRICE: [Key; 1] = [Key {
    attribute: Attribute::Price,
    direction: Direction::Up,
}];

/// The values that a line is ordered by, one for each key.
pub(super) fn place<'a>(
    keys: &[Key],
    subject: &Subject<'a>,
    line: &Line<'a>,
) -> Vec<Option<Fact<'a>>> {
    let fact = |key: &Key| subject.fact(line, &key.attribute);
    keys.iter().map(fact).collect()
}

/// Compares two places by the keys.
pub(super) fn compare(keys: &[Key], a: &[Option<Fact<'_>>], b: &[Option<Fact<'_>>]) -> Ordering {
    let one = |((key, a), b): ((&Key, &Option<Fact<'_>>), &Option<Fact<'_>>)| match (a, b) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(a), Some(b)) => match key.direction {
            Direction::Up => facts(a, b),
            Direction::Down => facts(b, a),
        },
    };
    let pairs = keys.iter().zip(a).zip(b);
    let different = pairs.map(one).find(|order| order.is_ne());
    different.unwrap_or(Ordering::Equal)
}

/// Compares two facts of the same attribute.
fn facts(a: &Fact<'_>, b: &Fact<'_>) -> Ordering {
    match (a, b) {
        (Fact::Amount(a, _), Fact::Amount(b, _)) => a.cmp(b),
        (Fact::Text(a), Fact::Text(b)) => a.cmp(b),
        (Fact::Switch(a), Fact::Switch(b)) => a.cmp(b),
        (Fact::Said(a), Fact::Said(b)) => a.cmp(b),
        _ => Ordering::Equal,
    }
}
