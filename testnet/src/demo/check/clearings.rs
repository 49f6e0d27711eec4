//! Every clearing and every buy, by the simulator's judge: payments of winners equal earnings of
//! sold units, within supply, no winner above its bid, no unit below its reserve, all of it as
//! recomputed. A buy costs the larger of the asked prices and the value that it displaced.

use super::Verdict;
use crate::demo::evidence::{Auction, Evidence};
use gridbay_node::api::types::AuctionRecord;
use gridbay_sim::check::judge;

pub(crate) fn judge(evidence: &Evidence) -> Verdict {
    let (mut clearings, mut buys, mut paid) = (0, 0, 0);
    for Auction { id, record, .. } in &evidence.auctions {
        match record {
            AuctionRecord::Clearing(record) => {
                judge::clearing(record).map_err(|wrong| format!("clearing {id}: {wrong}"))?;
                let pays = record.awards.iter().map(|a| u128::from(a.pay.micros()));
                paid += pays.sum::<u128>();
                clearings += usize::from(!record.awards.is_empty());
            }
            AuctionRecord::Buy(record) => {
                judge::buy(record).map_err(|wrong| format!("buy {id}: {wrong}"))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::sample;
    use gridbay_protocol::record::ausubel::ClearingRecord;
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
        let spoilt: [fn(&mut ClearingRecord); 10] = [
            |r| {
                r.awards[0].pay = micros(10_000);
                r.sold[0].earns = micros(10_000);
            },
            |r| r.sold[0].earns = micros(1),
            |r| r.sold[0].earns = micros(r.sold[0].earns.micros() + 1),
            |r| r.offers[0].units = 0,
            |r| r.awards[0].units += 1,
            |r| r.awards[0].units -= 1,
            |r| r.bids.clear(),
            |r| r.offers.clear(),
            |r| r.sold.clear(),
            |r| r.bids[0].steps[0].price = Price(0),
        ];
        for spoil in spoilt {
            assert!(bad(spoil).unwrap_err().starts_with("clearing"));
        }
    }

    #[test]
    fn a_buy_below_the_asked_price_is_found() {
        let mut bad = sample::good();
        for auction in &mut bad.auctions {
            if let AuctionRecord::Buy(record) = &mut auction.record {
                record.parts[0].price = micros(1);
            }
        }
        assert!(judge(&bad).unwrap_err().starts_with("buy"));
    }

    #[test]
    fn a_market_without_sales_shows_nothing() {
        let mut bad = sample::good();
        bad.auctions.clear();
        assert!(judge(&bad).is_err());
    }
}
