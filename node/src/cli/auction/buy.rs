//! The record of a buy: its text, and its check.
//!
//! Its price is the larger of the asked prices and the value displaced; an evicted buy got the
//! surcharge of the federation's policy, or nothing within one sponsor.

use super::outcome::{OutcomeError, ascending};
use crate::cli::text;
use crate::ui::Table;
use gridbay_protocol::policy::buy::BuyPolicy;
use gridbay_protocol::record::buy::{BuyRecord, Eviction};
use gridbay_protocol::units::Credits;

/// A record in full.
pub(super) fn table(record: &BuyRecord, class: &str) -> String {
    let fields = text::fields(&[
        ("order", record.order.to_hex()),
        ("class", class.to_owned()),
        ("height", record.height.to_string()),
        ("units", record.units().to_string()),
        ("price per slot", record.price.to_string()),
        ("full slots", record.slots.to_string()),
        ("buys evicted", record.evicted().count().to_string()),
    ]);
    let mut parts = Table::new(&[
        "CLASS",
        ">UNITS",
        ">PRICE/SLOT",
        ">DISPLACED",
        ">THEIR VALUE",
    ]);
    // The names come in the order of the parts, and hold no spaces.
    for (name, part) in class.split(" + ").zip(&record.parts) {
        parts.row([
            name.to_owned(),
            part.units().to_string(),
            part.price.to_string(),
            part.displaced.len().to_string(),
            part.displaced_value.to_string(),
        ]);
    }
    format!("{fields}\n{}", parts.render())
}

/// Checks a buy against the federation's policy.
pub(super) fn check(record: &BuyRecord, policy: BuyPolicy) -> Result<(), OutcomeError> {
    let fair = |e: &Eviction| {
        let due = policy.surcharge(e.remainder);
        // Nothing is due within one sponsor.
        policy.evicts() && (e.surcharge == Credits::ZERO || Some(e.surcharge) == due)
    };
    if let Some(unfair) = record.evicted().find(|e| !fair(e)) {
        return Err(OutcomeError::Surcharge(unfair.lease));
    }
    ascending("parts", &record.parts, |part| part.class)?;
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
