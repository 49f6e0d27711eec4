//! Judgements of one public record alone, which need no world: checkers use them on simulated
//! records, and the demo on those of a real network.

use super::i05_posted::shelf;
use super::i16_books::record;
use super::i16_contracts::Sums;
use super::{ahead, i05_clearing, i16_contracts, pools};
use gridbay_protocol::calendar::Calendar;
use gridbay_protocol::mechanism::reservation::window::WindowPolicy;
use gridbay_protocol::order::ContractTerms;
use gridbay_protocol::record::ausubel::ClearingRecord;
use gridbay_protocol::record::buy::BuyRecord;
use gridbay_protocol::record::contract::{JobRecord, Settlement};
use gridbay_protocol::record::posted::PostedRecord;
use gridbay_protocol::record::reservation::ReservationRecord;
use gridbay_protocol::record::share::Sharing;

/// A clearing adds up, and comes to what its recomputation comes to.
///
/// # Errors
/// The breach, in words.
pub fn clearing(record: &ClearingRecord) -> Result<(), String> {
    record::adds_up(record)?;
    i05_clearing::recompute(record)
}

/// A buy costs the larger of the asked prices and the value that it displaced, class by class.
///
/// # Errors
/// The breach, in words.
pub fn buy(record: &BuyRecord) -> Result<(), String> {
    record::is_priced(record)
}

/// A sharing of a pool is at its time, within the pool and the rates, and follows from its claims.
///
/// # Errors
/// The breach, in words.
pub fn sharing(record: &Sharing, calendar: &Calendar) -> Result<(), String> {
    record::is_within(record)?;
    pools::recompute(record, record.height, calendar)
}

/// Hires are served in the order in which they came, each with the cheapest units left, at posted
/// prices within its limit.
///
/// # Errors
/// The breach, in words.
pub fn hires(record: &PostedRecord) -> Result<(), String> {
    shelf::follows(record)
}

/// A decision on reservations follows from its bids, fits what is free, and gives its winners what
/// they asked for.
///
/// # Errors
/// The breach, in words.
pub fn reservations(record: &ReservationRecord, policy: &WindowPolicy) -> Result<(), String> {
    ahead::check(record, policy)
}

/// A contract paid for its jobs, which are all of those requested, what its terms say.
///
/// # Errors
/// The breach, in words.
pub fn contract(
    terms: &ContractTerms,
    jobs: &[JobRecord],
    settled: &Settlement,
) -> Result<(), String> {
    let (mut sums, mut requested) = (Sums::default(), 0);
    for job in jobs {
        i16_contracts::is_priced(&terms.job, job)?;
        sums.add(job);
        requested += 1;
    }
    i16_contracts::follows(terms, requested, &sums, settled)
}
