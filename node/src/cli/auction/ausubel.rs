//! The record of a clearing: its text, and its check.
//!
//! 1. Its id; its rule and switch cost are the federation's; awards and sales name bids and offers
//!    of the record, within their units and minimum; as many units are awarded as sold; no winner
//!    pays above its bid; every unit sold earns its reserve; payments equal earnings.
//! 2. The mechanism, run over the record's offers and bids, gives the same awards and sales.

use super::outcome::{OutcomeError, ascending, recomputed};
use crate::cli::text::or_dash;
use crate::ui::Table;
use gridbay_protocol::mechanism::ausubel::sellers;
use gridbay_protocol::policy::ausubel::AuctionPolicy;
use gridbay_protocol::record::ausubel::{Award, ClearingBid, ClearingRecord, Sold, clearing_id};
use gridbay_protocol::units::{Credits, Price};

/// A record in full.
pub(super) fn table(record: &ClearingRecord, class: &str) -> String {
    let mut bids = Table::new(&["ORDER", ">UNITS", ">MIN", ">VALUE/SLOT", ">WON", ">PAYS"]);
    for bid in &record.bids {
        let award = record.awards.iter().find(|a| a.order == bid.order);
        let top = bid.steps.first().map_or(Price(0), |s| s.price);
        bids.row([
            bid.order.to_string(),
            bid.steps
                .iter()
                .map(|s| u64::from(s.units))
                .sum::<u64>()
                .to_string(),
            bid.min.to_string(),
            or_dash(top.times(1)),
            award.map_or(0, |a| a.units).to_string(),
            or_dash(award.map(|a| a.pay)),
        ]);
    }
    let mut offers = Table::new(&["OFFER", ">UNITS", ">RESERVE/SLOT", ">SOLD", ">EARNS"]);
    for offer in &record.offers {
        let sold = record.sold.iter().find(|s| s.offer == offer.offer);
        offers.row([
            offer.offer.to_string(),
            offer.units.to_string(),
            or_dash(offer.reserve.times(1)),
            sold.map_or(0, |s| s.units).to_string(),
            or_dash(sold.map(|s| s.earns)),
        ]);
    }
    let (height, slot) = (record.height, record.slot);
    format!(
        "class {} height {height} slot {slot} heights sold {} rule {} switch cost {}\n\n{}\n{}",
        class,
        record.heights,
        record.policy.rule.name(),
        or_dash(record.policy.switch_cost.times(1)),
        bids.render(),
        offers.render()
    )
}

/// Checks a clearing against the federation's policy.
pub(super) fn check(record: &ClearingRecord, policy: AuctionPolicy) -> Result<(), OutcomeError> {
    if record.id != clearing_id(&record.class, record.height) {
        return Err(OutcomeError::Id);
    }
    if record.policy != policy.of(record.kind) {
        return Err(OutcomeError::Policy(record.policy));
    }
    ascending("bids", &record.bids, |bid| bid.order)?;
    ascending("offers", &record.offers, |offer| offer.offer)?;
    ascending("units held", &record.held, |held| held.offer)?;
    ascending("awards", &record.awards, |award| award.order)?;
    ascending("sales", &record.sold, |sale| sale.offer)?;
    for award in &record.awards {
        let wrong = OutcomeError::Award(award.order);
        let at = record.bids.binary_search_by_key(&award.order, |b| b.order);
        let bid = at.ok().and_then(|i| record.bids.get(i)).ok_or(wrong)?;
        let most = value(bid, award.units).ok_or(wrong)?;
        if award.units == 0 || award.units < bid.min {
            return Err(wrong);
        }
        if award.pay > most {
            return Err(OutcomeError::AboveBid(award.order));
        }
    }
    for sale in &record.sold {
        let wrong = OutcomeError::Sale(sale.offer);
        let at = record.offers.binary_search_by_key(&sale.offer, |o| o.offer);
        let offer = at.ok().and_then(|i| record.offers.get(i)).ok_or(wrong)?;
        let least = offer.reserve.times(sale.units.into()).ok_or(wrong)?;
        if sale.units == 0 || sale.units > offer.units || sale.earns < least {
            return Err(wrong);
        }
    }
    let awarded = record.awards.iter().map(|a| u64::from(a.units)).sum();
    let sold = record.sold.iter().map(|s| u64::from(s.units)).sum();
    if awarded != sold {
        return Err(OutcomeError::Units { awarded, sold });
    }
    let paid = Credits::sum(record.awards.iter().map(|a| a.pay)).ok_or(OutcomeError::Range)?;
    let earned = Credits::sum(record.sold.iter().map(|s| s.earns)).ok_or(OutcomeError::Range)?;
    if paid != earned {
        return Err(OutcomeError::Money { paid, earned });
    }
    recompute(record)
}

/// Runs the mechanism over the record's input and compares.
fn recompute(record: &ClearingRecord) -> Result<(), OutcomeError> {
    let supply: u64 = record.offers.iter().map(|o| u64::from(o.units)).sum();
    if supply > u64::from(sellers::UNITS_MAX) {
        return Err(OutcomeError::Input);
    }
    let outcome = sellers::clear(&record.input()).map_err(|_| OutcomeError::Input)?;
    let credits = |wide| Credits::from_wide(wide).ok_or(OutcomeError::Range);
    let mut awards = Vec::new();
    for award in outcome.awards {
        awards.push(Award {
            order: award.id.1,
            units: award.units,
            pay: credits(award.pay)?,
        });
    }
    awards.sort_unstable_by_key(|a| a.order);
    recomputed("awards", awards == record.awards)?;
    let mut sold = Vec::new();
    for sale in outcome.sales {
        sold.push(Sold {
            offer: sale.offer,
            units: sale.units,
            earns: credits(sale.earned)?,
        });
    }
    recomputed("sales", sold == record.sold)
}

/// The worth of a bid's first `units` units; `None` beyond the bid.
fn value(bid: &ClearingBid, units: u32) -> Option<Credits> {
    let (mut left, mut sum) = (units, Credits::ZERO);
    for step in &bid.steps {
        let n = step.units.min(left);
        left -= n;
        sum = sum.checked_add(step.price.times(n.into())?)?;
    }
    (left == 0).then_some(sum)
}
