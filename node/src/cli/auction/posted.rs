//! The record of a decision on hires: its text, and its check.
//!
//! Offers are in order, none that the hires cannot reach is listed, and the rule, run over them and
//! who came, serves the same.

use super::outcome::{OutcomeError, recomputed};
use crate::cli::text::or_dash;
use crate::ui::Table;
use gridbay_protocol::mechanism::posted;
use gridbay_protocol::record::posted::PostedRecord;

/// A record in full.
pub(super) fn table(record: &PostedRecord, class: &str) -> String {
    let mut hires = Table::new(&["ORDER", ">UNITS", ">LIMIT/SLOT", ">GOT", ">PAYS/SLOT"]);
    for bid in &record.bids {
        let hired = record.served.iter().find(|h| h.order == bid.order);
        hires.row([
            bid.order.to_string(),
            bid.units.to_string(),
            or_dash(bid.limit.times(1)),
            hired.map_or(0, |_| bid.units).to_string(),
            or_dash(hired.map(|h| h.price)),
        ]);
    }
    let mut offers = Table::new(&["OFFER", ">UNITS", ">PRICE/SLOT", ">SOLD"]);
    let taken = || record.served.iter().flat_map(|hired| &hired.taken);
    for offer in &record.offers {
        let sold = taken().filter(|t| t.offer == offer.offer);
        offers.row([
            offer.offer.to_string(),
            offer.units.to_string(),
            or_dash(offer.reserve.times(1)),
            sold.map(|t| u64::from(t.units)).sum::<u64>().to_string(),
        ]);
    }
    let beyond = match record.left_out {
        0 => String::new(),
        units => format!("\n{units} more units were for hire, beyond what the orders could take\n"),
    };
    format!(
        "class {class} height {}, in the order in which they came\n\n{}\n{}{}",
        record.height,
        hires.render(),
        offers.render(),
        beyond
    )
}

/// Checks a decision on hires: who came first was served first, from the cheapest units, at the
/// prices posted, within its limit.
pub(super) fn check(record: &PostedRecord) -> Result<(), OutcomeError> {
    let offers = record.offers.iter().map(|o| (o.reserve, o.offer));
    if !offers.is_sorted() {
        return Err(OutcomeError::Order("offers"));
    }
    posted::clear(&record.input()).map_err(|_| OutcomeError::Input)?;
    let mut short = record.clone();
    short.shorten();
    recomputed("offers", short.offers == record.offers)?;
    recomputed("hires", record.serve().served == record.served)
}
