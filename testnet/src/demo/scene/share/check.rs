//! The pool was shared among both claims: each had nodes in some slot, in some slot both competed,
//! and every outcome is what the simulator's judge finds: nobody paid above the rate, no more nodes
//! were held than the pool has, and all follows from the public input.

use super::CLAIMS;
use crate::demo::check::Verdict;
use crate::demo::evidence::Evidence;
use gridbay_node::api::types::AuctionRecord;
use gridbay_protocol::record::share::Sharing;
use gridbay_sim::check::judge;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let records = evidence.auctions.iter().filter_map(|a| match &a.record {
        AuctionRecord::Sharing(record) => Some(record),
        _ => None,
    });
    let records: Vec<&Sharing> = records.collect();
    for record in &records {
        let judged = judge::sharing(record, &evidence.policy.calendar);
        judged.map_err(|wrong| format!("slot {}: {wrong}", record.slot))?;
    }
    let contested = records.iter().filter(|r| r.claims.len() >= CLAIMS.len());
    let contested = contested.count();
    if contested == 0 {
        return Err(format!("{} slots, and never two claims", records.len()));
    }
    for name in CLAIMS {
        let order = evidence.orders.iter().find(|o| o.wish.name == name);
        let id = order.and_then(|o| o.record.order);
        let served = |r: &&&Sharing| r.awards.iter().any(|a| Some(a.order) == id);
        if records.iter().filter(served).count() == 0 {
            return Err(format!("{name} never had a node"));
        }
    }
    let units = |r: &&Sharing| {
        r.awards
            .iter()
            .map(|a| u64::from(a.portion.units))
            .sum::<u64>()
    };
    let held: u64 = records.iter().map(units).sum();
    Ok(format!(
        "{} slots, {contested} of them contested, {held} node-slots",
        records.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;

    fn bad(change: impl Fn(&mut Sharing)) -> Verdict {
        let mut bad = sample::good();
        for auction in &mut bad.auctions {
            if let AuctionRecord::Sharing(record) = &mut auction.record {
                change(record);
            }
        }
        judge(&bad)
    }

    #[test]
    fn every_rule_is_checked() {
        assert!(bad(|_| ()).is_ok());
        let spoilt: [fn(&mut Sharing); 3] = [
            |r| r.awards[0].portion.units = 9,
            |r| r.claims[0].rate = r.claims[1].rate.saturating_sub(r.claims[1].rate),
            |r| r.awards[0].portion.processors += 1,
        ];
        for spoil in spoilt {
            assert!(bad(spoil).unwrap_err().starts_with("slot"));
        }
        assert!(
            bad(|r| {
                r.claims.pop();
                r.awards = r.divide();
            })
            .unwrap_err()
            .contains("never two")
        );
        let mut without = sample::good();
        without.orders.retain(|o| o.wish.name != CLAIMS[1]);
        assert!(judge(&without).unwrap_err().contains(CLAIMS[1]));
        let mut none = sample::good();
        none.auctions.clear();
        assert!(judge(&none).is_err());
    }
}
