//! The buy displaced a bid, and the displaced order resumed and finished, or has its refund and its
//! compensation. A compensation that was paid is named either way.

use crate::demo::check::Verdict;
use crate::demo::evidence::{Auction, Evidence};
use crate::demo::order::Order;
use gridbay_node::api::types::{AuctionRecord, JobState, Signed};
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::payment::Reason;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    if !evidence.auctions.iter().any(|a| displacing(a).is_some()) {
        return Err("no buy displaced a lease".to_owned());
    }
    let mut told = Vec::new();
    for order in evidence.orders.iter().filter(|o| o.record.preemptions > 0) {
        let name = order.wish.name;
        let compensation = moved(evidence, order, Reason::Compensation);
        let refund = moved(evidence, order, Reason::Refund);
        let resumed = order.record.state == JobState::Done;
        if !resumed && (compensation.0 == 0 || refund.0 == 0) {
            return Err(format!("{name} neither resumed nor was it made good"));
        }
        let end = if resumed {
            "resumed and finished"
        } else {
            "was paid out"
        };
        told.push(format!("{name} {end}, compensation {compensation} credits"));
    }
    if told.is_empty() {
        return Err("no order knows that it was preempted".to_owned());
    }
    Ok(told.join("; "))
}

/// The receipts for an order under a reason. A compensation is booked on the order of the buy that
/// pays it.
fn moved(evidence: &Evidence, order: &Order, reason: Reason) -> Signed {
    let buys: Vec<OrderId> = evidence.auctions.iter().filter_map(displacing).collect();
    let concerns = |id: OrderId| Some(id) == order.record.order || buys.contains(&id);
    let accounts = evidence.accounts.iter();
    let own = accounts.filter(|account| account.name == order.wish.buyer);
    let movements = own.flat_map(|account| &account.movements);
    let amounts = movements
        .filter(|m| m.reason == reason && m.amount.0 > 0 && m.order.is_some_and(concerns))
        .map(|m| m.amount.0);
    Signed(amounts.sum())
}

/// The order of a buy that displaced somebody.
fn displacing(auction: &Auction) -> Option<OrderId> {
    match &auction.record {
        AuctionRecord::Buy(record) if record.displaced().next().is_some() => Some(record.order),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;
    use gridbay_node::api::types::Movement;

    #[test]
    fn a_buy_that_displaces_nobody_shows_nothing() {
        let mut bad = sample::good();
        for auction in &mut bad.auctions {
            if let AuctionRecord::Buy(record) = &mut auction.record {
                record.parts[0].displaced.clear();
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

        let order = sample::order(&mut bad, "late").record.order;
        let line = bad.accounts[1].movements[0].clone();
        for (reason, order) in [
            (Reason::Refund, order),
            (Reason::Compensation, Some(sample::BUY)),
        ] {
            assert!(judge(&bad).is_err());
            bad.accounts[1].movements.push(Movement {
                reason,
                order,
                amount: Signed(5),
                ..line.clone()
            });
        }
        assert!(judge(&bad).unwrap().contains("paid out"));
    }
}
