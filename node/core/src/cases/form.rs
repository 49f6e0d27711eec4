//! The common parts of all mechanisms' cases: errors, and amounts of money.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

/// Why a case cannot be cleared at all. A refusal of a mechanism is a result, not an error.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the texts tell what the fields are")]
pub enum CaseError {
    /// The input does not have the mechanism's shape.
    #[error("the input is not one of {mechanism}: {source}")]
    Shape {
        mechanism: &'static str,
        source: serde_json::Error,
    },
    /// The mechanism refuses the input for a reason that the shape of results has no word for.
    #[error("{mechanism} refuses the input: {reason}")]
    Refused {
        mechanism: &'static str,
        reason: String,
    },
}

/// Reads the input of a mechanism.
pub(super) fn read<T: serde::de::DeserializeOwned>(
    mechanism: &'static str,
    input: Value,
) -> Result<T, CaseError> {
    serde_json::from_value(input).map_err(|source| CaseError::Shape { mechanism, source })
}

/// An amount of micro-credits below 2^63, as a string of digits and nothing else.
pub(super) fn micros<E: de::Error>(text: &str) -> Result<u64, E> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let amount = text.parse::<u64>().ok().filter(|n| *n < 1 << 63);
    let amount = amount.filter(|_| digits);
    amount.ok_or_else(|| E::custom(format_args!("not an amount of micro-credits: {text:?}")))
}

/// An amount of money as a decimal string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Money(
    #[serde(serialize_with = "write_micros", deserialize_with = "read_micros")] pub(super) u64,
);

fn read_micros<'de, D: Deserializer<'de>>(d: D) -> Result<u64, D::Error> {
    let text = String::deserialize(d)?;
    micros(&text)
}

fn write_micros<S: Serializer>(amount: &u64, s: S) -> Result<S::Ok, S::Error> {
    s.collect_str(amount)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn amounts_are_digits_in_range() {
        for good in ["0", "007", "9223372036854775807"] {
            assert!(serde_json::from_value::<Money>(json!(good)).is_ok());
        }
        let bad = [
            json!("-1"),
            json!("+1"),
            json!("9223372036854775808"),
            json!(""),
            json!("1.5"),
            json!(1),
        ];
        for bad in bad {
            assert!(serde_json::from_value::<Money>(bad).is_err());
        }
    }
}
