//! Options of `gridbay run` that several ways share.

use gridbay_protocol::limits;

/// The action that did not happen, for messages about wrong options.
pub(crate) const NOT_SENT: &str = "the order was not sent";

/// Nodes that an order may have.
pub(crate) const NODES: std::ops::RangeInclusive<i64> = 1..=limits::ORDER_UNITS as i64;
