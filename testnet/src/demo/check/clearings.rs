//! Every clearing, recomputed from its public record with nothing but additions: payments of
//! winners equal earnings of sold units, within supply, no winner above its bid, no unit below its
//! reserve. Every buy costs the larger of the asked prices and the value that it displaced.

use super::Verdict;
use crate::demo::evidence::{Auction, Evidence};
use gridbay_node::api::types::AuctionRecord;
use gridbay_protocol::record::ausubel::{ClearingBid, ClearingRecord};
use gridbay_protocol::record::buy::BuyRecord;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let (mut clearings, mut buys, mut paid) = (0, 0, 0);
    for Auction { id, record, .. } in &evidence.auctions {
        match record {
            AuctionRecord::Clearing(record) => {
                paid += clearing(record).map_err(|wrong| format!("clearing {id}: {wrong}"))?;
                clearings += usize::from(!record.awards.is_empty());
            }
            AuctionRecord::Buy(record) => {
                buy(record).map_err(|wrong| format!("buy {id}: {wrong}"))?;
                buys += 1;
            }
            // Judged by itself.
            _ => {}
        }
    }
    if clearings == 0 || buys == 0 {
        return Err(format!(
            "{clearings} clearings and {buys} buys sold something"
        ));
    }
    Ok(format!(
        "{clearings} clearings of {paid} micro-credits, {buys} buys"
    ))
}

/// Returns what was paid.
fn clearing(record: &ClearingRecord) -> Result<u128, String> {
    let (mut paid, mut units) = (0_u128, 0_u64);
    for award in &record.awards {
        let order = award.order;
        let bid = record.bids.iter().find(|bid| bid.order == order);
        let bid = bid.ok_or(format!("{order} won without a bid"))?;
        let (value, pay) = (value(bid, award.units)?, u128::from(award.pay.micros()));
        if pay > value {
            return Err(format!("{order} pays {pay} for what it values at {value}"));
        }
        if award.units < bid.min {
            return Err(format!(
                "{order} got {} of at least {}",
                award.units, bid.min
            ));
        }
        paid += pay;
        units += u64::from(award.units);
    }
    let (mut earned, mut sold_units) = (0_u128, 0_u64);
    for sold in &record.sold {
        let id = sold.offer;
        let offer = record.offers.iter().find(|offer| offer.offer == id);
        let offer = offer.ok_or(format!("{id} sold without an offer"))?;
        let least = u128::from(offer.reserve.0) * u128::from(sold.units);
        let earns = u128::from(sold.earns.micros());
        if sold.units > offer.units {
            return Err(format!("{id} sold {} of {} units", sold.units, offer.units));
        }
        if earns < least {
            return Err(format!("{id} earns {earns}, its reserve is {least}"));
        }
        earned += earns;
        sold_units += u64::from(sold.units);
    }
    if units != sold_units {
        return Err(format!("{units} units won, {sold_units} sold"));
    }
    if paid != earned {
        return Err(format!("{paid} paid, {earned} earned"));
    }
    Ok(paid)
}

/// The value of a bid's first units.
fn value(bid: &ClearingBid, units: u32) -> Result<u128, String> {
    let (mut left, mut value) = (units, 0_u128);
    for step in &bid.steps {
        let taken = left.min(step.units);
        value += u128::from(taken) * u128::from(step.price.0);
        left -= taken;
    }
    match left {
        0 => Ok(value),
        more => Err(format!(
            "{} got {more} units more than it asked for",
            bid.order
        )),
    }
}

fn buy(record: &BuyRecord) -> Result<(), String> {
    let mut sum = 0;
    for part in &record.parts {
        let taken = part.taken.iter();
        let asked: u128 = taken
            .map(|offer| u128::from(offer.units) * u128::from(offer.reserve.0))
            .sum();
        let displaced = u128::from(part.displaced_value.micros());
        let price = u128::from(part.price.micros());
        if price != asked.max(displaced) {
            return Err(format!(
                "{price} a slot, {asked} asked for what displaced {displaced}"
            ));
        }
        sum += price;
    }
    match u128::from(record.price.micros()) == sum {
        true => Ok(()),
        false => Err(format!("{} a slot, its parts cost {sum}", record.price)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;
    use gridbay_protocol::units::{Credits, Price};

    fn bad(change: impl Fn(&mut ClearingRecord)) -> Verdict {
        let mut bad = sample::good();
        for auction in &mut bad.auctions {
            if let AuctionRecord::Clearing(record) = &mut auction.record {
                change(record);
            }
        }
        judge(&bad)
    }

    fn micros(n: u64) -> Credits {
        Credits::from_micros(n).unwrap()
    }

    #[test]
    fn every_rule_is_checked() {
        assert!(bad(|_| ()).is_ok());
        let pays = bad(|r| {
            r.awards[0].pay = micros(10_000);
            r.sold[0].earns = micros(10_000);
        });
        assert!(pays.unwrap_err().contains("values"));
        assert!(
            bad(|r| r.sold[0].earns = micros(1))
                .unwrap_err()
                .contains("reserve")
        );
        let more = bad(|r| r.sold[0].earns = micros(r.sold[0].earns.micros() + 1));
        assert!(more.unwrap_err().contains("paid"));
        assert!(
            bad(|r| r.offers[0].units = 0)
                .unwrap_err()
                .contains("units")
        );
        assert!(bad(|r| r.awards[0].units += 1).is_err());
        assert!(bad(|r| r.awards[0].units -= 1).is_err());
        assert!(
            bad(|r| r.bids.clear())
                .unwrap_err()
                .contains("without a bid")
        );
        assert!(
            bad(|r| r.offers.clear())
                .unwrap_err()
                .contains("without an offer")
        );
        assert!(bad(|r| r.sold.clear()).is_err());
        assert!(bad(|r| r.bids[0].steps[0].price = Price(0)).is_err());
    }

    #[test]
    fn a_buy_below_the_asked_price_is_found() {
        let mut bad = sample::good();
        for auction in &mut bad.auctions {
            if let AuctionRecord::Buy(record) = &mut auction.record {
                record.parts[0].price = micros(1);
            }
        }
        assert!(judge(&bad).unwrap_err().contains("asked"));
    }

    #[test]
    fn a_market_without_sales_shows_nothing() {
        let mut bad = sample::good();
        bad.auctions.clear();
        assert!(judge(&bad).is_err());
    }
}
