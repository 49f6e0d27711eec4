//! The contest was one: in a single clearing, at least six orders asked for more than was for sale,
//! and some of them lost.

use crate::demo::check::Verdict;
use crate::demo::evidence::Evidence;
use gridbay_node::api::types::AuctionRecord;

/// Bids that make a contest.
const BIDS: usize = 6;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let clearings = evidence.auctions.iter().filter_map(|a| match &a.record {
        AuctionRecord::Clearing(record) => Some((&a.class, record)),
        _ => None,
    });
    let mut most = 0;
    for (class, record) in clearings {
        let steps = record.bids.iter().flat_map(|bid| &bid.steps);
        let wanted: u64 = steps.map(|step| u64::from(step.units)).sum();
        let offered: u64 = record.offers.iter().map(|o| u64::from(o.units)).sum();
        let bids = record.bids.len();
        most = most.max(bids);
        if bids >= BIDS && wanted > offered && record.awards.len() < bids {
            let won = record.awards.len();
            return Ok(format!(
                "{bids} bids for {wanted} {class} nodes, {offered} offered, {won} bids won"
            ));
        }
    }
    Err(format!(
        "the largest contest had {most} bids, or enough for all"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;

    #[test]
    fn enough_for_all_is_no_contest() {
        let mut bad = sample::good();
        for auction in &mut bad.auctions {
            if let AuctionRecord::Clearing(record) = &mut auction.record {
                record.offers[0].units = 1_000;
            }
        }
        assert!(judge(&bad).is_err());
        bad.auctions.clear();
        assert!(judge(&bad).is_err());
    }
}
