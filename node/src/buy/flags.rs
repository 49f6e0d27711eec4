//! What the options of `gridbay run` for all ways share.

use gridbay_protocol::limits;

/// What did not happen when one of them is wrong.
pub(crate) const NOT_SENT: &str = "the order was not sent";

/// Nodes that an order may have.
pub(crate) const NODES: std::ops::RangeInclusive<i64> = 1..=limits::ORDER_UNITS as i64;
