//! Keys: a node's own names for the orders of its owner.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Local name of an order, known before the ledger has one: 8 bytes, 16 hex digits in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OrderKey(pub u64);

impl fmt::Display for OrderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Text that is no local name of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the id of an order: want 16 hex digits")]
pub struct NotAnOrderKey;

impl FromStr for OrderKey {
    type Err = NotAnOrderKey;
    fn from_str(text: &str) -> Result<OrderKey, NotAnOrderKey> {
        let hex = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let value = u64::from_str_radix(text, 16).ok().filter(|_| hex);
        value.map(OrderKey).ok_or(NotAnOrderKey)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_keys_have_one_text_form() {
        let key = OrderKey(0xab);
        assert_eq!(key.to_string(), "00000000000000ab");
        assert_eq!(key.to_string().parse(), Ok(key));
        for bad in ["", "ab", "+0000000000000ab", "000000000000000g"] {
            assert_eq!(bad.parse::<OrderKey>(), Err(NotAnOrderKey), "{bad:?}");
        }
    }
}
