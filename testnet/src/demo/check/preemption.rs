//! The buy displaced somebody, and whoever was displaced resumed and finished, or has his refund and
//! his compensation. A compensation that was paid is named either way.

use super::Verdict;
use crate::demo::evidence::Evidence;
use crate::demo::order::Order;
use gridbay_node::api::types::{AuctionRecord, JobState};
use gridbay_protocol::payment::Reason;

pub(super) fn judge(evidence: &Evidence) -> Verdict {
    let displaced = evidence.auctions.iter().filter_map(|a| match &a.record {
        AuctionRecord::Buy(record) => Some(record.displaced.len()),
        AuctionRecord::Clearing(_) => None,
    });
    if displaced.sum::<usize>() == 0 {
        return Err("no buy displaced a lease".to_owned());
    }
    let mut told = Vec::new();
    for order in evidence.orders.iter().filter(|o| o.record.preemptions > 0) {
        let name = order.wish.name;
        let compensation = moved(evidence, order, Reason::Compensation);
        let refund = moved(evidence, order, Reason::Refund);
        let resumed = order.record.state == JobState::Done;
        if !resumed && (compensation == 0 || refund == 0) {
            return Err(format!("{name} neither resumed nor was it made good"));
        }
        let end = if resumed {
            "resumed and finished"
        } else {
            "was paid out"
        };
        told.push(format!(
            "{name} {end}, compensation {compensation} micro-credits"
        ));
    }
    if told.is_empty() {
        return Err("no order knows that it was preempted".to_owned());
    }
    Ok(told.join("; "))
}

/// Micro-credits that came in for an order under a reason.
fn moved(evidence: &Evidence, order: &Order, reason: Reason) -> i64 {
    let accounts = evidence.accounts.iter();
    let own = accounts.filter(|account| account.name == order.wish.buyer);
    let movements = own.flat_map(|account| &account.movements);
    movements
        .filter(|m| m.reason == reason && m.order.is_some() && m.order == order.record.order)
        .map(|m| m.amount.0)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_buy_that_displaces_nobody_shows_nothing() {
        let mut bad = sample::good();
        for auction in &mut bad.auctions {
            if let AuctionRecord::Buy(record) = &mut auction.record {
                record.displaced.clear();
            }
        }
        assert!(judge(&bad).is_err());

        let mut bad = sample::good();
        sample::order(&mut bad, "late").record.preemptions = 0;
        assert!(judge(&bad).is_err());
    }

    #[test]
    fn a_victim_without_refund_and_compensation_is_found() {
        let mut bad = sample::good();
        sample::order(&mut bad, "late").record.state = JobState::Cancelled;
        assert!(judge(&bad).unwrap_err().contains("neither"));
    }
}
