//! The buy displaced a bid, and the displaced order resumed and finished, or has its refund and its
//! compensation. A compensation that was paid is named either way. One that keeps its progress
//! resumed where it was.

use crate::demo::check::Verdict;
use crate::demo::evidence::{Auction, Evidence};
use crate::demo::order::Order;
use crate::demo::work::began;
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
        let end = match resumed {
            true => match progress(order).map_err(|wrong| format!("{name} {wrong}"))? {
                Some(from) => format!("resumed at {from} and finished"),
                None => "resumed and finished".to_owned(),
            },
            false => "was paid out".to_owned(),
        };
        told.push(format!("{name} {end}, compensation {compensation} credits"));
    }
    if told.is_empty() {
        return Err("no order knows that it was preempted".to_owned());
    }
    Ok(told.join("; "))
}

/// Where an order that keeps its progress resumed: not at zero, and with the count that its last
/// checkpoint had. It lost no more than lies between two of them.
fn progress(order: &Order) -> Result<Option<u32>, String> {
    let Some(keeps) = order.wish.work.checkpoint() else {
        return Ok(None);
    };
    let record = &order.record;
    let last = record.attempts.last().and_then(|a| a.resumed);
    last.ok_or("went on from no checkpoint")?;
    let lost = record.lost_seconds;
    if lost > u64::from(keeps.every_seconds) {
        return Err(format!("lost {lost} s of its work"));
    }
    let output = order.outputs.first().and_then(|output| began(0, output));
    match output {
        Some(0) | None => Err("began at zero again".to_owned()),
        from => Ok(from),
    }
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
    use crate::demo::work::Work;
    use gridbay_node::api::types::{JobAttempt, Movement, ResumedFrom};
    use gridbay_protocol::keys::SecretKey;

    /// An attempt that went on from another one's checkpoint.
    fn attempt() -> JobAttempt {
        JobAttempt {
            rank: 0,
            attempt: 1,
            node: SecretKey::from_seed(&[1; 32]).public(),
            seller: None,
            started_ms: Some(1),
            ended_ms: Some(2),
            end: Some("done".into()),
            resumed: Some(ResumedFrom {
                attempt: 0,
                bytes: 3,
                age_seconds: 1,
            }),
            lost_seconds: 0,
        }
    }

    #[test]
    fn progress_that_was_lost_is_found() {
        let mut good = sample::good();
        let late = sample::order(&mut good, "late");
        late.wish.work = Work::Count(30);
        late.record.attempts = vec![attempt()];
        late.outputs[0].stdout = "rank 0 from 17\nrank 0 counted 30\n".into();
        assert!(judge(&good).unwrap().contains("late resumed at 17"));
        let change = |change: fn(&mut Order)| {
            let mut bad = good.clone();
            change(sample::order(&mut bad, "late"));
            judge(&bad).unwrap_err()
        };
        let zero = change(|o| o.outputs[0].stdout = "rank 0 from 0\n".into());
        assert!(zero.contains("at zero"));
        assert!(change(|o| o.record.lost_seconds = 3).contains("lost 3 s"));
        let none = change(|o| o.record.attempts[0].resumed = None);
        assert!(none.contains("no checkpoint"));
    }

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
