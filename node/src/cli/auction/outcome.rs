//! Whether an auction's outcome follows from its input.
//!
//! 1. Of a clearing: its id; its rule and switch cost are the federation's; awards and sales name
//!    bids and offers of the record, within their units and minimum; as many units are awarded as
//!    sold; no winner pays above its bid; every unit sold earns its reserve; payments equal
//!    earnings.
//! 2. The mechanism, run over the record's offers and bids, gives the same awards and sales.
//! 3. Of a buy: its price is the larger of the asked prices and the value displaced; an evicted buy
//!    got the surcharge of the federation's policy, or nothing within one sponsor.
//! 4. Of a sharing: claims are in order, and the pool's rule gives the same awards.
//! 5. Of hires: offers are in order, none that the hires cannot reach is listed, and the rule, run
//!    over them and who came, serves the same.

use gridbay_protocol::ids::{LeaseId, OfferId, OrderId};
use gridbay_protocol::mechanism::ausubel::sellers;
use gridbay_protocol::mechanism::posted;
use gridbay_protocol::policy::ausubel::AuctionPolicy;
use gridbay_protocol::policy::buy::BuyPolicy;
use gridbay_protocol::record::ausubel::{Award, ClearingBid, ClearingRecord, Sold, clearing_id};
use gridbay_protocol::record::buy::{BuyRecord, Eviction};
use gridbay_protocol::record::posted::PostedRecord;
use gridbay_protocol::record::share::Sharing;
use gridbay_protocol::units::Credits;

/// The fault of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutcomeError {
    /// The id is not that of class and height.
    #[error("the clearing's id does not belong to its class and height")]
    Id,
    /// A list is not in ascending order.
    #[error("the {0} are out of order")]
    Order(&'static str),
    /// An award that the bid does not allow.
    #[error("order {0} won what it did not bid for")]
    Award(OrderId),
    /// A payment above the bid.
    #[error("order {0} pays above its bid")]
    AboveBid(OrderId),
    /// A sale that the offer does not allow.
    #[error("offer {0} sold what it did not offer, or below its reserve")]
    Sale(OfferId),
    /// Units do not add up.
    #[error("{awarded} units were awarded, {sold} sold")]
    Units {
        /// Units awarded.
        awarded: u64,
        /// Units sold.
        sold: u64,
    },
    /// Money does not add up.
    #[error("{paid} credits are paid, {earned} earned")]
    Money {
        /// Paid by the winners.
        paid: Credits,
        /// Earned by the sellers.
        earned: Credits,
    },
    /// Cleared under other terms than the genesis says.
    #[error(
        "it was cleared under rule {}, switch cost {}; the genesis says otherwise",
        .0.rule.name(),
        .0.switch_cost.0
    )]
    Policy(AuctionPolicy),
    /// The mechanism refuses the input.
    #[error("the bids or offers are not what the mechanism takes")]
    Input,
    /// The mechanism gives something else.
    #[error("the mechanism gives other {0}")]
    Recomputed(&'static str),
    /// A sum out of range.
    #[error("the sums are out of range")]
    Range,
    /// An eviction that the policy does not know, or another surcharge than its part.
    #[error("lease {0} was not evicted as the genesis says")]
    Surcharge(LeaseId),
    /// The price of a buy.
    #[error("the buy's price is {found}, its rule gives {expected}")]
    BuyPrice {
        /// In the record.
        found: Credits,
        /// By the rule.
        expected: Credits,
    },
}

/// Checks a clearing against the federation's policy.
pub(super) fn clearing(record: &ClearingRecord, policy: AuctionPolicy) -> Result<(), OutcomeError> {
    if record.id != clearing_id(&record.class, record.height) {
        return Err(OutcomeError::Id);
    }
    if record.policy != policy.of(record.kind) {
        return Err(OutcomeError::Policy(record.policy));
    }
    let sorted = [
        (
            "bids",
            record.bids.windows(2).all(|w| w[0].order < w[1].order),
        ),
        (
            "offers",
            record.offers.windows(2).all(|w| w[0].offer < w[1].offer),
        ),
        (
            "units held",
            record.held.windows(2).all(|w| w[0].offer < w[1].offer),
        ),
        (
            "awards",
            record.awards.windows(2).all(|w| w[0].order < w[1].order),
        ),
        (
            "sales",
            record.sold.windows(2).all(|w| w[0].offer < w[1].offer),
        ),
    ];
    if let Some((list, _)) = sorted.into_iter().find(|(_, sorted)| !sorted) {
        return Err(OutcomeError::Order(list));
    }
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
    if awards != record.awards {
        return Err(OutcomeError::Recomputed("awards"));
    }
    let mut sold = Vec::new();
    for sale in outcome.sales {
        sold.push(Sold {
            offer: sale.offer,
            units: sale.units,
            earns: credits(sale.earned)?,
        });
    }
    if sold != record.sold {
        return Err(OutcomeError::Recomputed("sales"));
    }
    Ok(())
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

/// Checks a sharing.
pub(super) fn sharing(record: &Sharing) -> Result<(), OutcomeError> {
    if !record.claims.windows(2).all(|w| w[0].order < w[1].order) {
        return Err(OutcomeError::Order("claims"));
    }
    if record.divide() != record.awards {
        return Err(OutcomeError::Recomputed("awards"));
    }
    Ok(())
}

/// Checks a decision on hires: who came first was served first, from the cheapest units, at the
/// prices posted, within its limit.
pub(super) fn posted(record: &PostedRecord) -> Result<(), OutcomeError> {
    let offers = record.offers.iter().map(|o| (o.reserve, o.offer));
    if !offers.is_sorted() {
        return Err(OutcomeError::Order("offers"));
    }
    posted::clear(&record.input()).map_err(|_| OutcomeError::Input)?;
    let mut short = record.clone();
    short.shorten();
    if short.offers != record.offers {
        return Err(OutcomeError::Recomputed("offers"));
    }
    match record.serve().served == record.served {
        true => Ok(()),
        false => Err(OutcomeError::Recomputed("hires")),
    }
}

/// Checks a buy against the federation's policy.
pub(super) fn buy(record: &BuyRecord, policy: BuyPolicy) -> Result<(), OutcomeError> {
    let fair = |e: &Eviction| {
        let due = policy.surcharge(e.remainder);
        // Nothing is due within one sponsor.
        policy.evicts() && (e.surcharge == Credits::ZERO || Some(e.surcharge) == due)
    };
    if let Some(unfair) = record.evicted().find(|e| !fair(e)) {
        return Err(OutcomeError::Surcharge(unfair.lease));
    }
    if !record.parts.windows(2).all(|w| w[0].class < w[1].class) {
        return Err(OutcomeError::Order("parts"));
    }
    let mut sum = Some(Credits::ZERO);
    for part in &record.parts {
        let asked = part.asked().ok_or(OutcomeError::Range)?;
        is_price(part.price, asked.max(part.displaced_value))?;
        sum = sum.and_then(|sum| sum.checked_add(part.price));
    }
    is_price(record.price, sum.ok_or(OutcomeError::Range)?)
}

fn is_price(found: Credits, expected: Credits) -> Result<(), OutcomeError> {
    match found == expected {
        true => Ok(()),
        false => Err(OutcomeError::BuyPrice { found, expected }),
    }
}
