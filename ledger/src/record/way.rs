//! Ways of sale.

use serde::{Deserialize, Serialize};

/// A way of sale: units sold in one are worth something else than in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// To bids in a clearing, preemptible.
    Bid,
    /// Bought firm.
    Buy,
    /// Planned by a seller for jobs with deadlines.
    Deadline,
    /// Reserved ahead.
    Reservation,
    /// Shared with others by the slot.
    Share,
    /// At posted prices, firm.
    Posted,
}
