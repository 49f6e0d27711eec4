//! The bank's published figures, in records of bounded size.
//!
//! 1. Payments (see [`is_payment`]) are added up by epoch. When an epoch ends, the supply of that
//!    moment is noted with them. The last [`EPOCHS_PUBLISHED`] epochs are kept: the window of the
//!    velocity.
//! 2. The earnings of settled pots, and the units times heights delivered for them, are added up by
//!    class and way of sale. When an epoch ends, the index of every class that sold anything grows
//!    by a link. A class has one record.
//!
//! Nothing is decided by these figures.

use super::index::{PAID, Sales, UNITS};
use super::supply::{self, Supply, Turnover, is_payment};
use crate::money::purse;
use crate::record::{Epoch, Prices, Way};
use crate::view::{Bank, Earned, Money};
use crate::work::Work;
use gridbay_protocol::calendar;
use gridbay_protocol::ids::ClassId;
use gridbay_protocol::limits::EPOCHS_PUBLISHED;
use gridbay_protocol::payment::{Purse, Reason};
use gridbay_protocol::units::Credits;
use std::collections::BTreeMap;

/// Counts a posting.
pub(crate) fn posted(at: &mut Money<'_, '_>, reason: Reason, amount: Credits) {
    if is_payment(reason) {
        at.add_volume(amount.micros());
    }
}

/// Counts what units of a class earned, units times heights delivered.
pub(crate) fn sold(at: &mut Earned<'_, '_>, class: ClassId, way: Way, paid: Credits, extent: u64) {
    if paid == Credits::ZERO || extent == 0 {
        return;
    }
    let mut prices = at.tables.prices.get(&class).cloned().unwrap_or_default();
    let nothing = Sales { paid: 0, units: 0 };
    let sales = prices.period.entry(way).or_insert(nothing);
    sales.paid = sales.paid.saturating_add(paid.micros()).min(PAID - 1);
    sales.units = sales.units.saturating_add(extent).min(UNITS - 1);
    at.prices().insert(class, prices);
}

/// After all postings of a block.
pub(crate) fn close(at: &mut Bank<'_, '_>) {
    let height = at.height();
    let epoch = calendar::epoch(height);
    let ends = calendar::epoch(height.saturating_add(1)) != epoch;
    if at.volume == 0 && !ends {
        return;
    }
    let mut record = at.tables.epochs.get(&epoch).copied().unwrap_or_default();
    record.volume = record.volume.saturating_add(at.volume);
    if ends {
        record.supply = supply_of(at);
        link(&mut at.earned());
    }
    at.epochs().insert(epoch, record);
    let gone = epoch.checked_sub(EPOCHS_PUBLISHED as u64);
    if let (true, Some(gone)) = (ends, gone) {
        at.epochs().remove(&gone);
    }
}

fn supply_of(work: &Work<'_>) -> Option<Supply> {
    let balances = work.tables.purses.iter();
    let balances = balances.filter(|(purse, _)| **purse != Purse::Bank);
    let treasury = purse::held(work, &Purse::Bank).micros();
    supply::supply(balances.map(|(_, balance)| *balance), treasury)
}

fn link(at: &mut Earned<'_, '_>) {
    let prices = at.tables.prices.iter();
    let sold = prices.filter(|(_, prices)| !prices.period.is_empty());
    let sold: Vec<(ClassId, Prices)> = sold.map(|(id, prices)| (*id, prices.clone())).collect();
    for (class, prices) in sold {
        // There are fewer ways than an index has room for, and sums are kept in range.
        let index = prices.index.after(&prices.period);
        let index = index.expect("a class's sales are in range");
        let period = BTreeMap::new();
        at.prices().insert(class, Prices { index, period });
    }
}

/// The epochs that ended, as periods of a window.
pub(crate) fn window(epochs: &BTreeMap<u64, Epoch>) -> Vec<Turnover> {
    let ended = epochs.values();
    let ended = ended.filter_map(|epoch| {
        let supply = epoch.supply?;
        Some(Turnover {
            volume: epoch.volume,
            circulating: supply.circulating,
        })
    });
    ended.collect()
}
