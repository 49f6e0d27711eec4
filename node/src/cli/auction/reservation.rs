//! The record of a decision on reservations: its text, and its check.
//!
//! 1. Units, bids and busy slots are no more than a ledger lets through; bids ascend by order.
//! 2. Without a hint: the rule, on the record's input, books the same.
//! 3. With one: the rule finds the value that the record calls beaten, the bookings are worth more,
//!    and each gives its order what it asked for, at its bid, on units and a channel that are free.
//!    The numbers of units do not matter: so many units of an offer are free in a slot, or not.

use super::outcome::{OutcomeError, ascending, recomputed};
use crate::cli::text::or_dash;
use crate::ui::Table;
use gridbay_protocol::ids::OfferId;
use gridbay_protocol::limits;
use gridbay_protocol::mechanism::reservation;
use gridbay_protocol::mechanism::reservation::window::WindowPolicy;
use gridbay_protocol::order::Group;
use gridbay_protocol::record::reservation::{Booked, ReservationBid, ReservationRecord};
use std::collections::{BTreeMap, BTreeSet};

/// A record in full.
pub(super) fn table(record: &ReservationRecord, class: &str) -> String {
    let mut bids = Table::new(&[
        "ORDER", ">NODES", ">SLOTS", ">FROM", ">UNTIL", ">BID", ">STARTS", ">PAYS",
    ]);
    for bid in &record.bids {
        let won = record.booked.iter().find(|b| b.order == bid.order);
        let nodes: u64 = bid.groups.iter().map(|g| u64::from(g.units)).sum();
        bids.row([
            bid.order.to_string(),
            nodes.to_string(),
            bid.slots.to_string(),
            bid.earliest.to_string(),
            bid.latest.to_string(),
            bid.value.to_string(),
            or_dash(won.map(|b| b.start)),
            or_dash(won.map(|b| b.pay)),
        ]);
    }
    let (height, slot) = (record.height, record.slot);
    let units: u64 = record.units.iter().map(|s| u64::from(s.units)).sum();
    let found = match record.beaten {
        None => String::new(),
        Some(worth) => format!(", by a hint: the rule finds {worth}"),
    };
    format!(
        "class {class} height {height} slots from {slot} nodes {units} least {} a node-slot{found}\n\n{}",
        or_dash(record.posted.times(1)),
        bids.render()
    )
}

/// Checks a decision against the federation's policy.
pub(super) fn check(record: &ReservationRecord, policy: &WindowPolicy) -> Result<(), OutcomeError> {
    if !is_small(record) {
        return Err(OutcomeError::Input);
    }
    ascending("bids", &record.bids, |bid| bid.order)?;
    let found = reservation::clear(&record.input(policy)).map_err(|_| OutcomeError::Input)?;
    let Some(beaten) = record.beaten else {
        return recomputed("bookings", record.winners(&found) == record.booked);
    };
    let worth = record.booked.iter().map(|b| u128::from(b.pay.micros()));
    let better = worth.sum::<u128>() > found.total;
    recomputed(
        "bookings",
        better && found.total == u128::from(beaten.micros()),
    )?;
    feasible(record, policy)
}

/// Step 1, before anything is multiplied out.
fn is_small(record: &ReservationRecord) -> bool {
    let units = record.units.iter().map(|share| u64::from(share.units));
    let taken = limits::RESERVABLE_UNITS as usize * limits::RESERVATION_SLOTS as usize;
    units.sum::<u64>() <= u64::from(limits::RESERVABLE_UNITS)
        && record.bids.len() <= limits::RESERVATIONS_DECIDED
        && record.booked.len() <= record.bids.len()
        && record.busy.len() <= taken
        && record.channels.len() <= taken
}

/// Step 3: no booking is in another's way.
fn feasible(record: &ReservationRecord, policy: &WindowPolicy) -> Result<(), OutcomeError> {
    ascending("bookings", &record.booked, |won| won.order)?;
    let mut used: BTreeMap<(OfferId, u64), u64> = BTreeMap::new();
    let mut channels: BTreeSet<(u32, u64)> = BTreeSet::new();
    for busy in &record.busy {
        for slot in window(record, policy, busy.first, busy.last) {
            *used.entry((busy.offer, slot)).or_default() += 1;
        }
    }
    for busy in &record.channels {
        let slots = window(record, policy, busy.first, busy.last);
        channels.extend(slots.map(|slot| (busy.channel, slot)));
    }
    let supply: BTreeMap<OfferId, u64> = record
        .units
        .iter()
        .map(|share| (share.offer, u64::from(share.units)))
        .collect();
    for won in &record.booked {
        let bid = record.bids.iter().find(|bid| bid.order == won.order);
        let bid = bid.ok_or(OutcomeError::Award(won.order))?;
        if !asked(record, policy, bid, won) {
            return Err(OutcomeError::Award(won.order));
        }
        for slot in won.start..won.start + u64::from(bid.slots) {
            for share in &won.shares {
                let taken = used.entry((share.offer, slot)).or_default();
                *taken += u64::from(share.units);
                if *taken > supply.get(&share.offer).copied().unwrap_or(0) {
                    return Err(OutcomeError::Sale(share.offer));
                }
            }
            if won.channel.is_some_and(|c| !channels.insert((c, slot))) {
                return Err(OutcomeError::Award(won.order));
            }
        }
    }
    Ok(())
}

/// The slots of a run that are for sale.
fn window(
    record: &ReservationRecord,
    policy: &WindowPolicy,
    first: u64,
    last: u64,
) -> std::ops::Range<u64> {
    let end = record.slot.saturating_add(u64::from(policy.slots));
    first.max(record.slot)..last.saturating_add(1).min(end)
}

/// Whether a booking is what its order asked for.
fn asked(
    record: &ReservationRecord,
    policy: &WindowPolicy,
    bid: &ReservationBid,
    won: &Booked,
) -> bool {
    let starts = record.slot.saturating_add(u64::from(policy.starts));
    let end = won.start.checked_add(u64::from(bid.slots));
    let in_time = won.start >= bid.earliest.max(record.slot)
        && won.start <= bid.latest
        && won.start < starts
        && end.is_some_and(|end| end <= record.slot.saturating_add(u64::from(policy.slots)));
    let channel = match (&bid.channels, won.channel) {
        (None, None) => true,
        (Some(range), Some(channel)) => (range.low..=range.high).contains(&channel),
        _ => false,
    };
    in_time && channel && won.pay == bid.value && suits(&bid.groups, won)
}

/// Whether the units can be dealt to the groups: as many as are wanted, and for any of the groups
/// no fewer that suit one of them than these want (Hall's condition).
fn suits(groups: &[Group], won: &Booked) -> bool {
    let units = |suited: &dyn Fn(&OfferId) -> bool| {
        let shares = won.shares.iter().filter(|share| suited(&share.offer));
        shares.map(|share| u64::from(share.units)).sum::<u64>()
    };
    let wanted = |set: u32| {
        let chosen = (0..).zip(groups).filter(move |(n, _)| set >> n & 1 == 1);
        chosen.map(|(_, group)| group)
    };
    let quantity = |set: u32| wanted(set).map(|g| u64::from(g.units)).sum::<u64>();
    if groups.len() > limits::RESERVATION_GROUPS {
        return false;
    }
    let all = (1u32 << groups.len()) - 1;
    units(&|_| true) == quantity(all)
        && (1..=all).all(|set| {
            let suited = |offer: &OfferId| {
                wanted(set).any(|g| g.offers.is_empty() || g.offers.binary_search(offer).is_ok())
            };
            units(&suited) >= quantity(set)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridbay_protocol::ids::{ClassId, Hash32, OrderId};
    use gridbay_protocol::lease::Share;
    use gridbay_protocol::units::{Credits, Price};

    const OFFERS: [OfferId; 2] = [OfferId([1; 32]), OfferId([2; 32])];

    fn credits(micros: u64) -> Credits {
        Credits::from_micros(micros).expect("a small amount")
    }

    fn bid(n: u8, groups: &[(u32, &[OfferId])], latest: u64, value: u64) -> ReservationBid {
        let group = |(units, offers): &(u32, &[OfferId])| Group {
            units: *units,
            offers: offers.to_vec(),
        };
        ReservationBid {
            order: OrderId([n; 32]),
            round: 1,
            rank: Hash32([n; 32]),
            groups: groups.iter().map(group).collect(),
            slots: 1,
            earliest: 10,
            latest,
            value: credits(value),
            channels: None,
        }
    }

    /// A unit of each offer: the densest bid wants any, the other the first one, now or never. By
    /// density the first takes the unit that only suits the second; another start would do as well.
    fn record() -> ReservationRecord {
        let units = OFFERS.map(|offer| Share { offer, units: 1 });
        let mut record = ReservationRecord {
            class: ClassId([7; 32]),
            height: 80,
            slot: 10,
            posted: Price(1),
            units: units.to_vec(),
            busy: vec![],
            channels: vec![],
            bids: vec![
                bid(1, &[(1, &[])], 11, 100),
                bid(2, &[(1, &OFFERS[..1]), (1, &[])], 10, 90),
            ],
            booked: vec![],
            beaten: None,
        };
        let found = reservation::clear(&record.input(&WindowPolicy::MIRAGE)).unwrap();
        record.booked = record.winners(&found);
        record
    }

    fn judge(record: &ReservationRecord) -> Result<(), OutcomeError> {
        super::check(record, &WindowPolicy::MIRAGE)
    }

    #[test]
    fn what_the_rule_books_is_confirmed_and_nothing_else() {
        let good = record();
        assert_eq!(good.booked.len(), 2);
        assert_eq!(judge(&good), Ok(()));
        let recomputed = Err(OutcomeError::Recomputed("bookings"));
        let mut bad = good.clone();
        bad.booked.pop();
        assert_eq!(judge(&bad), recomputed);
        let mut bad = good.clone();
        bad.booked[0].pay = credits(99);
        assert_eq!(judge(&bad), recomputed);
        let mut bad = good.clone();
        bad.bids.swap(0, 1);
        assert_eq!(judge(&bad), Err(OutcomeError::Order("bids")));
        let mut bad = good;
        bad.units[0].units = u32::MAX;
        assert_eq!(judge(&bad), Err(OutcomeError::Input));
    }

    #[test]
    fn a_hint_must_be_worth_more_and_feasible() {
        let mut hinted = record();
        let worth: u64 = hinted.booked.iter().map(|b| b.pay.micros()).sum();
        hinted.beaten = Some(credits(worth));
        assert_eq!(judge(&hinted), Err(OutcomeError::Recomputed("bookings")));
        hinted.beaten = Some(credits(worth - 1));
        assert_eq!(judge(&hinted), Err(OutcomeError::Recomputed("bookings")));
        // Looked at by itself, the same allocation is feasible.
        let check = |change: &dyn Fn(&mut ReservationRecord)| {
            let mut record = record();
            change(&mut record);
            feasible(&record, &WindowPolicy::MIRAGE)
        };
        assert_eq!(check(&|_| ()), Ok(()));
        let award = |n: u8| Err(OutcomeError::Award(OrderId([n; 32])));
        assert_eq!(check(&|r| r.booked[0].start = 12), award(1));
        assert_eq!(check(&|r| r.booked[0].start = 9), award(1));
        assert_eq!(check(&|r| r.booked[0].pay = credits(101)), award(1));
        assert_eq!(check(&|r| r.booked[0].channel = Some(1)), award(1));
        assert_eq!(check(&|r| r.booked[1].shares.truncate(1)), award(2));
        // Two of the other offer do not suit who wants one of the first.
        let second = Share {
            offer: OFFERS[1],
            units: 2,
        };
        assert_eq!(check(&|r| r.booked[1].shares = vec![second]), award(2));
        let together = |r: &mut ReservationRecord| r.booked[0].start = r.booked[1].start;
        assert!(matches!(check(&together), Err(OutcomeError::Sale(_))));
    }
}
