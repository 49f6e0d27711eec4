//! A sharing of a pool in short.

use crate::api::types::count;
use crate::auction::figures::{Figures, hourly};
use gridbay_protocol::genesis::Policy;
use gridbay_protocol::record::share::Sharing;
use gridbay_protocol::units::Credits;

pub(super) fn figures(record: &Sharing, policy: &Policy) -> Figures {
    let sold: u32 = record.awards.iter().map(|a| a.portion.units).sum();
    let paid = Credits::sum(record.awards.iter().map(|a| a.pay)).unwrap_or(Credits::MAX);
    let heights = policy.calendar.slot_heights();
    Figures {
        slot: record.slot,
        units: record.units,
        bids: count(record.claims.len()),
        winners: count(record.awards.len()),
        sold,
        paid,
        price: hourly(paid, sold, heights, policy),
    }
}
