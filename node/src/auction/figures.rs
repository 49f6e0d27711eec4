//! What a summary tells of an auction of any mechanism.

use crate::market::price::mean_hourly;
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::units::Credits;

/// The fields of a summary that a mechanism has to say.
pub(super) struct Figures {
    pub(super) slot: u64,
    pub(super) units: u32,
    pub(super) bids: u32,
    pub(super) winners: u32,
    pub(super) sold: u32,
    pub(super) paid: Credits,
    pub(super) price: Option<Credits>,
}

/// The slot that runs after a height, and what sales at these prices a slot pay for the rest of it,
/// each rounded up; `None` if that is no amount.
pub(super) fn begun(
    policy: &Policy,
    height: u64,
    prices: impl Iterator<Item = Credits>,
) -> (u64, Option<Credits>) {
    let slot = policy.calendar.slot(height.saturating_add(1));
    let rest = policy.calendar.last_of_slot(slot).saturating_sub(height);
    let whole = policy.calendar.slot_heights();
    let paid = prices.map(|price| price.share_ceil(rest, whole));
    let paid = paid.collect::<Option<Vec<_>>>();
    (slot, paid.and_then(Credits::sum))
}

/// Mean price per node-hour of an amount paid for units over so many heights each.
pub(super) fn hourly(
    paid: Credits,
    units: impl Into<u128>,
    heights: u64,
    policy: &Policy,
) -> Option<Credits> {
    let unit_ms = units.into() * u128::from(heights) * u128::from(policy.block_interval_ms);
    mean_hourly(paid, unit_ms, policy.slot_ms())
}
