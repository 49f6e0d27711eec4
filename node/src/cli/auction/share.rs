//! The record of a sharing: its text, and its check.
//!
//! Claims are in order, and the pool's rule gives the same awards.

use super::outcome::{OutcomeError, ascending, recomputed};
use crate::cli::text::or_dash;
use crate::ui::Table;
use gridbay_protocol::record::share::Sharing;

/// A record in full.
pub(super) fn table(record: &Sharing, class: &str) -> String {
    let mut claims = Table::new(&["ORDER", ">RATE/SLOT", ">TASKS", ">NODES", ">PAYS"]);
    for claim in &record.claims {
        let award = record.awards.iter().find(|a| a.order == claim.order);
        claims.row([
            claim.order.to_string(),
            claim.rate.to_string(),
            claim.tasks.to_string(),
            award.map_or(0, |a| a.portion.units).to_string(),
            or_dash(award.map(|a| a.pay)),
        ]);
    }
    let (height, slot) = (record.height, record.slot);
    format!(
        "class {} height {height} slot {slot} pool {} of {} nodes\n\n{}",
        class,
        record.offer,
        record.units,
        claims.render()
    )
}

/// Checks a sharing.
pub(super) fn check(record: &Sharing) -> Result<(), OutcomeError> {
    ascending("claims", &record.claims, |claim| claim.order)?;
    recomputed("awards", record.divide() == record.awards)
}
