//! Conditions: a query's demands on an offer of a node.

use super::attribute::Attribute;
use super::value::Value;
use std::fmt;

gridbay_protocol::named! {
    /// How two values are compared.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Operator as sign {
        /// Of texts: the pattern fits.
        Equal = "==",
        /// They differ.
        Unequal = "!=",
        /// Less.
        Below = "<",
        /// Not more.
        AtMost = "<=",
        /// More.
        Above = ">",
        /// Not less.
        AtLeast = ">=",
    }
}

impl Operator {
    /// Whether it asks which is larger.
    pub fn is_order(self) -> bool {
        !matches!(self, Operator::Equal | Operator::Unequal)
    }
    /// Whether it holds of two amounts.
    pub fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Operator::Equal => left == right,
            Operator::Unequal => left != right,
            Operator::Below => left < right,
            Operator::AtMost => left <= right,
            Operator::Above => left > right,
            Operator::AtLeast => left >= right,
        }
    }
}

/// A condition. Made by the parser, so well typed; lists of `All` and `Any` have two members or
/// more, none of their own sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// All of them hold.
    All(Vec<Condition>),
    /// One of them holds.
    Any(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
    /// A comparison.
    Compare(Attribute, Operator, Value),
    /// One of a list, which is not empty.
    In(Attribute, Vec<Value>),
    /// A switch that is on.
    On(Attribute),
}

impl Condition {
    /// All of these; one alone is itself.
    pub(super) fn all(conditions: Vec<Condition>) -> Condition {
        let inner = conditions
            .into_iter()
            .flat_map(|condition| match condition {
                Condition::All(inner) => inner,
                one => vec![one],
            });
        one_or(inner.collect(), Condition::All)
    }
    /// One of these; one alone is itself.
    pub(super) fn any(conditions: Vec<Condition>) -> Condition {
        let inner = conditions
            .into_iter()
            .flat_map(|condition| match condition {
                Condition::Any(inner) => inner,
                one => vec![one],
            });
        one_or(inner.collect(), Condition::Any)
    }
}

fn one_or(flat: Vec<Condition>, joined: fn(Vec<Condition>) -> Condition) -> Condition {
    match <[Condition; 1]>::try_from(flat) {
        Ok([one]) => one,
        Err(flat) => joined(flat),
    }
}

fn joined(f: &mut fmt::Formatter<'_>, parts: &[Condition], sign: &str) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            write!(f, " {sign} ")?;
        }
        match part {
            Condition::Any(_) if sign == "&&" => write!(f, "({part})")?,
            part => write!(f, "{part}")?,
        }
    }
    Ok(())
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::All(parts) => joined(f, parts, "&&"),
            Condition::Any(parts) => joined(f, parts, "||"),
            Condition::Not(denied) => match denied.as_ref() {
                switch @ Condition::On(_) => write!(f, "!{switch}"),
                other => write!(f, "!({other})"),
            },
            Condition::Compare(attribute, operator, value) => {
                write!(f, "{attribute} {} {value}", operator.sign())
            }
            Condition::In(attribute, values) => {
                let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                write!(f, "{attribute} in [{}]", values.join(", "))
            }
            Condition::On(attribute) => write!(f, "{attribute}"),
        }
    }
}
