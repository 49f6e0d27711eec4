//! JSON of the API and of `-o json`: one shape each, stable. Each noun defines its own; the shared
//! ones are here.
//!
//! Amounts are decimal strings in credits with at most six decimals, which is exact
//! (micro-credits); prices are credits per node-hour. Ids and keys are lower-case hex. Times are
//! milliseconds since 1970 in fields that end in `_ms`. Absent values are `null`, never left out.

pub use crate::alert::types::*;
pub use crate::auction::types::*;
pub use crate::bank::types::*;
pub use crate::bid::types::*;
pub use crate::buy::*;
pub use crate::content::types::*;
pub use crate::contract::types::*;
pub use crate::federation::types::*;
pub use crate::held::types::*;
pub use crate::invite::types::*;
pub use crate::job::reason::*;
pub use crate::job::types::*;
pub use crate::lease::types::*;
pub use crate::ledger::statement::types::*;
pub use crate::ledger::types::*;
pub use crate::market::types::*;
pub use crate::node::types::*;
pub use crate::offer::types::*;
pub use crate::order::quote::Quote;
pub use crate::order::types::*;
pub use crate::owner::types::*;
pub use crate::peer::types::*;
pub use crate::plan::types::*;
pub use crate::pool::types::*;
pub use crate::project::types::*;
pub use crate::reservation::types::*;
pub use crate::token::types::*;
pub use crate::web::types::*;

use gridbay_protocol::units::Credits;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use utoipa::ToSchema;

/// An amount that can be negative, in micro-credits: a balance, or a movement of money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ToSchema)]
#[schema(value_type = String, pattern = r"^-?[0-9]{1,13}(\.[0-9]{1,6})?$")]
pub struct Signed(pub i64);

impl From<Credits> for Signed {
    fn from(amount: Credits) -> Signed {
        Signed(i64::try_from(amount.micros()).expect("an amount of credits fits an i64"))
    }
}

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        // The one value without a positive counterpart is shown as its neighbour.
        let size = Credits::from_micros(self.0.unsigned_abs()).unwrap_or(Credits::MAX);
        f.pad(&format!("{sign}{size}"))
    }
}

impl FromStr for Signed {
    type Err = gridbay_protocol::units::NotCredits;
    fn from_str(text: &str) -> Result<Signed, Self::Err> {
        match text.strip_prefix('-') {
            Some(rest) => rest.parse().map(|c: Credits| Signed(-Signed::from(c).0)),
            None => text.parse().map(|c: Credits| c.into()),
        }
    }
}

impl Serialize for Signed {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Signed {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Signed, D::Error> {
        String::deserialize(d)?.parse().map_err(D::Error::custom)
    }
}

/// Serde form of an amount: a decimal string.
pub mod amount {
    use super::Credits;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    /// See the module.
    pub fn serialize<T: Serializer>(amount: &Credits, s: T) -> Result<T::Ok, T::Error> {
        s.collect_str(amount)
    }
    /// See the module.
    pub fn deserialize<'de, T: Deserializer<'de>>(d: T) -> Result<Credits, T::Error> {
        String::deserialize(d)?.parse().map_err(T::Error::custom)
    }
}

/// Serde form of an amount that may be absent: a decimal string or `null`.
pub mod optional_amount {
    use super::Credits;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    /// See the module.
    pub fn serialize<T: Serializer>(amount: &Option<Credits>, s: T) -> Result<T::Ok, T::Error> {
        amount.map(|a| a.to_string()).serialize(s)
    }
    /// See the module.
    pub fn deserialize<'de, T: Deserializer<'de>>(d: T) -> Result<Option<Credits>, T::Error> {
        Option::<String>::deserialize(d)?
            .map(|text| text.parse().map_err(T::Error::custom))
            .transpose()
    }
}

/// Bytes as hex: canonical CBOR of a protocol type.
#[derive(Clone, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, pattern = "^([0-9a-f]{2})*$")]
pub struct Hex(pub Vec<u8>);

impl fmt::Debug for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hex({} bytes)", self.0.len())
    }
}

impl Serialize for Hex {
    fn serialize<T: Serializer>(&self, s: T) -> Result<T::Ok, T::Error> {
        s.serialize_str(&gridbay_protocol::ids::to_hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<T: Deserializer<'de>>(d: T) -> Result<Hex, T::Error> {
        let text = String::deserialize(d)?;
        data_encoding::HEXLOWER_PERMISSIVE
            .decode(text.as_bytes())
            .map(Hex)
            .map_err(|_| T::Error::custom("not hex"))
    }
}

/// As the API's shapes hold numbers of things.
pub(crate) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_amounts_are_exact_text() {
        for (micros, text) in [
            (0, "\"0\""),
            (-1_500_000, "\"-1.5\""),
            (-1, "\"-0.000001\""),
            (i64::MAX, "\"9223372036854.775807\""),
        ] {
            assert_eq!(serde_json::to_string(&Signed(micros)).unwrap(), text);
            assert_eq!(
                serde_json::from_str::<Signed>(text).unwrap(),
                Signed(micros)
            );
        }
        for bad in ["\"--1\"", "\"-\"", "1.5", "\"1e3\""] {
            assert!(serde_json::from_str::<Signed>(bad).is_err(), "{bad}");
        }
        assert!(Signed(i64::MIN).to_string().starts_with("-9223372036854"));
    }
}
