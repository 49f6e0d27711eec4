//! Each order that lost a clearing said why while it stood without units, and those that never got
//! any can explain it: a sentence, and a condition that is not met.

use super::Verdict;
use crate::demo::evidence::Evidence;
use gridbay_node::api::types::AuctionRecord;
use gridbay_protocol::ids::OrderId;
use std::collections::BTreeSet;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let losers = losers(evidence);
    let mut told = Vec::new();
    for order in &evidence.orders {
        let lost = order.record.order.is_some_and(|id| losers.contains(&id));
        if !lost && !order.given_up {
            continue;
        }
        let name = order.wish.name;
        let reasons = order.loss_reasons();
        let Some(reason) = reasons.first() else {
            return Err(format!("{name} lost and gave no reason"));
        };
        if order.given_up {
            let Some(why) = &order.why else {
                return Err(format!("{name} could not say why it waited"));
            };
            if why.summary.is_empty() || why.checks.iter().all(|check| check.met) {
                return Err(format!("{name} explains nothing: `{}`", why.summary));
            }
        }
        told.push(format!("{name} {}", reason.name()));
    }
    if told.is_empty() {
        return Err("nobody lost".to_owned());
    }
    Ok(told.join(", "))
}

/// Orders that bid in some clearing and won nothing there.
fn losers(evidence: &Evidence) -> BTreeSet<OrderId> {
    let mut losers = BTreeSet::new();
    for auction in &evidence.auctions {
        if let AuctionRecord::Clearing(record) = &auction.record {
            let won: BTreeSet<OrderId> = record.awards.iter().map(|a| a.order).collect();
            let bids = record.bids.iter().map(|bid| bid.order);
            losers.extend(bids.filter(|order| !won.contains(order)));
        }
    }
    losers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;

    #[test]
    fn a_silent_loser_is_found() {
        let mut bad = sample::good();
        sample::order(&mut bad, "late").seen.clear();
        assert!(judge(&bad).unwrap_err().contains("late lost"));
    }

    #[test]
    fn one_who_never_won_must_explain_it() {
        let mut bad = sample::good();
        sample::order(&mut bad, "vain").why = None;
        assert!(judge(&bad).is_err());

        let mut bad = sample::good();
        let why = sample::order(&mut bad, "vain").why.as_mut().unwrap();
        why.checks[0].met = true;
        assert!(judge(&bad).unwrap_err().contains("explains nothing"));
    }

    #[test]
    fn a_market_without_losers_shows_nothing() {
        let mut bad = sample::good();
        bad.auctions.clear();
        bad.orders.retain(|order| !order.given_up);
        assert!(judge(&bad).is_err());
    }
}
