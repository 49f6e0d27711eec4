//! The pool was shared among both claims: each had nodes in some slot, in some slot both competed,
//! nobody paid above the rate, no more nodes were held than the pool has, and every outcome follows
//! from its public input.

use super::CLAIMS;
use crate::demo::check::Verdict;
use crate::demo::evidence::Evidence;
use gridbay_node::api::types::AuctionRecord;
use gridbay_protocol::ids::OrderId;
use gridbay_protocol::record::share::Sharing;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let records = evidence.auctions.iter().filter_map(|a| match &a.record {
        AuctionRecord::Sharing(record) => Some(record),
        _ => None,
    });
    let records: Vec<&Sharing> = records.collect();
    for record in &records {
        is_sound(record).map_err(|wrong| format!("slot {}: {wrong}", record.slot))?;
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

fn is_sound(record: &Sharing) -> Result<(), String> {
    let units: u64 = record
        .awards
        .iter()
        .map(|a| u64::from(a.portion.units))
        .sum();
    if units > u64::from(record.units) {
        return Err(format!("{units} nodes of {}", record.units));
    }
    let rate = |order: &OrderId| {
        record
            .claims
            .iter()
            .find(|c| c.order == *order)
            .map(|c| c.rate)
    };
    if let Some(award) = record
        .awards
        .iter()
        .find(|a| rate(&a.order).is_none_or(|r| a.pay > r))
    {
        return Err(format!(
            "{} pays {}, above its rate",
            award.order, award.pay
        ));
    }
    if record.divide() != record.awards {
        return Err("the pool's rule gives other awards".to_owned());
    }
    Ok(())
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
        assert!(
            bad(|r| r.awards[0].portion.units = 9)
                .unwrap_err()
                .contains("nodes of")
        );
        assert!(
            bad(|r| r.claims[0].rate = r.claims[1].rate.saturating_sub(r.claims[1].rate)).is_err()
        );
        assert!(
            bad(|r| r.awards[0].portion.processors += 1)
                .unwrap_err()
                .contains("rule")
        );
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
