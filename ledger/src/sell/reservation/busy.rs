//! Units taken ahead: by firm leases until they end, and by bookings that have not begun.
//!
//! Units of one offer are alike, so a stay is so many units for a run of slots, and which unit
//! serves it is settled anew at every decision: in order of their first slots, each stay gets the
//! lowest units that are free again. So they never need more units than the fullest slot holds,
//! whatever was booked and given up before.

use crate::work::Work;
use gridbay_protocol::ids::{ClassId, OfferId, OrderId};
use gridbay_protocol::lease::Share;
use gridbay_protocol::record::reservation::{BusyChannel, BusyUnit};
use std::collections::{BTreeMap, BTreeSet};

/// Units of one offer for a run of slots, in order of allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stay {
    first: u64,
    last: u64,
    order: OrderId,
    units: u32,
}

impl Stay {
    /// Whether its units are taken in a slot.
    pub(super) fn covers(&self, slot: u64) -> bool {
        (self.first..=self.last).contains(&slot)
    }
    /// Its units.
    pub(super) fn units(&self) -> u32 {
        self.units
    }
}

/// All stays in slots from `next` on, by offer, in order of allocation.
pub(crate) fn stays(work: &Work<'_>, next: u64) -> BTreeMap<OfferId, Vec<Stay>> {
    let mut stays: BTreeMap<OfferId, Vec<Stay>> = BTreeMap::new();
    let mut add = |offer: OfferId, units: u32, order: OrderId, first: u64, last: u64| {
        let stay = Stay {
            first: first.max(next),
            last,
            order,
            units,
        };
        if units > 0 && last >= next {
            stays.entry(offer).or_default().push(stay);
        }
    };
    for (_, lease) in work.tables.leases.iter() {
        if let Some(last) = lease.firm_through {
            for share in &lease.shares {
                add(share.offer, share.units, lease.order, lease.slot, last);
            }
        }
    }
    for (id, order) in work.tables.orders.iter() {
        let booking = order.reservation().and_then(|r| r.booking.as_ref());
        if let (Some(booking), None) = (booking, order.lease) {
            for unit in &booking.taken {
                add(unit.offer, unit.units, *id, booking.start, booking.last);
            }
        }
    }
    stays.values_mut().for_each(|stays| stays.sort_unstable());
    stays
}

/// The most units of each offer that are taken in one slot from `next` on.
pub(crate) fn peaks(work: &Work<'_>, next: u64) -> BTreeMap<OfferId, u32> {
    let peak = |stays: &Vec<Stay>| {
        let mut changes: BTreeMap<u64, i64> = BTreeMap::new();
        for stay in stays {
            *changes.entry(stay.first).or_default() += i64::from(stay.units);
            *changes.entry(stay.last.saturating_add(1)).or_default() -= i64::from(stay.units);
        }
        let mut taken = 0i64;
        let levels = changes.values().map(|change| {
            taken += change;
            taken
        });
        u32::try_from(levels.max().unwrap_or(0)).unwrap_or(u32::MAX)
    };
    let stays = stays(work, next);
    stays.iter().map(|(id, all)| (*id, peak(all))).collect()
}

/// Offers with units that are booked and whose booking has not begun.
pub(crate) fn booked(work: &Work<'_>) -> BTreeSet<OfferId> {
    let orders = work.tables.orders.iter().map(|(_, order)| order);
    let waiting = orders.filter(|order| order.lease.is_none());
    let bookings = waiting.filter_map(|order| order.reservation()?.booking.as_ref());
    bookings
        .flat_map(|booking| booking.taken.iter().map(|t| t.offer))
        .collect()
}

/// Units that are taken in the `slots` slots from `next` on, as runs.
pub(crate) fn units(work: &Work<'_>, next: u64, slots: u32, sale: &[Share]) -> Vec<BusyUnit> {
    let stays = stays(work, next);
    let of = |share: &Share| {
        let stays = stays.get(&share.offer).map_or(&[][..], Vec::as_slice);
        let rows = rows(stays, next, slots, share.units);
        runs(share.offer, next, &rows)
    };
    sale.iter().flat_map(of).collect()
}

/// For each unit for sale, which of the slots are taken.
fn rows(stays: &[Stay], next: u64, slots: u32, units: u32) -> Vec<Vec<bool>> {
    let mut rows = vec![vec![false; slots as usize]; units as usize];
    // Taken by units beyond those for sale: terms may have shrunk since they were booked.
    let mut beyond = vec![0u32; slots as usize];
    let mut free_from: Vec<u64> = Vec::new();
    for stay in stays {
        let to = stay.last.saturating_add(1).min(next + u64::from(slots));
        let range = (stay.first - next).min(u64::from(slots)) as usize..(to - next) as usize;
        let mut left = stay.units;
        let mut unit = 0;
        while left > 0 {
            if unit == free_from.len() {
                free_from.push(0);
            }
            if free_from[unit] <= stay.first {
                free_from[unit] = stay.last.saturating_add(1);
                left -= 1;
                for slot in range.clone() {
                    match rows.get_mut(unit) {
                        Some(row) => row[slot] = true,
                        None => beyond[slot] += 1,
                    }
                }
            }
            unit += 1;
        }
    }
    for (slot, mut beyond) in beyond.into_iter().enumerate() {
        for row in rows.iter_mut().rev() {
            if beyond > 0 && !row[slot] {
                row[slot] = true;
                beyond -= 1;
            }
        }
    }
    rows
}

fn runs(offer: OfferId, next: u64, rows: &[Vec<bool>]) -> Vec<BusyUnit> {
    let mut runs: Vec<BusyUnit> = Vec::new();
    for (unit, row) in (0u32..).zip(rows) {
        for (slot, _) in (next..).zip(row).filter(|(_, taken)| **taken) {
            match runs.last_mut() {
                Some(run) if (run.unit, run.last + 1) == (unit, slot) => run.last = slot,
                _ => runs.push(BusyUnit {
                    offer,
                    unit,
                    first: slot,
                    last: slot,
                }),
            }
        }
    }
    runs
}

/// Channels of a class that are taken from `next` on, ascending.
pub(crate) fn channels(work: &Work<'_>, class: &ClassId, next: u64) -> Vec<BusyChannel> {
    let orders = work.tables.orders.iter();
    let orders = orders.filter(|(_, order)| order.class == *class);
    let taken = orders.filter_map(|(_, order)| {
        let booking = order.reservation()?.booking.as_ref()?;
        Some(BusyChannel {
            channel: booking.channel?,
            first: booking.start.max(next),
            last: booking.last,
        })
    });
    let mut taken: Vec<BusyChannel> = taken.filter(|run| run.last >= next).collect();
    taken.sort_unstable();
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stay(first: u64, last: u64, units: u32) -> Stay {
        Stay {
            first,
            last,
            order: OrderId([1; 32]),
            units,
        }
    }

    /// Rows as text, a line a unit.
    fn drawn(stays: &[Stay], slots: u32, units: u32) -> Vec<String> {
        let rows = rows(stays, 10, slots, units);
        let draw = |row: &Vec<bool>| row.iter().map(|&t| if t { '#' } else { '.' }).collect();
        rows.iter().map(draw).collect()
    }

    #[test]
    fn a_unit_that_is_free_again_serves_first() {
        let stays = [stay(10, 11, 1), stay(10, 14, 1), stay(12, 13, 1)];
        assert_eq!(drawn(&stays, 6, 3), ["####..", "#####.", "......"]);
    }

    #[test]
    fn units_beyond_those_for_sale_take_from_the_others() {
        // Booked when there were two; the second serves on while the first is free again.
        let stays = [stay(10, 11, 1), stay(10, 14, 1)];
        assert_eq!(drawn(&stays, 6, 1), ["#####."]);
        assert!(drawn(&stays, 6, 0).is_empty());
    }

    #[test]
    fn stays_end_with_the_window() {
        assert_eq!(
            drawn(&[stay(12, u64::MAX, 2)], 4, 3),
            ["..##", "..##", "...."]
        );
        assert_eq!(drawn(&[stay(99, 120, 1)], 4, 1), ["...."]);
        let offer = OfferId([2; 32]);
        let found = runs(
            offer,
            10,
            &rows(&[stay(10, 10, 1), stay(12, 20, 1)], 10, 4, 1),
        );
        let ends: Vec<_> = found.iter().map(|r| (r.unit, r.first, r.last)).collect();
        assert_eq!(ends, [(0, 10, 10), (0, 12, 13)]);
    }
}
